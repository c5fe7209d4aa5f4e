// A request owns what it uses: a borrow would end while the device works, if it were forgotten.
use cuprum::{Buffer, Event, PinnedBuffer, Request};

fn wrong<'ctx>(event: Event<'static>, host: PinnedBuffer<'ctx, f32>, buffer: Buffer<'ctx, f32>) {
    let _request = Request::new(event, (host, buffer));
}

fn main() {}
