// Rust may order the fields of a struct without a representation as it likes, and enums have holes.
use cuprum::memory::DeviceData;

#[derive(Clone, Copy, DeviceData)]
struct Rusty {
    a: u32,
    b: u32,
}

#[derive(Clone, Copy, DeviceData)]
#[repr(u8)]
enum Number {
    One = 1,
}

#[derive(Clone, Copy, DeviceData)]
#[repr(C)]
union Either {
    a: u32,
    b: f32,
}

#[derive(Clone, Copy, DeviceData)]
#[repr(C)]
struct Both<T>(T, T);

#[derive(Clone, Copy, DeviceData)]
#[repr(C)]
struct Never
where
    u8: Copy,
{
    value: std::convert::Infallible,
}

fn main() {}
