// Padding would be copied to the device without a value.
use cuprum::memory::DeviceData;

#[derive(Clone, Copy, DeviceData)]
#[repr(C)]
struct Padded {
    flag: u8,
    value: u32,
}

fn main() {}
