// A request goes to another thread only if all that it owns may go there.
use cuprum::stream::Pending;
use cuprum::Buffer;
use std::rc::Rc;

fn wrong(pending: Pending<(Buffer<'static, f32>, Rc<u32>)>) {
    std::thread::spawn(move || pending.wait());
}

fn main() {}
