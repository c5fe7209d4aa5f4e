// Compiled code is loaded into the current context, so a token is needed; a context alone does not do.
use cuprum::context::PrimaryContext;
use cuprum::Module;

fn wrong(context: &PrimaryContext) {
    let _module = Module::compile(context, "__global__ void f() {}");
}

fn main() {}
