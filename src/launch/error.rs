//! Errors of launches.

use super::Dim3;
use crate::error::Error;

/// Error of a launch.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::{Buffer, In, InOut, LaunchConfig, Module, Stream};
///
/// let module = Module::load_ptx(&cx, &std::fs::read_to_string("kernels/saxpy.ptx")?)?;
/// let saxpy = module.function("saxpy")?.bind::<(u32, f32, In<f32>, InOut<f32>)>()?;
/// let (x, mut y) = (Buffer::<f32>::zeroed(&cx, 1)?, Buffer::<f32>::zeroed(&cx, 1)?);
/// let (stream, config) = (Stream::new(&cx)?, LaunchConfig::new(1, 4096));
/// // SAFETY: saxpy(n, alpha, x, y) touches n elements of each.
/// let result = unsafe { saxpy.launch(&cx, &stream, config, (1u32, 3f32, &x, &mut y)) };
/// // Detected on the host: the driver was not called.
/// assert!(matches!(result, Err(cuprum::launch::LaunchError::Block { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// A dimension of the grid or the block is zero.
    #[error(
        "a grid of {grid} blocks of {block} threads has nothing to run: every dimension must be at least 1"
    )]
    Empty {
        /// The requested grid.
        grid: Dim3,
        /// The requested block.
        block: Dim3,
    },
    /// A dimension of the grid exceeds the device's limit.
    #[error("a grid of {grid} blocks is too large: the device allows {limit}")]
    Grid {
        /// The requested grid.
        grid: Dim3,
        /// The device's limit.
        limit: Dim3,
    },
    /// The block, or a dimension of it, is too large for the device or this kernel.
    #[error(
        "a block of {block} threads is too large: the device allows {limit}, this kernel {threads} in all"
    )]
    Block {
        /// The requested block.
        block: Dim3,
        /// The device's limit.
        limit: Dim3,
        /// The maximum number of threads per block of this kernel.
        threads: u32,
    },
    /// Too much dynamic shared memory for this kernel.
    #[error(
        "{bytes} bytes of dynamic shared memory are too much: this kernel can have {limit} (see `allow_shared_bytes`)"
    )]
    SharedMemory {
        /// The requested number of bytes.
        bytes: u32,
        /// The maximum number of bytes.
        limit: u32,
    },
    /// A driver call failed.
    #[error(transparent)]
    Driver(#[from] Error),
}
