//! Arguments of a launch, and its requests to its surroundings.

use super::texture;
use super::touched::Touched;
use crate::memory::Region;
use crate::program::Kernel;
use crate::report::Fault;
use std::time::Duration;

/// How kernels are executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Execution {
    /// Lane by lane, the simplest way: the reference for tests of the other mode.
    Plain,
    /// Whole warps and several of them at a time, with the vector instructions of the processor.
    #[default]
    Vector,
}

/// Settings of a launch that do not change what a correct kernel computes.
#[derive(Clone, Debug)]
pub struct ExecOptions {
    /// Mode of execution.
    pub mode: Execution,
    /// Threads that run blocks, the calling one included; 0 means one for each core.
    pub workers: usize,
    /// Most warp instructions that a launch may execute before it counts as endless.
    pub budget: Option<u64>,
    /// Longest time that a launch may take before it counts as endless.
    pub time_limit: Option<Duration>,
    /// Report reads of memory that nobody wrote: shared and local memory, and global memory where regions track it; and
    /// the use of registers that nobody wrote.
    pub check_init: bool,
    /// Report accesses of different threads to the same shared or global memory that nothing orders: neither barriers
    /// nor atomics with fences. One worker runs all blocks then.
    pub check_races: bool,
    /// With `check_races`, report plain reads of memory that other threads change by atomic instructions, too. PTX
    /// calls that a race; kernels that begin a loop around a compare-and-swap with a plain read rely on it.
    pub check_atomic_reads: bool,
    /// Report behavior that PTX leaves undefined at barriers and warp-level instructions: barriers that part of a warp
    /// or of the block goes past, threads that expect different numbers of others, member masks that leave out a thread
    /// or differ, shuffles that read from threads which take no part. Without it, only states in which no thread can
    /// run are reported.
    pub check_barriers: bool,
    /// Report stores of a NaN that the kernel has made of numbers, with the instruction that made it.
    pub check_nans: bool,
    /// Runs blocks and warps in an order that depends on this number, and changes turns between warps at other moments,
    /// to bring out dependences on the order. The same number gives the same order; one worker runs all blocks.
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
    /// True if the vector mode is allowed: checks look at one access at a time, and other orders need warps that run
    /// one by one.
    pub(in crate::exec) fn allow_vectors(&self) -> bool {
        let watched = self.check_init || self.check_races || self.check_nans;
        self.mode == Execution::Vector && !watched && self.seed.is_none()
    }
}

/// Arguments of a launch.
#[derive(Clone, Copy, Debug)]
pub struct LaunchArgs<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// Address of each variable of the program, in the order of [`crate::program::Program::globals`].
    pub globals: &'a [u64],
    /// Blocks of the grid in x, y and z.
    pub grid: [u32; 3],
    /// Threads per block in x, y and z.
    pub block: [u32; 3],
    /// Bytes of shared memory beyond what the kernel declares.
    pub dynamic_shared: u32,
    /// The parameter buffer, laid out as [`Kernel::params`] says.
    pub params: &'a [u8],
    /// Blocks of a cluster in x, y and z, where the launch says so; otherwise what the kernel says counts.
    pub cluster: Option<[u32; 3]>,
    /// All blocks must be resident at the same time, so that they can wait for each other.
    pub cooperative: bool,
    /// For cooperative launches: address of 64 zeroed bytes of device memory, where the grid's barrier lives.
    pub grid_workspace: u64,
}

/// Requests of a kernel to its surroundings.
pub trait Hooks: Sync {
    /// Output of `printf`, formatted.
    fn print(&self, text: &str);
    /// `malloc` on the device: a device address, 0 if there is no room.
    fn malloc(&self, bytes: u64) -> u64;
    /// `free` on the device; `false` if the address was not allocated or is already free.
    fn free(&self, address: u64) -> bool;
    /// Sets the condition of a graph's node; `false` if there is no such condition.
    fn set_condition(&self, _condition: u64, _value: u32) -> bool {
        false
    }
    /// True if the launch is to end now, with blocks undone and without a fault of its own. Asked every now and then.
    fn is_stopped(&self) -> bool {
        false
    }
    /// The texture object, or surface object, with this handle.
    fn object(&self, _handle: u64, _surface: bool) -> texture::Handle {
        texture::Handle::Unknown
    }
    /// True if kernels of the launch's context may use the region, which may be of another device.
    fn reaches(&self, _region: &Region) -> bool {
        true
    }

    /// True if the launch goes on although a check found this; the hook has reported it then.
    fn goes_on(&self, _finding: &Fault) -> bool {
        false
    }
    /// The place where the launch is to note the bytes of global memory that it touches, if that is wanted.
    fn touched(&self) -> Option<&Touched> {
        None
    }
}

/// Hooks that drop output and have no heap.
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
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct LaunchStats {
    /// Number of warp instructions executed.
    pub instructions: u64,
    /// Number of blocks run.
    pub blocks: u64,
}
