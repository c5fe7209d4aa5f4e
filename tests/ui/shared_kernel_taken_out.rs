// The kernel inside of a shared one is neither moved out nor swapped: it would outlive its code.
use cuprum::{Kernel, SharedKernel};

fn moved<'c>(kernel: SharedKernel<'c, (u32,)>) -> Kernel<'c, (u32,)> {
    *kernel
}

fn swapped<'c>(first: &mut SharedKernel<'c, (u32,)>, second: &mut Kernel<'c, (u32,)>) {
    std::mem::swap(&mut **first, second);
}

fn main() {}
