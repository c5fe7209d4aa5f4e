//! Signatures of kernels, and matching arguments.

use std::alloc::Layout;
use std::ffi::c_void;
use std::marker::PhantomData;

use cuprum_sys::CUdeviceptr;

use super::tuples::for_each_tuple;
use crate::memory::{
    Buffer, DeviceData, ForeignBuffer, ManagedBuffer, Pitched, PitchedBuffer, PitchedMut, Slice, SliceMut,
};

/// A parameter that is the address of device memory from which the kernel reads elements of `T`.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::{In, InOut, Module};
///
/// let module = Module::load_ptx(&cx, &std::fs::read_to_string("kernels/saxpy.ptx")?)?;
/// // saxpy(unsigned n, float alpha, const float *x, float *y)
/// let saxpy = module.function("saxpy")?.bind::<(u32, f32, In<f32>, InOut<f32>)>()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct In<T>(PhantomData<T>);

/// A parameter that is the address of device memory that the kernel may read and write as `T`s.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::{InOut, Module};
///
/// let module = Module::load_ptx(&cx, &std::fs::read_to_string("kernels/fill.ptx")?)?;
/// // fill_f32(float *out, float value, unsigned long long n)
/// let fill = module.function("fill_f32")?.bind::<(InOut<f32>, f32, u64)>()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct InOut<T>(PhantomData<T>);

mod sealed {
    pub trait Sealed {}
}

/// Type of a kernel's parameter: plain data by value, [`In`], [`InOut`],
/// [`TextureObject`](crate::texture::TextureObject),
/// [`SurfaceObject`](crate::texture::SurfaceObject).
///
/// ```
/// use cuprum::launch::{Parameter, Signature};
/// use cuprum::memory::DeviceAddress;
/// use cuprum::memory::vector::float4;
/// use cuprum::In;
///
/// // An address has eight bytes, and a vector is aligned as in CUDA.
/// assert_eq!(<In<f32> as Parameter>::LAYOUT.size(), 8);
/// assert_eq!(<float4 as Parameter>::LAYOUT.align(), 16);
/// assert_eq!(<(u32, DeviceAddress) as Signature>::LAYOUT.len(), 2);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a kernel",
    label = "neither plain data nor an address of device memory",
    note = "memory is `In<T>` if the kernel only reads it (`const T *`), or else `InOut<T>` (`T *`), in place of a slice, a \
            reference, a buffer or a pointer: `InOut<f32>` for `&mut [f32]`",
    note = "a texture is `TextureObject`, a surface is `SurfaceObject`",
    note = "plain data is passed by value: a number, a vector of CUDA's, or a struct with `#[repr(C)]` and \
            `#[derive(DeviceData)]` (feature `derive`)"
)]
pub trait Parameter {
    /// Size and alignment in the kernel's parameter block.
    const LAYOUT: Layout;
}

#[diagnostic::do_not_recommend]
impl<T: DeviceData> Parameter for T {
    const LAYOUT: Layout = Layout::new::<T>();
}

impl<T: DeviceData> Parameter for In<T> {
    const LAYOUT: Layout = Layout::new::<CUdeviceptr>();
}

impl<T: DeviceData> Parameter for InOut<T> {
    const LAYOUT: Layout = Layout::new::<CUdeviceptr>();
}

/// A value for a parameter `P`.
///
/// # Safety
/// `Raw` is the representation that the kernel reads for `P`: plain data of `P`'s layout.
///
/// # Example
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::launch::{Argument, LaunchError};
/// use cuprum::{Buffer, Current, InOut, Kernel, LaunchConfig, Module, Stream};
///
/// /// Accepts all arguments for `write_seven`: a buffer, a slice, memory of another library.
/// fn write_seven(
///     cx: &Current<'_, '_>,
///     kernel: &Kernel<'_, (InOut<u32>, u64, u32)>,
///     memory: impl Argument<InOut<u32>>,
/// ) -> Result<(), LaunchError> {
///     // SAFETY: the kernel writes element 0.
///     unsafe { kernel.launch(cx, &Stream::default_in(cx), LaunchConfig::new(1, 1), (memory, 0u64, 7u32)) }
/// }
///
/// let module = Module::load_ptx(&cx, &std::fs::read_to_string("kernels/faults.ptx")?)?;
/// let write = module.function("oob_write")?.bind()?;
/// let mut out = Buffer::<u32>::zeroed(&cx, 2)?;
/// write_seven(&cx, &write, out.slice_mut(1..).ok_or("no second element")?)?;
/// assert_eq!(out.to_vec(&cx)?, [0, 7]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "the kernel's parameter `{P}` cannot be given a value of type `{Self}`",
    label = "not an argument for `{P}`",
    note = "plain data is given as exactly the type of the parameter: nothing is converted",
    note = "`In<T>` is given `&Buffer<T>` or a `Slice<T>`, `InOut<T>` is given `&mut Buffer<T>` or a `SliceMut<T>`: memory \
            of the host is copied to a buffer first",
    note = "`TextureObject` is given `&Texture` or a loan of it, `SurfaceObject` likewise"
)]
pub unsafe trait Argument<P: Parameter> {
    /// Representation that the kernel reads.
    type Raw: Copy;
    /// The value as the kernel reads it.
    fn into_raw(self) -> Self::Raw;
}

// SAFETY: the value itself, which is plain data.
unsafe impl<T: DeviceData> Argument<T> for T {
    type Raw = T;

    fn into_raw(self) -> T {
        self
    }
}

/// Arguments for an address: borrows of device memory.
macro_rules! addresses {
    ($($parameter:ident <- $argument:ty;)*) => { $(
        // SAFETY: a device address, which is eight bytes of plain data.
        unsafe impl<T: $crate::memory::DeviceData> $crate::launch::Argument<$crate::$parameter<T>> for $argument {
            type Raw = cuprum_sys::CUdeviceptr;

            fn into_raw(self) -> Self::Raw {
                self.as_raw()
            }
        }
    )* };
}

pub(crate) use addresses;

addresses! {
    In <- &Buffer<'_, T>;
    In <- &ForeignBuffer<'_, T>;
    In <- &ManagedBuffer<'_, T>;
    In <- Slice<'_, T>;
    In <- &Slice<'_, T>;
    InOut <- &mut Buffer<'_, T>;
    InOut <- &mut ForeignBuffer<'_, T>;
    InOut <- &mut ManagedBuffer<'_, T>;
    InOut <- SliceMut<'_, T>;
    InOut <- &mut SliceMut<'_, T>;
    In <- &PitchedBuffer<'_, T>;
    In <- Pitched<'_, T>;
    InOut <- &mut PitchedBuffer<'_, T>;
    InOut <- PitchedMut<'_, T>;
    InOut <- &mut PitchedMut<'_, T>;
}

/// The parameters of a kernel: a tuple of up to 16 [`Parameter`] types.
///
/// ```
/// use cuprum::In;
/// use cuprum::launch::Signature;
///
/// let sizes: Vec<_> = <(u32, In<f32>)>::LAYOUT.iter().map(|parameter| parameter.size()).collect();
/// assert_eq!(sizes, [4, 8]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the signature of a kernel",
    label = "not a tuple of up to 16 parameters",
    note = "a signature is a tuple such as `(u32, f32, In<f32>, InOut<f32>)`; with one parameter, `(u32,)`"
)]
pub trait Signature: sealed::Sealed {
    /// The parameters' layouts, in order.
    const LAYOUT: &'static [Layout];
}

/// Arguments for the signature `S`: a tuple with an [`Argument`] per parameter.
///
/// ```
/// use cuprum::launch::Arguments;
///
/// fn fit<A: Arguments<(u32, f32)>>(_: A) {}
/// fit((1000, 3.0)); // for `kernel(unsigned n, float alpha)`
/// ```
#[diagnostic::on_unimplemented(
    message = "the kernel's signature `{S}` cannot be given the arguments `{Self}`",
    label = "not a tuple with one argument per parameter",
    note = "arguments are a tuple with as many values as the signature has parameters; with one, `(value,)`"
)]
pub trait Arguments<S: Signature>: sealed::Sealed {
    /// Calls `body` with an array of one pointer per argument, which is valid during that call.
    fn with_pointers<R>(self, body: impl FnOnce(*mut *mut c_void) -> R) -> R;
}

macro_rules! tuples {
    ($($parameter:ident $argument:ident $value:ident),*) => {
        impl<$($parameter),*> sealed::Sealed for ($($parameter,)*) {}

        impl<$($parameter: Parameter),*> Signature for ($($parameter,)*) {
            const LAYOUT: &'static [Layout] = &[$($parameter::LAYOUT),*];
        }

        impl<$($parameter: Parameter, $argument: Argument<$parameter>),*> Arguments<($($parameter,)*)> for ($($argument,)*) {
            #[inline]
            fn with_pointers<R>(self, body: impl FnOnce(*mut *mut c_void) -> R) -> R {
                let ($($value,)*) = self;
                $( let mut $value = $value.into_raw(); )*
                let mut pointers: [*mut c_void; [$(stringify!($value)),*].len()] = [$( (&raw mut $value).cast() ),*];
                body(pointers.as_mut_ptr())
            }
        }
    };
}

impl sealed::Sealed for () {}

impl Signature for () {
    const LAYOUT: &'static [Layout] = &[];
}

impl Arguments<()> for () {
    fn with_pointers<R>(self, body: impl FnOnce(*mut *mut c_void) -> R) -> R {
        body(std::ptr::null_mut())
    }
}

for_each_tuple! { tuples }
