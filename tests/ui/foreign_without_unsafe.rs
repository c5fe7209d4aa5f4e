// Objects of other code, or that other code could destroy, need a guarantee of the caller.
use cuprum::context::ForeignContext;
use cuprum::{Buffer, Current, Device, Driver};

fn wrong(driver: Driver, device: Device, cx: &Current<'_, '_>) {
    let _context = ForeignContext::current(driver);
    let _buffer = Buffer::<f32>::from_raw(cx, 0x1000, 16);
    let _reset = device.reset_primary_context();
}

fn main() {}
