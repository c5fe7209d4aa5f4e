// The token of `enter` stays on its thread.
use cuprum::ContextRef;

fn wrong(context: &ContextRef) {
    context.enter(|cx| std::thread::scope(|scope| scope.spawn(|| cx.synchronize()).join())).unwrap();
}

fn main() {}
