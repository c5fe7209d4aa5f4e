// A kernel with a share of its module keeps that, but not a context that the module borrows.
use cuprum::context::Context;
use cuprum::{Kernel, Shared};

fn wrong(context: Context) {
    let module = context.enter(|cx| Ok(cuprum::Module::load_ptx(cx, "")?)).unwrap().share();
    let kernel = module.kernel::<()>("k").unwrap();
    drop(module);
    drop(context);
    drop(kernel);
}

fn kept(module: &Shared<cuprum::Module<'_>>) -> Kernel<'static, ()> {
    module.kernel("k").unwrap()
}

fn main() {}
