//! Kernels whose parameters are known at run time.

use std::sync::Arc;

use super::block::Block;
use super::storage::Storage;
use super::{Pool, RegionError};
use crate::launch::{LaunchConfig, LaunchError, Limits, Mismatch};
use crate::module::{Function, Module};
use crate::raw::debug::debug;
use crate::raw::shared::Shared;

/// A kernel of shared code, for [launches](super::Queue::launch) with arguments known at run time.
///
/// It is a handle shared by its clones. It keeps the code, as launches do. When the last handle is
/// dropped, no queue runs the kernel, and no recording has it, the pool unloads the code, as for
/// [adopted](Pool::adopt) memory.
///
/// ```
/// # cuprum::example!(driver, context);
/// # context.enter(|cx| {
/// let module = cuprum::Module::load_ptx(cx, &std::fs::read_to_string("kernels/saxpy.ptx")?)?.share();
/// let saxpy = cuprum::region::Pool::new(cx).function(&module, "saxpy")?;
/// assert_eq!(saxpy.parameters()[1], (4, 4)); // offset and size of `float alpha`
/// # Ok(()) })?; Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct SharedFunction(Arc<Code>);

struct Code {
    /// Used only while the block, which has the module, exists.
    function: Function<'static>,
    parameters: Vec<(usize, usize)>,
    limits: Limits,
    block: Arc<Block>,
}

impl Pool {
    /// Returns a kernel of `module` by its name, with its parameters. To use more than 48 KiB of
    /// dynamic shared memory, first call [`Function::set_attribute`].
    ///
    /// # Errors
    /// [`RegionError::Module`]; [`RegionError::Arguments`] if the parameters are unknown: the
    /// driver is older than CUDA 12.4, and the module was not loaded from PTX;
    /// [`Error::WRONG_CONTEXT`](crate::Error::WRONG_CONTEXT).
    ///
    /// Driver: `cuModuleGetFunction`, CUDA 2.0+, `cuFuncGetParamCount`, CUDA 13.2+, and
    /// `cuFuncGetParamInfo`, CUDA 12.4+ (before that the PTX is read); `cuFuncGetAttribute`,
    /// CUDA 2.2+, and `cuDeviceGetAttribute`, CUDA 2.0+.
    #[doc(alias("cuModuleGetFunction", "cuFuncGetParamInfo"))]
    pub fn function(
        &self,
        module: &Shared<Module<'static>>,
        name: &str,
    ) -> Result<SharedFunction, RegionError> {
        if module.context() != self.context() {
            return Err(crate::Error::wrong_context(cuprum_sys::FnId::cuModuleGetFunction).into());
        }
        let function = module.function(name)?;
        let count = function.parameter_count().map_err(|error| function.not_known(error))?;
        let parameters = (0..count).map(|index| function.parameter(index)).collect::<Result<_, _>>()?;
        let limits = Limits::of(function)?;
        let block = Block::new(self.hub(), Storage::Kept(Box::new(module.clone())), None);
        // SAFETY: the block in the same value keeps the module.
        let function = unsafe { function.outlived() };
        Ok(SharedFunction(Arc::new(Code { function, parameters, limits, block: Arc::new(block) })))
    }
}

impl SharedFunction {
    /// Offset and size of each parameter in bytes.
    #[inline]
    pub fn parameters(&self) -> &[(usize, usize)] {
        &self.0.parameters
    }

    /// The kernel.
    #[inline]
    pub fn function(&self) -> Function<'_> {
        self.0.function
    }

    #[inline]
    pub(super) fn block(&self) -> &Arc<Block> {
        &self.0.block
    }

    #[inline]
    pub(super) fn check(&self, config: LaunchConfig) -> Result<(), LaunchError> {
        self.0.limits.check(config)
    }

    #[inline]
    pub(super) fn bytes(&self) -> usize {
        self.0.parameters.last().map_or(0, |(offset, size)| offset + size)
    }

    #[cold]
    pub(super) fn other_count(&self, arguments: usize) -> Mismatch {
        Mismatch::Count { kernel: self.0.parameters.len(), signature: arguments }
    }
}

debug!(SharedFunction: |this, f| f.debug_tuple("SharedFunction").field(&this.0.function).finish());
