//! A contest: a kernel's launch, arguments and expected results, and the same work in scalar Rust.

use std::hint::black_box;
use std::ops::Range;

pub(crate) struct Contest {
    /// Unit of work, and the number of units per run.
    pub(crate) unit: &'static str,
    pub(crate) work: f64,
    pub(crate) grid: (u32, u32),
    pub(crate) block: (u32, u32),
    /// Number of bytes of dynamic shared memory.
    pub(crate) shared: u32,
    pub(crate) args: Vec<Arg>,
    pub(crate) check: Check,
    pub(crate) native: Native,
}

/// Panics unless the buffers among the arguments are correct after one launch.
pub(crate) type Check = Box<dyn Fn(&[Vec<u32>])>;

/// A function that repeatedly does the work natively, on its own data.
pub(crate) type NativeRun = Box<dyn FnMut() + Send>;

/// Makes functions that do the work natively.
pub(crate) enum Native {
    /// Does the work of some of so many rows (elements, bodies).
    Rows(usize, Box<dyn Fn(Range<usize>) -> NativeRun>),
    /// Does all of the work, which two threads cannot share.
    Whole(Box<dyn Fn() -> NativeRun>),
}

impl Native {
    pub(crate) fn whole(&self) -> NativeRun {
        match self {
            Native::Rows(rows, part) => part(0..*rows),
            Native::Whole(whole) => whole(),
        }
    }

    /// Returns both halves of the work. `None` if it has no halves.
    pub(crate) fn halves(&self) -> Option<[NativeRun; 2]> {
        match self {
            Native::Rows(rows, part) => Some([part(0..rows / 2), part(rows / 2..*rows)]),
            Native::Whole(_) => None,
        }
    }
}

/// An argument of a kernel.
pub(crate) enum Arg {
    Word(u32),
    Wide(u64),
    Buffer(Vec<u32>),
    /// A buffer that the kernel finds by a linked one: it is no parameter.
    Apart(Vec<u32>),
    /// A buffer with addresses: the place of each in words, and the number of an earlier buffer.
    Linked(Vec<u32>, Vec<(usize, usize)>),
}

pub(crate) fn linked(words: Vec<u32>, links: &[(usize, usize)]) -> Arg {
    Arg::Linked(words, links.to_vec())
}

pub(crate) fn word(value: usize) -> Arg {
    Arg::Word(value as u32)
}

pub(crate) fn float(value: f32) -> Arg {
    Arg::Word(value.to_bits())
}

pub(crate) fn buffer<T: Value>(values: &[T]) -> Arg {
    Arg::Buffer(T::to_words(values))
}

/// Returns a buffer of this number of words.
pub(crate) fn zeros(words: usize) -> Arg {
    Arg::Buffer(vec![0; words])
}

/// A number that buffers contain.
pub(crate) trait Value: Copy + PartialEq + Default + Send + std::fmt::Display + 'static {
    fn to_words(values: &[Self]) -> Vec<u32>;
    fn from_words(words: &[u32]) -> Vec<Self>;
    fn to_f64(self) -> f64;
}

macro_rules! values {
    ($($number:ty),*) => {$(
        impl Value for $number {
            fn to_words(values: &[$number]) -> Vec<u32> {
                let mut bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
                bytes.resize(bytes.len().next_multiple_of(4), 0);
                let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
                bytes.chunks_exact(4).map(word).collect()
            }
            fn from_words(words: &[u32]) -> Vec<$number> {
                let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
                let value = |bytes: &[u8]| <$number>::from_le_bytes(std::array::from_fn(|i| bytes[i]));
                bytes.chunks_exact(size_of::<$number>()).map(value).collect()
            }
            fn to_f64(self) -> f64 {
                self as f64
            }
        }
    )*};
}
values!(u8, u16, u32, i32, u64, f32, f64);

/// Result of the native work, and the buffer with the kernel's.
pub(crate) struct Output<T> {
    buffer: usize,
    initial: Vec<T>,
    tolerance: f64,
}

/// Returns an output of this number of values that must be equal, in the buffer of this index.
pub(crate) fn exact<T: Value>(buffer: usize, count: usize) -> Output<T> {
    close(buffer, count, 0.0)
}

/// Returns an output whose values may differ by `tolerance`, multiplied by those above 1.
pub(crate) fn close<T: Value>(buffer: usize, count: usize, tolerance: f64) -> Output<T> {
    Output { buffer, initial: vec![T::default(); count], tolerance }
}

impl<T: Value> Output<T> {
    fn check(&self, wanted: &[T], buffers: &[Vec<u32>]) {
        let got = T::from_words(&buffers[self.buffer]);
        assert!(got.len() >= wanted.len(), "a buffer of {} values for {}", got.len(), wanted.len());
        for (i, (got, wanted)) in got.iter().zip(wanted).enumerate() {
            let (x, y) = (got.to_f64(), wanted.to_f64());
            let near = (x - y).abs() <= self.tolerance * y.abs().max(1.0);
            assert!(got == wanted || near, "{got} instead of {wanted} at {i}");
        }
    }
}

/// Size and geometry of a launch.
pub(crate) struct Shape {
    pub(crate) unit: &'static str,
    /// Number of units per run.
    pub(crate) work: f64,
    pub(crate) grid: (u32, u32),
    pub(crate) block: (u32, u32),
}

impl Contest {
    /// Returns a contest whose native work writes the expected values of one buffer.
    pub(crate) fn new<T: Value>(
        shape: Shape,
        args: Vec<Arg>,
        output: Output<T>,
        work: impl FnMut(&mut [T]) + Clone + Send + 'static,
    ) -> Contest {
        let Shape { unit, work: units, grid, block } = shape;
        let (initial, mut wanted) = (output.initial.clone(), output.initial.clone());
        work.clone()(&mut wanted);
        let native = move || -> NativeRun {
            let (mut work, mut out) = (work.clone(), initial.clone());
            Box::new(move || work(black_box(&mut out)))
        };
        Contest {
            unit,
            work: units,
            grid,
            block,
            shared: 0,
            args,
            check: Box::new(move |buffers| output.check(&wanted, buffers)),
            native: Native::Whole(Box::new(native)),
        }
    }
}

/// Numbers between -1 and 1 without a pattern.
pub(crate) fn numbers(count: usize, seed: u32) -> Vec<f32> {
    (0..count as u32)
        .map(|i| (i ^ seed).wrapping_mul(0x9e37_79b9).rotate_left(13).wrapping_mul(0x85eb_ca6b) as i32 as f32)
        .map(|x| x / 2_147_483_648.0)
        .collect()
}

/// Words without a pattern.
pub(crate) fn words(count: usize, seed: u32) -> Vec<u32> {
    let mix = |i: u32| (i ^ seed).wrapping_mul(0x9e37_79b9).rotate_left(13).wrapping_mul(0x85eb_ca6b);
    (0..count as u32).map(|i| mix(i) ^ mix(i) >> 15).collect()
}
