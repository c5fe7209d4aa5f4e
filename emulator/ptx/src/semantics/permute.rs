//! Permutations of a row by the processor's instructions.

use super::LANES;

/// Permutes rows.
pub(super) trait Permute {
    /// Returns the value of lane `sources[lane]` in each lane. Sources are below 32.
    ///
    /// # Safety
    /// The processor has the extension that the type needs.
    unsafe fn permute(values: &[u32; LANES], sources: &[u32; LANES]) -> [u32; LANES];
}

pub(super) use portable::OneByOne;
#[cfg(target_arch = "x86_64")]
pub(super) use x86::ByEights;
#[cfg(all(target_arch = "x86_64", has_avx512))]
pub(super) use x86::BySixteens;

mod portable {
    use super::{LANES, Permute};

    pub(in super::super) struct OneByOne;

    impl Permute for OneByOne {
        #[inline(always)]
        unsafe fn permute(values: &[u32; LANES], sources: &[u32; LANES]) -> [u32; LANES] {
            sources.map(|source| values[source as usize % LANES])
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{LANES, Permute};
    use core::arch::x86_64::{
        __m256, __m256i, _mm256_blendv_ps, _mm256_permutevar8x32_epi32, _mm256_slli_epi32,
    };
    #[cfg(has_avx512)]
    use core::arch::x86_64::{__m512i, _mm512_permutex2var_epi32};
    use core::mem::transmute;

    /// Needs AVX2.
    pub(in super::super) struct ByEights;

    impl Permute for ByEights {
        #[inline(always)]
        unsafe fn permute(values: &[u32; LANES], sources: &[u32; LANES]) -> [u32; LANES] {
            // SAFETY: both are 128 bytes without padding.
            let values = unsafe { transmute::<[u32; LANES], [__m256i; 4]>(*values) };
            // SAFETY: as above.
            let mut quarters = unsafe { transmute::<[u32; LANES], [__m256i; 4]>(*sources) };
            for quarter in &mut quarters {
                // Each sees only the three lowest bits of a source.
                let mut moved = values;
                for moved in &mut moved {
                    // SAFETY: the caller guarantees AVX2.
                    *moved = unsafe { _mm256_permutevar8x32_epi32(*moved, *quarter) };
                }
                // SAFETY: as above.
                let low = unsafe { choose::<28>(*quarter, moved[0], moved[1]) };
                // SAFETY: as above.
                let high = unsafe { choose::<28>(*quarter, moved[2], moved[3]) };
                // SAFETY: as above.
                *quarter = unsafe { choose::<27>(*quarter, low, high) };
            }
            // SAFETY: both are 128 bytes without padding.
            unsafe { transmute::<[__m256i; 4], [u32; LANES]>(quarters) }
        }
    }

    /// Returns lanes of the first row, or of the second if the bit of the choice is set that comes
    /// first after a shift to the left.
    ///
    /// # Safety
    /// The processor has AVX2.
    #[inline(always)]
    unsafe fn choose<const SHIFT: i32>(by: __m256i, no: __m256i, yes: __m256i) -> __m256i {
        // SAFETY: guaranteed by the caller.
        let first = unsafe { _mm256_slli_epi32::<SHIFT>(by) };
        // SAFETY: each is 32 bytes without padding.
        let [first, no, yes] = unsafe { transmute::<[__m256i; 3], [__m256; 3]>([first, no, yes]) };
        // SAFETY: guaranteed by the caller.
        let chosen = unsafe { _mm256_blendv_ps(no, yes, first) };
        // SAFETY: both are 32 bytes without padding.
        unsafe { transmute::<__m256, __m256i>(chosen) }
    }

    /// Needs AVX-512 F.
    #[cfg(has_avx512)]
    pub(in super::super) struct BySixteens;

    #[cfg(has_avx512)]
    impl Permute for BySixteens {
        #[allow(clippy::incompatible_msrv, reason = "the build script requires a compiler that has it")]
        #[inline(always)]
        unsafe fn permute(values: &[u32; LANES], sources: &[u32; LANES]) -> [u32; LANES] {
            // SAFETY: both are 128 bytes without padding.
            let [low, high] = unsafe { transmute::<[u32; LANES], [__m512i; 2]>(*values) };
            // SAFETY: as above.
            let halves = unsafe { transmute::<[u32; LANES], [__m512i; 2]>(*sources) };
            let mut result = halves;
            for (result, half) in result.iter_mut().zip(halves) {
                // The fifth bit of a source selects the half of the row.
                // SAFETY: the caller guarantees AVX-512 F.
                *result = unsafe { _mm512_permutex2var_epi32(low, half, high) };
            }
            // SAFETY: as above.
            unsafe { transmute::<[__m512i; 2], [u32; LANES]>(result) }
        }
    }
}
