// A slice of one buffer does not take the place of one that lives longer.
use cuprum::memory::SliceMut;
use cuprum::Buffer;

fn wrong<'a>(long: &mut SliceMut<'a, u8>, mut short: Buffer<'static, u8>) {
    std::mem::swap(long, &mut short.as_mut_slice());
}

fn main() {}
