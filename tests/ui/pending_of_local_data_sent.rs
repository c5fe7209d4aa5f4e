// A request goes to another thread only if what it owns may go there.
use cuprum::{Buffer, Pending};
use std::rc::Rc;

fn wrong(pending: Pending<(Buffer<'static, f32>, Rc<u32>)>) {
    std::thread::spawn(move || pending.wait());
}

fn main() {}
