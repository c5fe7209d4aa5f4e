// A request owns its memory: a borrow could end while the device works, if the request were
// forgotten.
use cuprum::stream::{Event, Request};
use cuprum::{Buffer, PinnedBuffer};

fn wrong<'ctx>(event: Event<'static>, host: PinnedBuffer<'ctx, f32>, buffer: Buffer<'ctx, f32>) {
    let _request = Request::new(event, (host, buffer));
}

fn main() {}
