// The token of `enter` stays on its thread.
use cuprum::ContextRef;

fn wrong(context: &ContextRef) {
    context.enter(|cx| Ok(std::thread::scope(|scope| scope.spawn(|| cx.synchronize()).join()))).unwrap();
}

fn main() {}
