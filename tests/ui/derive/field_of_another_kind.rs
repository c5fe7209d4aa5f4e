// Every field is plain data.
use cuprum::memory::DeviceData;

#[derive(Clone, Copy, DeviceData)]
#[repr(C)]
struct Flag {
    on: bool,
    unused: [u8; 3],
}

fn main() {}
