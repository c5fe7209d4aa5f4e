//! Kernels that can be launched.

use std::marker::PhantomData;

use cuprum_sys::CUfunction_attribute;

use super::error::LaunchError;
use super::limits::Limits;
use super::{Arguments, LaunchConfig, Signature};
use crate::context::Current;
use crate::error::Error;
use crate::module::{Function, Module};
use crate::raw::debug::debug;
use crate::raw::shared::Shared;
use crate::stream::Stream;

/// A kernel bound to a Rust signature `S`: a tuple of its parameters' types, in order.
///
/// A parameter is a plain data type, passed by value, or [`In<T>`](super::In) or
/// [`InOut<T>`](super::InOut), passed as the address of device memory that the kernel reads, or
/// reads and writes.
///
/// # Keeping it in a struct
///
/// A [bound](Function::bind) kernel borrows its module, and no struct can hold both. A kernel of a
/// [shared](crate::Shared::kernel) module holds a share of it instead: in a shared context it is a
/// `Kernel<'static, S>`.
///
/// # Example
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::{Buffer, In, InOut, LaunchConfig, Module, Stream};
///
/// let module = Module::load_ptx(&cx, &std::fs::read_to_string("kernels/saxpy.ptx")?)?;
/// // The signature is compared with the kernel only here.
/// let saxpy = module.function("saxpy")?.bind::<(u32, f32, In<f32>, InOut<f32>)>()?;
/// let x = Buffer::from_slice(&cx, &[1.0f32; 1000])?;
/// let mut y = Buffer::from_slice(&cx, &[2.0f32; 1000])?;
/// let (stream, config) = (Stream::new(&cx)?, LaunchConfig::for_elements(x.len(), 256));
/// // SAFETY: saxpy(n, alpha, x, y) touches n elements of each, and the copy below comes after it.
/// unsafe { saxpy.launch(&cx, &stream, config, (1000u32, 3f32, &x, &mut y)) }?;
/// assert_eq!(y.to_vec(&cx)?, [5.0; 1000]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Kernel<'m, S> {
    /// Only lent for a borrow of this value: the share keeps the module, not this field.
    function: Function<'m>,
    limits: Limits,
    /// The share of the module; `None` if the module is borrowed.
    share: Option<Shared<Module<'m>>>,
    _signature: PhantomData<fn(S)>,
}

impl<'m, S: Signature> Kernel<'m, S> {
    pub(super) const fn new(function: Function<'m>, limits: Limits) -> Self {
        Self { function, limits, share: None, _signature: PhantomData }
    }

    /// Converts the borrow of the module to a share.
    ///
    /// # Safety
    /// The kernel is of `module`.
    pub(super) unsafe fn sharing<'ctx>(self, module: Shared<Module<'ctx>>) -> Kernel<'ctx, S> {
        // SAFETY: the share in the same value keeps the module, which keeps its context.
        let function = unsafe { self.function.outlived() };
        Kernel { function, limits: self.limits, share: Some(module), _signature: PhantomData }
    }

    pub(crate) fn share(&self) -> Option<&Shared<Module<'m>>> {
        self.share.as_ref()
    }

    /// The kernel without its signature.
    pub const fn function(&self) -> Function<'_> {
        self.function
    }

    #[inline]
    pub(crate) fn check(&self, config: LaunchConfig) -> Result<(), LaunchError> {
        self.limits.check(config)
    }

    /// Allows launches with this many bytes of dynamic shared memory, beyond the default 48 KiB.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` if a block of the device cannot have as much.
    ///
    /// Driver: `cuFuncSetAttribute`, CUDA 9.0+.
    #[doc(alias = "cuFuncSetAttribute")]
    #[inline]
    pub fn allow_shared_bytes(&mut self, bytes: u32) -> Result<(), Error> {
        let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        self.function.set_attribute(attribute, i32::try_from(bytes).unwrap_or(i32::MAX))?;
        self.limits.shared_bytes = bytes;
        Ok(())
    }

    /// Queues the kernel on `stream`. The host does not wait. A later call reports a fault.
    ///
    /// # Errors
    /// [`LaunchError`] for a geometry beyond the limits; [`Error::WRONG_CONTEXT`] unless kernel
    /// and stream are of the current context; `CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES`.
    ///
    /// # Safety
    /// 1. The [duties of a launch](crate::launch#duties-of-a-launch).
    ///
    /// Driver: `cuLaunchKernel`, CUDA 4.0+.
    #[doc(alias = "cuLaunchKernel")]
    #[inline]
    pub unsafe fn launch<A: Arguments<S>>(
        &self,
        cx: &Current<'_, '_>,
        stream: &Stream<'_>,
        config: LaunchConfig,
        arguments: A,
    ) -> Result<(), LaunchError> {
        self.limits.check(config)?;
        arguments.with_pointers(|pointers| {
            // SAFETY: there is one pointer per parameter, to a value of its size that outlives the
            // call; the caller guarantees the kernel.
            unsafe { self.function.launch_pointers(cx, stream, config, pointers) }
        })?;
        Ok(())
    }
}

debug! {
    [S] Kernel<'_, S>: |this, f|
    f.debug_struct("Kernel").field("function", &this.function).field("limits", &this.limits).finish()
}
