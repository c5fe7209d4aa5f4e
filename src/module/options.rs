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
/// let options = LoadOptions { max_registers: Some(32), verbose: true, ..LoadOptions::default() };
/// let ptx = std::fs::read_to_string("kernels/saxpy.ptx")?;
/// let module = context.enter(|cx| Ok(Module::load_ptx_with(cx, &ptx, &options)?))?;
/// println!("{}", module.info_log());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "written as a change of another, which goes on compiling with a new field"
)]
pub struct LoadOptions {
    /// Maximum number of registers per thread; values that do not fit are spilled to memory.
    pub max_registers: Option<u32>,
    /// Minimum number of threads per block that the kernels must support, which limits registers.
    pub threads_per_block: Option<u32>,
    /// Optimization level, from 0 to 4 (default: 4).
    pub optimization_level: Option<u32>,
    /// Device to compile for, instead of the context's device.
    pub target: Option<ComputeCapability>,
    /// Keeps line information of the PTX's source, for profilers and fault reports.
    pub line_info: bool,
    /// Compiles for a debugger.
    pub debug_info: bool,
    /// Caches for loads from global memory that do not specify one.
    pub cache_mode: Option<CUjit_cacheMode>,
    /// Keeps the compiler's messages about accepted code:
    /// [`Module::info_log`](crate::Module::info_log).
    pub info_log: bool,
    /// Makes the compiler write more, such as the registers of each kernel, and keeps it as
    /// [`info_log`](Self::info_log) does.
    pub verbose: bool,
    /// Options by their numbers: see [`option`](Self::option).
    pub others: OtherOptions,
}

/// Options that only [`LoadOptions::option`] adds, because their values are unchecked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OtherOptions(Vec<(CUjit_option, usize)>);

impl LoadOptions {
    /// Adds an option by its number. The value takes the place of a pointer.
    ///
    /// # Safety
    /// 1. The value is valid for this option. An address must be valid until the load is complete.
    /// 2. The option is not a log buffer or its size.
    #[must_use]
    #[inline]
    pub unsafe fn option(mut self, option: CUjit_option, value: usize) -> Self {
        self.others.0.retain(|(known, _)| *known != option);
        self.others.0.push((option, value));
        self
    }

    /// The options with their values, in the driver's form.
    pub(super) fn values(&self) -> Vec<(CUjit_option, usize)> {
        let number = |device: ComputeCapability| device.major.saturating_mul(10).saturating_add(device.minor);
        let numbers = [
            (CUjit_option::CU_JIT_MAX_REGISTERS, self.max_registers),
            (CUjit_option::CU_JIT_THREADS_PER_BLOCK, self.threads_per_block),
            (CUjit_option::CU_JIT_OPTIMIZATION_LEVEL, self.optimization_level),
            (CUjit_option::CU_JIT_TARGET, self.target.map(number)),
            (CUjit_option::CU_JIT_GENERATE_LINE_INFO, self.line_info.then_some(1)),
            (CUjit_option::CU_JIT_GENERATE_DEBUG_INFO, self.debug_info.then_some(1)),
            (CUjit_option::CU_JIT_CACHE_MODE, self.cache_mode.map(|mode| mode.0)),
            (CUjit_option::CU_JIT_LOG_VERBOSE, self.verbose.then_some(1)),
        ];
        let known = numbers.into_iter().filter_map(|(option, value)| Some((option, value? as usize)));
        known.chain(self.others.0.iter().copied()).collect()
    }

    pub(super) const fn wants_info_log(&self) -> bool {
        self.info_log || self.verbose
    }
}
