//! Kernel calls with host memory: copies to the device, a launch, and copies back.

use std::ffi::c_void;

use super::host::sealed::{Back, CallArgument, Staged};
use super::tuples::for_each_tuple;
use super::{Kernel, LaunchConfig, Parameter, Signature};
use crate::any_error::AnyError;
use crate::context::Current;
use crate::stream::Stream;

/// Arguments of a call for the signature `S`: a tuple with one value per parameter, as for a
/// launch, or a [`HostIn`], [`HostOut`] or [`HostInOut`].
///
/// [`HostIn`]: super::HostIn
/// [`HostOut`]: super::HostOut
/// [`HostInOut`]: super::HostInOut
///
/// ```
/// use cuprum::In;
/// use cuprum::launch::{CallArguments, HostIn};
///
/// fn fit<A: CallArguments<(u32, In<f32>)>>(_: A) {}
/// fit((4, HostIn(&[1.0f32; 4]))); // for `kernel(unsigned n, const float *x)`
/// ```
#[diagnostic::on_unimplemented(
    message = "the kernel's signature `{S}` cannot be called with the arguments `{Self}`",
    label = "not a tuple with one argument per parameter",
    note = "`In<T>` is given `HostIn(&elements)`, `InOut<T>` is given `HostOut(&mut elements)` or `HostInOut(&mut elements)`, \
            or either what a launch takes; arguments are a tuple with as many values as the signature has parameters"
)]
pub trait CallArguments<S: Signature>: sealed::CallArguments<S> {}

impl<S: Signature, A: sealed::CallArguments<S>> CallArguments<S> for A {}

mod sealed {
    use super::{AnyError, Current, Stream, c_void};

    pub trait CallArguments<S> {
        /// Copies, calls `launch` with one pointer per argument, copies back, and waits.
        fn call<R>(
            self,
            cx: &Current<'_, '_>,
            stream: &Stream<'_>,
            launch: impl FnOnce(*mut *mut c_void) -> Result<R, AnyError>,
        ) -> Result<R, AnyError>;
    }
}

impl sealed::CallArguments<()> for () {
    fn call<R>(
        self,
        cx: &Current<'_, '_>,
        stream: &Stream<'_>,
        launch: impl FnOnce(*mut *mut c_void) -> Result<R, AnyError>,
    ) -> Result<R, AnyError> {
        cx.scope_as(stream, |_| launch(std::ptr::null_mut()))
    }
}

macro_rules! tuples {
    ($($parameter:ident $argument:ident $value:ident),*) => {
        impl<$($parameter: Parameter, $argument: CallArgument<$parameter>),*> sealed::CallArguments<($($parameter,)*)>
            for ($($argument,)*)
        {
            fn call<R>(
                self,
                cx: &Current<'_, '_>,
                stream: &Stream<'_>,
                launch: impl FnOnce(*mut *mut c_void) -> Result<R, AnyError>,
            ) -> Result<R, AnyError> {
                let ($($value,)*) = self;
                $( let mut $value = $value.stage(cx)?; )*
                cx.scope_as(stream, |scope| {
                    $( let mut $value = $value.queue(scope)?; )*
                    let mut pointers = [$( (&raw mut $value.0).cast::<c_void>() ),*];
                    let result = launch(pointers.as_mut_ptr())?;
                    $( $value.1.copy(scope)?; )*
                    Ok(result)
                })
            }
        }
    };
}

for_each_tuple! { tuples }

impl<S: Signature> Kernel<'_, S> {
    /// Runs the kernel on host memory: copies its inputs to the device, launches it, and copies its
    /// outputs back, all on `stream`. Returns when the results have arrived.
    ///
    /// Device memory is allocated for the duration of the call, which costs more than a launch. A
    /// slice is copied back by a call that waits, like [`Scope::read`](crate::stream::Scope::read);
    /// page-locked memory, passed as its owner, is copied back by the stream. After an error,
    /// outputs have unspecified contents, and page-locked memory may be
    /// [lost](crate::PinnedBuffer#when-it-is-lost).
    ///
    /// Example: see [`HostIn`](super::HostIn).
    ///
    /// # Errors
    /// [`AnyError::Launch`] for the errors of [`launch`](Kernel::launch); [`AnyError::Memory`] for
    /// allocations and copies; faults of this kernel, because the call waits for it.
    ///
    /// # Safety
    /// 1. The [duties of a launch](crate::launch#duties-of-a-launch). For memory in
    ///    [`HostIn`](super::HostIn), [`HostOut`](super::HostOut) and
    ///    [`HostInOut`](super::HostInOut), only these: accesses stay in bounds, and the kernel only
    ///    reads the memory of a `HostIn`.
    ///
    /// Driver: `cuLaunchKernel`, CUDA 4.0+, and `cuStreamSynchronize`, CUDA 2.0+; for each host
    /// argument `cuMemAlloc_v2` and `cuMemFree_v2`, CUDA 3.2+, and as necessary
    /// `cuMemcpyHtoDAsync_v2`, `cuMemcpyDtoH_v2` or `cuMemcpyDtoHAsync_v2`, CUDA 3.2+.
    #[doc(alias = "cuLaunchKernel")]
    pub unsafe fn call<A: CallArguments<S>>(
        &self,
        cx: &Current<'_, '_>,
        stream: &Stream<'_>,
        config: LaunchConfig,
        arguments: A,
    ) -> Result<(), AnyError> {
        self.check(config)?;
        arguments.call(cx, stream, |pointers| {
            // SAFETY: there is one pointer per parameter, to a value of its size that outlives the
            // call; the caller guarantees the kernel.
            Ok(unsafe { self.function().launch_pointers(cx, stream, config, pointers) }?)
        })
    }
}
