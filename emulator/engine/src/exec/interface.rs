//! Arguments of a launch, and its requests to the driver.

use super::texture;
use super::touched::Touched;
use crate::memory::Region;
use crate::program::Kernel;
use crate::program::instruction::{Instruction, Op};
use crate::report::Fault;
use std::time::Duration;

/// Mode of execution.
///
/// ```
/// use cuprum_engine::exec::{ExecOptions, Execution, LaunchArgs, NoHooks, launch};
///
/// # let program = cuprum_ptx::program::Program::load(".version 8.0 .target sm_90 .address_size 64 .visible .entry f() { ret; }", &Default::default())?;
/// # let map = cuprum_engine::memory::Memory::new(1, 1 << 20, false).snapshot();
/// # let kernel = &program.kernels()[0];
/// # let launch_args = LaunchArgs {
/// #     kernel, globals: &[], grid: [2, 1, 1], block: [32, 1, 1], dynamic_shared: 0, params: &[],
/// #     cluster: None, cooperative: false, grid_workspace: 0,
/// # };
/// let plain = ExecOptions { mode: Execution::Plain, ..ExecOptions::default() };
/// launch(&launch_args, &map, &plain, &NoHooks).map_err(|fault| fault.to_string())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Execution {
    /// Lane by lane, the simplest mode: the reference for tests of the other modes.
    Plain,
    /// Whole warps, several at a time, with the vector instructions of the processor. With
    /// `check_init`, `check_races` or a seed, one warp at a time, in the order of the plain mode.
    /// The plain mode runs launches with `check_nans`, and launches with a seed of kernels with
    /// warp-group products.
    Vector,
    /// Thread by thread, as machine code of the processor. Kernels and launches that it does not
    /// support run in the vector mode: without the feature `compile`, on processors without a code
    /// generator, with `check_races` or `check_barriers`, if the accessed bytes are recorded
    /// ([`Hooks::touched`]), with `check_init` for kernels that may read registers before they
    /// write them, for targets before `sm_70`, with volatile accesses to shared memory, with
    /// warp-group products, and with more than 20,000 instructions. With a seed, lanes run in a
    /// random order from one head of a loop to the next. A warp does not run in lockstep: if its
    /// threads race, because one writes data that another reads without `bar.warp.sync` or another
    /// barrier between, the results may differ from the other modes. `check_races` finds such
    /// races.
    Compiled,
    /// As `Compiled`, but four threads at a time as long as they take the same way, with the vector
    /// instructions of x86-64. Threads run one by one on other processors, with a seed or
    /// `check_init`, in functions, in kernels with more than 1500 instructions, with more than
    /// 256 accesses to memory or with very many live registers, and in blocks of several dimensions
    /// whose first is no multiple of four.
    Quads,
    /// As `Quads`, but eight threads at a time, in twice as many vectors: numbers that all share
    /// are computed half as often, and more registers are in memory. Blocks of several dimensions
    /// whose first is no multiple of eight run as `Quads`.
    Octets,
    /// As `Quads`, but all threads of a warp at a time, which exchange numbers in registers by
    /// shuffles and votes. Blocks of several dimensions whose first is no multiple of 32 run as
    /// `Octets`.
    Warps,
    /// `Vector`; with the feature `compile`, `Compiled`, `Quads`, `Octets` or `Warps` for kernels
    /// that they are expected to run faster, unless a seed is set. They begin when the launches of
    /// a kernel have run 500 instructions of warps for each of its own, or with the blocks that
    /// start more than 2 milliseconds after the beginning of a launch, and eight times as late for
    /// `Warps`, which take long to compile. The code of the kernel and the size of its blocks
    /// decide, and how often threads take different ways: functions and threads that do so again
    /// and again are for `Compiled`, arithmetic in long loops for `Quads` and `Octets`, exchanges
    /// of whole warps for `Warps`, and barriers and short kernels for `Vector`.
    #[default]
    Automatic,
}

/// Settings of a launch that do not affect the results of a correct kernel.
///
/// ```
/// use cuprum_engine::exec::{ExecOptions, LaunchArgs, NoHooks, launch};
///
/// # let program = cuprum_ptx::program::Program::load(".version 8.0 .target sm_90 .address_size 64 .visible .entry f() { ret; }", &Default::default())?;
/// # let map = cuprum_engine::memory::Memory::new(1, 1 << 20, false).snapshot();
/// # let kernel = &program.kernels()[0];
/// # let launch_args = LaunchArgs {
/// #     kernel, globals: &[], grid: [2, 1, 1], block: [32, 1, 1], dynamic_shared: 0, params: &[],
/// #     cluster: None, cooperative: false, grid_workspace: 0,
/// # };
/// let checked = ExecOptions { check_init: true, check_races: true, ..ExecOptions::default() };
/// launch(&launch_args, &map, &checked, &NoHooks).map_err(|fault| fault.to_string())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ExecOptions {
    /// Mode of execution.
    pub mode: Execution,
    /// Number of threads that run blocks, including the calling one; 0 means one per core.
    pub workers: usize,
    /// Maximum number of warp instructions of a launch.
    pub budget: Option<u64>,
    /// Maximum duration of a launch.
    pub time_limit: Option<Duration>,
    /// Reports uses of uninitialized registers and memory (global in regions that track writes).
    pub check_init: bool,
    /// Reports unordered accesses of different threads to the same shared or global memory.
    /// Barriers, and atomics with fences, order accesses. One worker then runs all blocks.
    pub check_races: bool,
    /// With `check_races`, also reports plain reads of memory that other threads change by atomic
    /// instructions. PTX calls this a race, but kernels that begin a loop around a compare-and-swap
    /// with a plain read rely on it.
    pub check_atomic_reads: bool,
    /// Reports undefined behavior at barriers and warp-level instructions: barriers that part of a
    /// warp or of the block passes, threads that expect different numbers of others, member masks
    /// that omit a thread or differ, shuffles that read from threads that take no part. Without it,
    /// only states in which no thread can run are reported.
    pub check_barriers: bool,
    /// Reports stores of a NaN computed from numbers, with the instruction that computed it.
    pub check_nans: bool,
    /// Runs blocks and warps in a random order, and changes the times of turns, to reveal
    /// dependences on the order. The same seed gives the same order; one worker runs all blocks.
    pub seed: Option<u64>,
    /// Value of `%nsmid`.
    pub multiprocessors: u32,
}

impl Default for ExecOptions {
    fn default() -> Self {
        ExecOptions {
            mode: Execution::default(),
            workers: 1,
            budget: None,
            time_limit: None,
            seed: None,
            check_init: false,
            check_races: false,
            check_atomic_reads: false,
            check_barriers: false,
            check_nans: false,
            multiprocessors: 1,
        }
    }
}

impl ExecOptions {
    /// True if the vector mode is allowed: no checks of single instructions, and no products of
    /// warp groups that end late, where their registers are used.
    pub(in crate::exec) fn allow_vectors(&self, kernel: &Kernel) -> bool {
        let product = |instruction: &Instruction| matches!(instruction.op, Op::WarpGroup(_));
        let late = || self.seed.is_some() && kernel.code.iter().any(product);
        self.mode != Execution::Plain && !self.check_nans && !late()
    }

    /// True if warps run one at a time: in a random order, or in the order of the plain mode, so
    /// that the checks find the same.
    pub(in crate::exec) fn runs_single_warps(&self) -> bool {
        self.check_init || self.check_races || self.seed.is_some()
    }

    /// True if machine code is allowed.
    #[cfg(feature = "compile")]
    pub(in crate::exec) fn allow_machine_code(&self, kernel: &Kernel) -> bool {
        !matches!(self.mode, Execution::Plain | Execution::Vector)
            && self.allow_vectors(kernel)
            && !self.check_races
            && !self.check_barriers
            && (!self.check_init || kernel.unwritten().is_empty())
    }
}

/// Arguments of a launch.
///
/// ```
/// use cuprum_engine::exec::{ExecOptions, LaunchArgs, NoHooks, launch};
///
/// # let program = cuprum_ptx::program::Program::load(".version 8.0 .target sm_90 .address_size 64 .visible .entry f() { ret; }", &Default::default())?;
/// # let map = cuprum_engine::memory::Memory::new(1, 1 << 20, false).snapshot();
/// let kernel = &program.kernels()[0];
/// let launch_args = LaunchArgs {
///     kernel, globals: &[], grid: [2, 1, 1], block: [32, 1, 1], dynamic_shared: 0, params: &[],
///     cluster: None, cooperative: false, grid_workspace: 0,
/// };
/// launch(&launch_args, &map, &ExecOptions::default(), &NoHooks).map_err(|fault| fault.to_string())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct LaunchArgs<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// Address of each variable of the program, in the order of
    /// [`crate::program::Program::globals`].
    pub globals: &'a [u64],
    /// Blocks of the grid in x, y and z.
    pub grid: [u32; 3],
    /// Threads per block in x, y and z.
    pub block: [u32; 3],
    /// Shared memory beyond the kernel's declarations, in bytes.
    pub dynamic_shared: u32,
    /// The parameter buffer, laid out as in [`Kernel::params`].
    pub params: &'a [u8],
    /// Blocks of a cluster in x, y and z, if the launch states them; otherwise the kernel's apply.
    pub cluster: Option<[u32; 3]>,
    /// True if all blocks must be resident at the same time, so that they can wait for each other.
    pub cooperative: bool,
    /// For cooperative launches, the address of 64 zeroed bytes for the grid's barrier.
    pub grid_workspace: u64,
}

/// Services that a launch requests from its driver.
///
/// ```
/// use cuprum_engine::exec::Hooks;
///
/// /// Prints the output of kernels, and has no heap.
/// struct Printing;
/// impl Hooks for Printing {
///     fn print(&self, text: &str) {
///         print!("{text}");
///     }
///     fn malloc(&self, _: u64) -> u64 {
///         0
///     }
///     fn free(&self, _: u64) -> bool {
///         false
///     }
/// }
/// ```
pub trait Hooks: Sync {
    /// Prints formatted output of `printf`.
    fn print(&self, text: &str);
    /// Allocates for `malloc` on the device. Returns a device address, 0 if there is no room.
    fn malloc(&self, bytes: u64) -> u64;
    /// Frees for `free` on the device; false if the address was not allocated or is already free.
    fn free(&self, address: u64) -> bool;
    /// Sets the condition of a graph's node. Returns false if the condition does not exist.
    fn set_condition(&self, _condition: u64, _value: u32) -> bool {
        false
    }
    /// Answers a call of the device runtime library by a thread, which has this number in the grid.
    /// The call's arguments come word by word.
    ///
    /// # Errors
    /// The description of a mistake that ends the launch.
    fn runtime(&self, _thread: u64, _arguments: &[u32]) -> Result<u64, String> {
        Err("a call of the device runtime, which is not there".to_owned())
    }
    /// True if the launch must end now, without a fault of its own. Called regularly.
    fn is_stopped(&self) -> bool {
        false
    }
    /// Finds the texture or surface object with this handle.
    fn object(&self, _handle: u64, _surface: bool) -> texture::Handle {
        texture::Handle::Unknown
    }
    /// True if kernels of the context may access the region, which may be on another device.
    fn reaches(&self, _region: &Region) -> bool {
        true
    }

    /// True if the launch continues although a check found this. The hook has then reported it.
    fn goes_on(&self, _finding: &Fault) -> bool {
        false
    }
    /// Returns the record for accessed bytes of global memory, if they are recorded.
    fn touched(&self) -> Option<&Touched> {
        None
    }
}

/// Hooks that drop output and have no heap.
///
/// ```
/// use cuprum_engine::exec::{Hooks, NoHooks};
///
/// assert_eq!(NoHooks.malloc(16), 0);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHooks;

impl Hooks for NoHooks {
    fn print(&self, _: &str) {}
    fn malloc(&self, _: u64) -> u64 {
        0
    }
    fn free(&self, _: u64) -> bool {
        false
    }
}

/// Statistics of a launch.
///
/// ```
/// use cuprum_engine::exec::{ExecOptions, LaunchArgs, NoHooks, launch};
///
/// # let program = cuprum_ptx::program::Program::load(".version 8.0 .target sm_90 .address_size 64 .visible .entry f() { ret; }", &Default::default())?;
/// # let map = cuprum_engine::memory::Memory::new(1, 1 << 20, false).snapshot();
/// # let kernel = &program.kernels()[0];
/// # let launch_args = LaunchArgs {
/// #     kernel, globals: &[], grid: [2, 1, 1], block: [32, 1, 1], dynamic_shared: 0, params: &[],
/// #     cluster: None, cooperative: false, grid_workspace: 0,
/// # };
/// let stats = launch(&launch_args, &map, &ExecOptions::default(), &NoHooks)
///     .map_err(|fault| fault.to_string())?;
/// assert_eq!(stats.blocks, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct LaunchStats {
    /// Number of warp instructions executed.
    pub instructions: u64,
    /// Number of blocks run.
    pub blocks: u64,
}
