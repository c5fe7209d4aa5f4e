//! The kernels' work in scalar Rust: plain loops with fused multiply-adds, without vectors.

use super::regular::SOFTENING;

/// Prevents the compiler from vectorizing a loop that counts with this, at no other cost.
#[inline(always)]
pub(crate) fn one_by_one(index: usize) -> usize {
    let mut index = index;
    // SAFETY: the assembly contains no instruction.
    unsafe { std::arch::asm!("/* {0} */", inout(reg) index, options(pure, nomem, nostack, preserves_flags)) };
    index
}

/// Computes `a * b + c`, rounded once, as one instruction.
#[inline(always)]
fn fma(a: f32, b: f32, c: f32) -> f32 {
    a.mul_add(b, c)
}

macro_rules! with_fma {
    ($($(#[$doc:meta])* $vis:vis fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $out:ty)? $body:block)*) => {$(
        $(#[$doc])*
        $vis fn $name($($arg: $ty),*) $(-> $out)? {
            #[cfg_attr(target_arch = "x86_64", target_feature(enable = "fma"))]
            unsafe fn inner($($arg: $ty),*) $(-> $out)? $body
            #[cfg(target_arch = "x86_64")]
            assert!(is_x86_feature_detected!("fma"), "the native side needs a processor with FMA");
            // SAFETY: the processor has the feature.
            unsafe { inner($($arg),*) }
        }
    )*};
}
pub(crate) use with_fma;

with_fma! {
    /// Without bounds checks, which cost up to half the speed.
    pub(crate) fn saxpy(alpha: f32, x: &[f32], y: &mut [f32]) {
        assert_eq!(x.len(), y.len());
        for i in 0..y.len() {
            let i = one_by_one(i);
            // SAFETY: `one_by_one` returns the index, which is below both lengths.
            let x = unsafe { x.get_unchecked(i) };
            // SAFETY: as above.
            let y = unsafe { y.get_unchecked_mut(i) };
            *y = fma(alpha, *x, *y);
        }
    }

    pub(crate) fn sum(x: &[f32]) -> f32 {
        let mut sum = 0.0;
        for i in 0..x.len() {
            sum += x[one_by_one(i)];
        }
        sum
    }

    /// Computes `c = a * b` for some rows of `a` and `c` and all of the square matrix `b`.
    pub(crate) fn matmul(side: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
        for row in 0..c.len() / side {
            for column in 0..side {
                let mut sum = 0.0;
                for i in 0..side {
                    let i = one_by_one(i);
                    sum = fma(a[row * side + i], b[i * side + column], sum);
                }
                c[row * side + column] = sum;
            }
        }
    }

    /// Computes the counts of some rows of the picture, from the given row on.
    pub(crate) fn mandelbrot(counts: &mut [u32], first_row: usize, width: usize, corner: [f32; 2], step: f32, limit: u32) {
        for y in 0..counts.len() / width {
            for x in 0..width {
                let c_re = fma(x as f32, step, corner[0]);
                let c_im = fma((first_row + y) as f32, step, corner[1]);
                let (mut re, mut im, mut count) = (0.0f32, 0.0f32, 0);
                while count < limit {
                    let im_squared = im * im;
                    if fma(re, re, im_squared) > 4.0 {
                        break;
                    }
                    let next = fma(re, re, -im_squared) + c_re;
                    im = fma(re + re, im, c_im);
                    re = next;
                    count += 1;
                }
                counts[one_by_one(y * width + x)] = count;
            }
        }
    }

    /// Computes one step of some of the bodies, from the given one on.
    pub(crate) fn nbody(
        positions: &[[f32; 4]],
        first: usize,
        velocities: &mut [[f32; 4]],
        next: &mut [[f32; 4]],
        dt: f32,
    ) {
        for (i, own) in positions[first..][..next.len()].iter().enumerate() {
            let mut pull_sum = [0.0f32; 3];
            for j in 0..positions.len() {
                let other = positions[one_by_one(j)];
                let d = [other[0] - own[0], other[1] - own[1], other[2] - own[2]];
                let squared = fma(d[2], d[2], fma(d[0], d[0], d[1] * d[1])) + SOFTENING;
                let inverse = 1.0 / squared.sqrt();
                let pull = inverse * (inverse * (inverse * other[3]));
                for axis in 0..3 {
                    pull_sum[axis] = fma(d[axis], pull, pull_sum[axis]);
                }
            }
            for axis in 0..3 {
                velocities[i][axis] = fma(pull_sum[axis], dt, velocities[i][axis]);
                next[i][axis] = fma(velocities[i][axis], dt, own[axis]);
            }
            next[i][3] = own[3];
        }
    }
}
