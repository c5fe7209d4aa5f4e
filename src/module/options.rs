//! Options for the driver's own compiler, which compiles PTX to machine code.

use cuprum_sys::{CUjit_cacheMode, CUjit_option};

use crate::device::ComputeCapability;

/// Options of the driver's compiler for PTX. They do not affect machine code.
///
/// ```
/// # cuprum::example!(driver);
/// use cuprum::module::LoadOptions;
/// use cuprum::context::PrimaryContext;
/// use cuprum::Module;
///
/// let context = PrimaryContext::retain(driver.device(0)?)?;
/// let options = LoadOptions::new().max_registers(32).verbose();
/// let ptx = std::fs::read_to_string("kernels/saxpy.ptx")?;
/// let module = context.enter(|cx| Ok(Module::load_ptx_with(cx, &ptx, &options)?))?;
/// println!("{}", module.info_log());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadOptions {
    values: Vec<(CUjit_option, usize)>,
    info_log: bool,
}

impl LoadOptions {
    /// Makes an empty set of options, as for [`Module::load_ptx`](crate::Module::load_ptx).
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    /// Limits the registers per thread; values that do not fit are spilled to memory.
    #[must_use]
    #[inline]
    pub fn max_registers(self, registers: u32) -> Self {
        self.set(CUjit_option::CU_JIT_MAX_REGISTERS, registers)
    }

    /// Minimum number of threads per block that the kernels must support, which limits registers.
    #[must_use]
    #[inline]
    pub fn threads_per_block(self, threads: u32) -> Self {
        self.set(CUjit_option::CU_JIT_THREADS_PER_BLOCK, threads)
    }

    /// Optimization level, from 0 to 4 (default: 4).
    #[must_use]
    #[inline]
    pub fn optimization_level(self, level: u32) -> Self {
        self.set(CUjit_option::CU_JIT_OPTIMIZATION_LEVEL, level)
    }

    /// Compiles for this device instead of the context's device.
    #[must_use]
    #[inline]
    pub fn target(self, device: ComputeCapability) -> Self {
        let number = device.major.saturating_mul(10).saturating_add(device.minor);
        self.set(CUjit_option::CU_JIT_TARGET, number)
    }

    /// Keeps line information of the PTX's source, for profilers and fault reports.
    #[must_use]
    #[inline]
    pub fn line_info(self) -> Self {
        self.set(CUjit_option::CU_JIT_GENERATE_LINE_INFO, 1)
    }

    /// Compiles for a debugger.
    #[must_use]
    #[inline]
    pub fn debug_info(self) -> Self {
        self.set(CUjit_option::CU_JIT_GENERATE_DEBUG_INFO, 1)
    }

    /// Caches for loads from global memory that do not specify one.
    #[must_use]
    #[inline]
    pub fn cache_mode(self, mode: CUjit_cacheMode) -> Self {
        self.set(CUjit_option::CU_JIT_CACHE_MODE, mode.0)
    }

    /// Keeps the compiler's messages about accepted code:
    /// [`Module::info_log`](crate::Module::info_log).
    #[must_use]
    #[inline]
    pub fn info_log(mut self) -> Self {
        self.info_log = true;
        self
    }

    /// Makes the compiler write more, such as the registers of each kernel, and keeps it as
    /// [`info_log`](Self::info_log) does.
    #[must_use]
    #[inline]
    pub fn verbose(self) -> Self {
        self.set(CUjit_option::CU_JIT_LOG_VERBOSE, 1).info_log()
    }

    /// Adds an option by its number. The value takes the place of a pointer.
    ///
    /// # Safety
    /// 1. The value is valid for this option. An address must be valid until the load is complete.
    /// 2. The option is not a log buffer or its size.
    #[must_use]
    #[inline]
    pub unsafe fn option(mut self, option: CUjit_option, value: usize) -> Self {
        self.values.retain(|(known, _)| *known != option);
        self.values.push((option, value));
        self
    }

    fn set(self, option: CUjit_option, value: u32) -> Self {
        // SAFETY: each caller passes a number, as the driver expects.
        unsafe { self.option(option, value as usize) }
    }

    pub(super) fn values(&self) -> &[(CUjit_option, usize)] {
        &self.values
    }

    pub(super) fn wants_info_log(&self) -> bool {
        self.info_log
    }
}
