//! Launching: a kernel bound to a Rust signature, a geometry, and arguments.
//!
//! The signature is checked against the kernel once, by [`Function::bind`]. A launch then checks what may
//! differ from one to the next by a few compares, and calls the driver once. It allocates nothing.

mod config;
mod signature;

use std::fmt;
use std::marker::PhantomData;

use cuprum_sys::{CUdevice_attribute, CUfunction_attribute};

pub use self::config::{Dim3, LaunchConfig};
pub use self::signature::{Argument, Arguments, In, InOut, Parameter, Signature};

use crate::context::Current;
use crate::error::Error;
use crate::function::Function;
use crate::stream::Stream;
use config::Limits;

/// A kernel bound to a Rust signature `S`: a tuple of its parameters' types, in order.
///
/// A parameter is a type of plain data, passed by value, or [`In<T>`](In) or [`InOut<T>`](InOut), passed as the
/// address of device memory that is read or also written.
pub struct Kernel<'m, S> {
    function: Function<'m>,
    limits: Limits,
    _signature: PhantomData<fn(S)>,
}

/// Why a kernel could not be bound to a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    /// The kernel has another number of parameters.
    #[error("the kernel has {kernel} parameters, the signature {signature}")]
    Count {
        /// Parameters of the kernel.
        kernel: usize,
        /// Parameters of the signature.
        signature: usize,
    },
    /// A parameter has another size.
    #[error("parameter {index} has {kernel} bytes in the kernel, {signature} in the signature")]
    Size {
        /// Its place, counted from 0.
        index: usize,
        /// Its bytes in the kernel.
        kernel: usize,
        /// Its bytes in the signature.
        signature: usize,
    },
    /// A parameter lies elsewhere: a type before it, or its own, has another alignment.
    #[error(
        "parameter {index} lies at byte {kernel} in the kernel, at {signature} in the signature: an alignment differs"
    )]
    Offset {
        /// Its place, counted from 0.
        index: usize,
        /// Its offset in the kernel.
        kernel: usize,
        /// Its offset in the signature.
        signature: usize,
    },
    /// The kernel's parameters cannot be known, or its limits not be asked for.
    #[error("{0}; the parameters of the kernel cannot be checked (see `bind_unchecked`)")]
    Driver(#[from] Error),
}

/// Why a launch did not happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// A dimension of the grid or the block is zero.
    #[error(
        "a grid of {grid} blocks of {block} threads has nothing to run: every dimension must be at least 1"
    )]
    Empty {
        /// The grid asked for.
        grid: Dim3,
        /// The block asked for.
        block: Dim3,
    },
    /// The grid has a dimension beyond the device's.
    #[error("a grid of {grid} blocks is too large: the device allows {limit}")]
    Grid {
        /// The grid asked for.
        grid: Dim3,
        /// The device's limit.
        limit: Dim3,
    },
    /// The block has a dimension beyond the device's, or more threads than this kernel can have.
    #[error(
        "a block of {block} threads is too large: the device allows {limit}, this kernel {threads} in all"
    )]
    Block {
        /// The block asked for.
        block: Dim3,
        /// The device's limit.
        limit: Dim3,
        /// The most threads a block of this kernel can have.
        threads: u32,
    },
    /// More dynamic shared memory than this kernel can have.
    #[error(
        "{bytes} bytes of dynamic shared memory are too much: this kernel can have {limit} (see `allow_shared_bytes`)"
    )]
    SharedMemory {
        /// Bytes asked for.
        bytes: u32,
        /// The most it can have.
        limit: u32,
    },
    /// The driver refused.
    #[error(transparent)]
    Driver(#[from] Error),
}

impl<'m> Function<'m> {
    /// Binds the kernel to a signature, after comparing number, sizes and offsets of its parameters with it.
    ///
    /// The meaning of the bytes is not known to the driver: an `i32` where the kernel has a `float` is not seen.
    ///
    /// # Errors
    /// [`BindError`]: what differs, with both values; [`Error::is_unresolved`] in it where the driver is older
    /// than CUDA 12.4 and the module was not loaded from PTX.
    ///
    /// Driver: `cuFuncGetParamInfo`, CUDA 12.4+ (before that the PTX is read); for the limits `cuFuncGetAttribute`,
    /// CUDA 2.2+, and `cuDeviceGetAttribute`, CUDA 2.0+.
    #[doc(alias = "cuFuncGetParamInfo")]
    pub fn bind<S: Signature>(self) -> Result<Kernel<'m, S>, BindError> {
        let mut offset = 0usize;
        for (index, layout) in S::LAYOUT.iter().enumerate() {
            let Some((at, size)) = self.parameter(index)? else {
                return Err(BindError::Count { kernel: index, signature: S::LAYOUT.len() });
            };
            if size != layout.size() {
                return Err(BindError::Size { index, kernel: size, signature: layout.size() });
            }
            offset = offset.next_multiple_of(layout.align());
            if at != offset {
                return Err(BindError::Offset { index, kernel: at, signature: offset });
            }
            offset += size;
        }
        let signature = S::LAYOUT.len();
        let mut kernel = signature;
        while self.parameter(kernel)?.is_some() {
            kernel += 1;
        }
        if kernel != signature {
            return Err(BindError::Count { kernel, signature });
        }
        // SAFETY: number, sizes and offsets were just compared.
        Ok(unsafe { self.bind_unchecked() }?)
    }

    /// Binds the kernel to a signature without comparing it: for machine code on drivers that cannot tell.
    ///
    /// # Errors
    /// As the driver says when asked for the kernel's limits.
    ///
    /// # Safety
    /// The kernel has the parameters of `S`, in number, size and order.
    ///
    /// Driver: `cuFuncGetAttribute`, CUDA 2.2+, and `cuDeviceGetAttribute`, CUDA 2.0+.
    #[doc(alias = "cuFuncGetAttribute")]
    pub unsafe fn bind_unchecked<S: Signature>(self) -> Result<Kernel<'m, S>, Error> {
        Ok(Kernel { function: self, limits: Limits::of(self)?, _signature: PhantomData })
    }
}

impl<'m, S: Signature> Kernel<'m, S> {
    /// The kernel without its signature.
    pub const fn function(&self) -> Function<'m> {
        self.function
    }

    /// The most threads that a block of this kernel can have, for its registers.
    pub const fn max_threads_per_block(&self) -> u32 {
        self.limits.threads
    }

    /// Allows launches up to this many bytes of dynamic shared memory, beyond the 48 KiB of old.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for more than the device has for a block.
    ///
    /// Driver: `cuFuncSetAttribute`, CUDA 9.0+.
    #[doc(alias = "cuFuncSetAttribute")]
    pub fn allow_shared_bytes(&mut self, bytes: u32) -> Result<(), Error> {
        let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        self.function.set_attribute(attribute, i32::try_from(bytes).unwrap_or(i32::MAX))?;
        self.limits.shared_bytes = bytes;
        Ok(())
    }

    /// Queues the kernel on `stream`. The host does not wait, and a fault shows at a later call.
    ///
    /// # Errors
    /// [`LaunchError`] for a geometry beyond the limits; [`Error::is_wrong_context`] unless kernel and stream are
    /// of the current context; `CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES`; the sticky errors of earlier work.
    ///
    /// # Safety
    /// The kernel is foreign code, and the caller answers for it:
    /// 1. The types of the signature mean in Rust what they mean in the kernel.
    /// 2. It accesses only memory that it may, with this geometry and these arguments: the slices to their
    ///    lengths, those of [`In`] only to read, and what else it is told addresses of.
    /// 3. Until it has finished, that memory is not freed, and no other access by host or device conflicts with
    ///    it, except such as are ordered by the stream, by an event, or by the default stream (see [`Stream`]).
    /// 4. The module is not unloaded before it has finished.
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
            // SAFETY: there is one pointer for each parameter, to a value of its size that outlives the call; the
            // caller answers for the kernel.
            unsafe { self.function.launch_pointers(cx, stream, config, pointers) }
        })?;
        Ok(())
    }
}

impl<S> fmt::Debug for Kernel<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel").field("function", &self.function).field("limits", &self.limits).finish()
    }
}

impl Limits {
    fn of(function: Function<'_>) -> Result<Self, Error> {
        let device = function.context().device();
        let device = |attribute| device.attribute(attribute).map(positive);
        let function = |attribute| function.attribute(attribute).map(positive);
        Ok(Self {
            grid: Dim3 {
                x: device(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
                y: device(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
                z: device(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
            },
            block: Dim3 {
                x: device(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)?,
                y: device(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)?,
                z: device(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)?,
            },
            threads: function(CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            // Drivers before CUDA 9.0 have no such limit of a function: the launch itself tells.
            shared_bytes: function(CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
                .unwrap_or(u32::MAX),
        })
    }
}

fn positive(value: i32) -> u32 {
    u32::try_from(value).unwrap_or(0)
}
