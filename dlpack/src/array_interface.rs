//! The CUDA array interface, version 3: the value of `__cuda_array_interface__`.

use std::fmt;

use cuprum::memory::{ForeignBuffer, Slice};
use cuprum::sys::StreamMode;
use cuprum::{Current, Stream};

use crate::element::Element;
use crate::import::{ImportMismatch, check_context, check_place};

/// The values of `__cuda_array_interface__`. Their text form is a Python dictionary.
///
/// They own nothing: the producer keeps the memory until the reader is done, and the reader keeps
/// the object that they came from.
///
/// # Example
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::Buffer;
/// use cuprum_dlpack::ArrayInterface;
///
/// let matrix = Buffer::<f32>::zeroed(&cx, 6)?;
/// let interface = ArrayInterface::of(&matrix.as_slice(), &[2, 3], None).ok_or("not six elements")?;
/// assert_eq!((interface.typestr.as_str(), interface.address), ("<f4", matrix.as_raw()));
/// // The value of a Python object's `__cuda_array_interface__`.
/// println!("{interface}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "version 3 of its specification")]
pub struct ArrayInterface {
    /// Length of each dimension.
    pub shape: Vec<usize>,
    /// Type of the elements: byte order, kind and size in bytes, such as `<f4`.
    pub typestr: String,
    /// Address of the first element.
    pub address: u64,
    /// True if readers must not write.
    pub read_only: bool,
    /// Stride of each dimension in bytes; `None` for consecutive rows.
    pub strides: Option<Vec<i64>>,
    /// The stream that readers must wait for: 1 for the legacy default stream, 2 for the thread's
    /// default stream, otherwise a handle; `None` for no wait. 0 is not allowed.
    pub stream: Option<u64>,
}

const VERSION: u32 = 3;

impl ArrayInterface {
    /// Returns the values of a slice, or `None` if the shape has a different number of elements.
    ///
    /// `stream` is the stream on which the elements are being written, if any. Readers may write
    /// the elements only if [`read_only`](ArrayInterface::read_only) is set to false.
    pub fn of<T: Element>(
        slice: &Slice<'_, T>,
        shape: &[usize],
        stream: Option<&Stream<'_>>,
    ) -> Option<Self> {
        let product = shape.iter().try_fold(1usize, |product, &length| product.checked_mul(length))?;
        if product != slice.len() {
            return None;
        }
        // An empty array has no address.
        let address = if product == 0 { 0 } else { slice.as_raw() };
        let (shape, typestr) = (shape.to_vec(), T::TYPESTR.to_owned());
        let stream = stream.map(number_of);
        Some(Self { shape, typestr, address, read_only: true, strides: None, stream })
    }

    /// Number of elements; `None` if it overflows.
    fn len(&self) -> Option<usize> {
        self.shape.iter().try_fold(1usize, |product, &length| product.checked_mul(length))
    }

    /// True if there are no elements.
    fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// True if the elements of this size are consecutive, with the last dimension fastest.
    fn is_contiguous(&self, element_bytes: usize) -> bool {
        let Some(strides) = &self.strides else { return true };
        let mut expected = element_bytes as i64;
        let fits = |(&length, &stride): (&usize, &i64)| {
            let fits = length == 1 || stride == expected;
            expected = expected.saturating_mul(i64::try_from(length).unwrap_or(i64::MAX));
            fits
        };
        strides.len() == self.shape.len()
            && (self.is_empty() || self.shape.iter().zip(strides).rev().all(fits))
    }

    /// Borrows the memory of another library's array as a buffer in the current context. Copies
    /// nothing, and does not wait: the caller waits for the [stream](ArrayInterface::stream).
    ///
    /// # Errors
    /// [`ImportMismatch`], if it is not of `T`, not of the device of `cx`, of another context of
    /// the device, not aligned, not contiguous, or read-only.
    ///
    /// # Safety
    /// 1. The values come from a live object, and describe its memory correctly.
    /// 2. That object lives as long as the buffer, and until work queued through it is complete:
    ///    copies within the device, and fills, do not wait.
    /// 3. Meanwhile, accesses by other code that conflict with accesses through the buffer are
    ///    ordered by a stream, an event or a wait.
    ///
    /// Driver: `cuPointerGetAttributes`, CUDA 7.0+.
    #[doc(alias = "cuPointerGetAttributes")]
    pub unsafe fn borrow<'ctx, T: Element>(
        &self,
        cx: &Current<'_, 'ctx>,
    ) -> Result<ForeignBuffer<'ctx, T>, ImportMismatch> {
        if self.read_only {
            return Err(ImportMismatch::ReadOnly);
        }
        if self.typestr != T::TYPESTR {
            return Err(ImportMismatch::TypeString { found: self.typestr.clone(), wanted: T::TYPESTR });
        }
        let len = self.len().unwrap_or(usize::MAX);
        check_place::<T>(self.address, len)?;
        if !self.is_contiguous(size_of::<T>()) {
            let shape = self.shape.iter().map(|&length| i64::try_from(length).unwrap_or(i64::MAX)).collect();
            return Err(ImportMismatch::Strides { shape, strides: self.strides.clone().unwrap_or_default() });
        }
        if len != 0 {
            check_context(cx.context(), self.address)?;
        }
        // SAFETY: duties 1 to 3; type, alignment, strides and context were checked.
        Ok(unsafe { ForeignBuffer::from_raw(cx, self.address, len) }?)
    }
}

/// The number of a stream in the interface; the driver also accepts the numbers of default streams.
fn number_of(stream: &Stream<'_>) -> u64 {
    match stream.as_raw() {
        raw if raw.is_null() => match stream.context().device().driver().library().stream_mode() {
            StreamMode::Legacy => 1,
            StreamMode::PerThread => 2,
        },
        raw => raw.0.expose_provenance() as u64,
    }
}

/// In Python syntax, readable by `ast.literal_eval`.
impl fmt::Display for ArrayInterface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tuple = |numbers: &[String]| match numbers {
            [one] => format!("({one},)"),
            several => format!("({})", several.join(", ")),
        };
        let shape: Vec<_> = self.shape.iter().map(usize::to_string).collect();
        let strides =
            self.strides.as_ref().map(|strides| strides.iter().map(i64::to_string).collect::<Vec<_>>());
        let strides = strides.map_or_else(|| "None".to_owned(), |strides| tuple(&strides));
        let stream = self.stream.map_or_else(|| "None".to_owned(), |stream| stream.to_string());
        let read_only = if self.read_only { "True" } else { "False" };
        write!(
            f,
            "{{'shape': {}, 'typestr': '{}', 'data': ({}, {read_only}), 'strides': {strides}, 'stream': {stream}, \
             'version': {VERSION}}}",
            tuple(&shape),
            self.typestr,
            self.address,
        )
    }
}
