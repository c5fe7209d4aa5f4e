// Neither side of a request is reached while it is on its way.
use cuprum::stream::Pending;
use cuprum::{Buffer, Current, PinnedBuffer};

type Slot = (PinnedBuffer<'static, f32>, Buffer<'static, f32>);

fn wrong(cx: &Current<'_, '_>, pending: Pending<Slot>) {
    println!("{}", pending.0[0]);
    pending.1.to_vec(cx).unwrap();
}

fn main() {}
