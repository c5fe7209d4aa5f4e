// A struct with code and a kernel of it: the documentation of the types named has the answer.
use cuprum::{Current, Kernel, Module};

struct Saxpy<'ctx> {
    module: Module<'ctx>,
    kernel: Kernel<'ctx, (u32,)>,
}

fn new<'ctx>(cx: &Current<'_, 'ctx>) -> Saxpy<'ctx> {
    let module = Module::load_ptx(cx, "").unwrap();
    let kernel = module.function("saxpy").unwrap().bind().unwrap();
    Saxpy { module, kernel }
}

fn main() {}
