// A kernel bound to its signature borrows its module all the same.
use cuprum::{Current, LaunchConfig, Module, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, module: Module<'_>) {
    let kernel = module.function("fill").unwrap().bind::<(u32,)>().unwrap();
    drop(module);
    let _ = unsafe { kernel.launch(cx, stream, LaunchConfig::new(1, 1), (7u32,)) };
}

fn main() {}
