// Each thread has its own current context: neither token crosses to another thread.
use cuprum::context::ContextStack;
use cuprum::Current;

fn needs_send<T: Send>(_: T) {}
fn needs_sync<T: Sync>(_: &T) {}

fn wrong(stack: ContextStack, cx: Current<'_, '_>) {
    needs_sync(&cx);
    needs_send(cx);
    needs_send(stack);
}

fn main() {}
