//! Operations over whole vector registers (rows), compiled once for each vector extension.
//!
//! A row function runs one operation for all 32 lanes of several warps. It ignores masks: if some
//! lanes must not change, the caller passes a scratch row and merges it under a mask.

use super::lane::Lane;
use super::operation::{Pure, Test};
use super::register::LANES;
use core::mem::MaybeUninit;

/// Number of lanes computed before any is written, so that a source may be the destination.
pub const CHUNK: usize = 16;

/// Runs an operation: register files of the warps, destination, sources (offsets in cells).
pub type PureRows = unsafe fn(&[*mut u32], u32, &[u32; 4]);
/// Runs a comparison: register files of the warps, sources, output words with a bit per lane.
pub type TestRows = unsafe fn(&[*mut u32], &[u32; 4], *mut u32);

/// A vector extension for which functions are compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extension {
    /// The instructions of every processor of the target.
    #[cfg(not(target_arch = "x86_64"))]
    Baseline,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(all(target_arch = "x86_64", has_avx512))]
    Avx512,
}

impl Extension {
    pub const COUNT: usize = if cfg!(all(target_arch = "x86_64", has_avx512)) { 2 } else { 1 };

    /// Returns the best one that this processor supports. Returns `None` on old processors, on
    /// which rows have little benefit and a fused multiply-add would be a call.
    pub fn detect() -> Option<Extension> {
        #[cfg(not(target_arch = "x86_64"))]
        return Some(Extension::Baseline);
        #[cfg(target_arch = "x86_64")]
        {
            if !(is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")) {
                return None;
            }
            #[cfg(has_avx512)]
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
            {
                return Some(Extension::Avx512);
            }
            Some(Extension::Avx2)
        }
    }
}

/// Expands to its first part if the compiler supports AVX-512, as detected by the build script, and
/// otherwise to its second part.
#[cfg(has_avx512)]
#[doc(hidden)]
#[macro_export]
macro_rules! if_avx512 {
    ({ $($yes:tt)* } else { $($no:tt)* }) => { $($yes)* };
}
#[cfg(not(has_avx512))]
#[doc(hidden)]
#[macro_export]
macro_rules! if_avx512 {
    ({ $($yes:tt)* } else { $($no:tt)* }) => { $($no)* };
}

/// Declares a function for each level from an inlined one, and a constant with all of them.
#[doc(hidden)]
#[macro_export]
macro_rules! for_each_level {
    ($(#[$doc:meta])* $visible:vis $table:ident $([$($generics:tt)*])?: $kind:ty = $body:ident $(::<$($argument:ident),+>)? ($($name:ident: $ty:ty),*) $(-> $out:ty)?) => {
        $(#[$doc])*
        $visible const fn $table $(<$($generics)*>)?() -> [$kind; $crate::semantics::rows::Extension::COUNT] {
            /// # Safety
            /// As for the function from which it is compiled.
            #[cfg(not(target_arch = "x86_64"))]
            unsafe fn baseline $(<$($generics)*>)?($($name: $ty),*) $(-> $out)? {
                // SAFETY: passed on to the caller.
                unsafe { $body $(::<$($argument),+>)?($($name),*) }
            }
            /// # Safety
            /// As for the function from which it is compiled; the processor has AVX2 and FMA.
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            unsafe fn avx2 $(<$($generics)*>)?($($name: $ty),*) $(-> $out)? {
                // SAFETY: passed on to the caller.
                unsafe { $body $(::<$($argument),+>)?($($name),*) }
            }
            $crate::if_avx512! { {
                /// # Safety
                /// As for the function from which it is compiled; the processor has AVX2, FMA and
                /// AVX-512 F, BW, DQ, VL.
                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
                unsafe fn avx512 $(<$($generics)*>)?($($name: $ty),*) $(-> $out)? {
                    // SAFETY: passed on to the caller.
                    unsafe { $body $(::<$($argument),+>)?($($name),*) }
                }
            } else {} }
            #[cfg(not(target_arch = "x86_64"))]
            return [baseline $(::<$($argument),+>)?];
            #[cfg(target_arch = "x86_64")]
            $crate::if_avx512!(
                { [avx2 $(::<$($argument),+>)?, avx512 $(::<$($argument),+>)?] } else { [avx2 $(::<$($argument),+>)?] }
            )
        }
    };
}
pub use crate::for_each_level;

for_each_level! {
    pub(super) pure_rows[O: Pure]: PureRows = run_pure::<O>(files: &[*mut u32], out: u32, sources: &[u32; 4])
}

for_each_level! {
    pub(super) test_rows[O: Test]: TestRows = run_test::<O>(files: &[*mut u32], sources: &[u32; 4], bits: *mut u32)
}

#[inline(always)]
fn sources_in(file: *mut u32, [a, b, c, d]: &[u32; 4]) -> [*const u32; 4] {
    let row = |source: &u32| file.wrapping_add(*source as usize).cast_const();
    [row(a), row(b), row(c), row(d)]
}

/// # Safety
/// Each register file contains the named registers, in the widths of the operation.
#[inline(always)]
unsafe fn run_pure<O: Pure>(files: &[*mut u32], out: u32, sources: &[u32; 4]) {
    for file in files {
        let [a, b, c, d] = sources_in(*file, sources);
        let out = file.wrapping_add(out as usize);
        let mut first = 0;
        while first < LANES {
            let mut results = [const { MaybeUninit::<O::Out>::uninit() }; CHUNK];
            // Iterators would be compiled again for each of 130 operations, twice.
            let mut index = 0;
            while index < CHUNK {
                let lane = first + index;
                // SAFETY: the caller guarantees the rows; `lane` is below 32.
                let a = unsafe { O::A::read(a, lane) };
                // SAFETY: as above.
                let b = unsafe { O::B::read(b, lane) };
                // SAFETY: as above.
                let c = unsafe { O::C::read(c, lane) };
                // SAFETY: as above.
                let d = unsafe { O::D::read(d, lane) };
                results[index].write(O::eval(a, b, c, d));
                index += 1;
            }
            let mut index = 0;
            while index < CHUNK {
                // SAFETY: each result was just written.
                let result = unsafe { results[index].assume_init() };
                // SAFETY: as for the sources.
                unsafe { result.write(out, first + index) };
                index += 1;
            }
            first += CHUNK;
        }
    }
}

/// # Safety
/// Each register file contains both registers, in their widths; `bits` has room for one word each.
#[inline(always)]
unsafe fn run_test<O: Test>(files: &[*mut u32], sources: &[u32; 4], bits: *mut u32) {
    for (index, file) in files.iter().enumerate() {
        let [a, b, ..] = sources_in(*file, sources);
        // One word per lane, each with a different bit, is compiled to vector code.
        let mut words = [0u32; LANES];
        for (lane, word) in words.iter_mut().enumerate() {
            // SAFETY: the caller guarantees the rows; `lane` is below 32.
            let a = unsafe { O::A::read(a, lane) };
            // SAFETY: as above.
            let b = unsafe { O::B::read(b, lane) };
            *word = if O::eval(a, b) { 1 << lane } else { 0 };
        }
        let mut all = 0;
        // By value, the array would become an iterator, which takes a third of the compile time.
        for word in &words {
            all |= *word;
        }
        // SAFETY: the caller guarantees the room.
        unsafe { *bits.wrapping_add(index) = all };
    }
}
