// What others own, or could destroy behind us, is taken on the caller's word.
use cuprum::{Buffer, Current, Device, Driver, ForeignContext};

fn wrong(driver: Driver, device: Device, cx: &Current<'_, '_>) {
    let _context = ForeignContext::current(driver);
    let _buffer = Buffer::<f32>::from_raw(cx, 0x1000, 16);
    let _reset = device.reset_primary_context();
}

fn main() {}
