// A type's declaration as data or as an argument is not checked: it is unsafe.
use cuprum::launch::{Argument, Signature};
use cuprum::memory::DeviceData;
use cuprum::In;

#[derive(Clone, Copy)]
#[repr(C)]
struct Flag(bool);

impl DeviceData for Flag {}

struct Anywhere;

impl Argument<In<f32>> for Anywhere {
    type Raw = u64;

    fn into_raw(self) -> u64 {
        0x1000
    }
}

struct Own;

impl Signature for Own {
    const LAYOUT: &'static [std::alloc::Layout] = &[];
}

fn main() {}
