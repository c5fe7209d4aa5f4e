// The token of an attached thread stays on its thread, together with the attachment that keeps its
// context.
use cuprum::context::{Attached, Context};
use cuprum::{ContextRef, Current};

fn needs_send<T: Send>(_: T) {}

fn sent(attached: Attached) {
    needs_send(attached);
}

fn lent(attached: Attached) -> &'static Current<'static, 'static> {
    &attached
}

fn moved(attached: Attached) -> Current<'static, 'static> {
    *attached
}

fn swapped(attached: &mut Attached, other: &mut Current<'static, 'static>) {
    std::mem::swap(&mut **attached, other);
}

fn of_a_borrow(context: &Context) -> Attached {
    let context: &ContextRef = context;
    context.attach().unwrap()
}

fn main() {}
