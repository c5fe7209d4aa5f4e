// Compiled code is loaded into the current context, so a token is needed; a context alone does not
// do.
use cuprum::context::PrimaryContext;

fn wrong(context: &PrimaryContext) {
    let _module = cuprum_compile::compile(context, "__global__ void f() {}");
}

fn main() {}
