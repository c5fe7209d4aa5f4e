//! A loaded module: its kernels and its variables.

use super::instruction::{Constant, Instruction, RowKind, SystemCall};
use super::slot::Slot;
use crate::ordered::sort_by_number;
use crate::semantics::{Predicate, Register, Width};
use core::fmt;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// Newest PTX version that this crate reads, major and minor.
pub const NEWEST_PTX: (u32, u32) = (9, 5);

/// The device for which a module is loaded.
///
/// ```
/// use cuprum_ptx::program::{LoadOptions, Program};
///
/// let old = LoadOptions { compute_capability: 70, ..LoadOptions::default() };
/// assert!(Program::load(".version 8.0 .target sm_90 .address_size 64 ", &old).is_err()); // for newer devices
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoadOptions {
    /// Compute capability, major times ten plus minor.
    pub compute_capability: u32,
    /// Newest accepted PTX version, major and minor.
    pub newest_ptx: (u32, u32),
}

impl Default for LoadOptions {
    fn default() -> Self {
        LoadOptions { compute_capability: 90, newest_ptx: NEWEST_PTX }
    }
}

/// A loaded module.
///
/// ```
/// use cuprum_ptx::program::{LoadOptions, Program};
///
/// let program = Program::load(".version 8.0 .target sm_90 .address_size 64 .visible .entry f() { ret; }", &LoadOptions::default())?;
/// let kernels: Vec<_> = program.kernels().iter().map(|kernel| kernel.name()).collect();
/// assert_eq!(kernels, ["f"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Program {
    pub(crate) version: (u32, u32),
    pub(crate) target: String,
    pub(crate) kernels: Vec<Arc<Kernel>>,
    pub(crate) globals: Vec<Global>,
    pub(crate) functions: Vec<String>,
}

/// State space of a module variable.
///
/// ```
/// use cuprum_ptx::program::{GlobalSpace, LoadOptions, Program};
///
/// let program = Program::load(".version 8.0 .target sm_90 .address_size 64 .visible .const .u32 limit = 7;", &LoadOptions::default())?;
/// assert_eq!(program.globals()[0].space, GlobalSpace::Const);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum GlobalSpace {
    /// `.global`
    Global,
    /// `.const`: kernels cannot write to it.
    Const,
}

/// An address inside a module variable's initial value.
///
/// ```
/// use cuprum_ptx::program::{LoadOptions, Program};
///
/// let program = Program::load(".version 8.0 .target sm_90 .address_size 64 .visible .global .u32 x; .visible .global .u64 p = x;", &LoadOptions::default())?;
/// let p = program.globals().iter().find(|global| global.name == "p").ok_or("no variable")?;
/// assert_eq!((p.relocations[0].offset, p.relocations[0].bytes), (0, 8));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Relocation {
    /// Offset in the variable, in bytes.
    pub offset: u64,
    /// Size of the address: 4 or 8 bytes.
    pub bytes: u32,
    /// Target of the address.
    pub target: RelocationTarget,
    /// Bytes to add.
    pub addend: i64,
    /// Mask of the bits of the address to keep, which are shifted down; `None` for all.
    pub mask: Option<u64>,
}

/// Target of a relocation.
///
/// ```
/// use cuprum_ptx::program::{LoadOptions, Program, RelocationTarget};
///
/// let program = Program::load(".version 8.0 .target sm_90 .address_size 64 .visible .global .u32 x; .visible .global .u64 p = x;", &LoadOptions::default())?;
/// let p = program.globals().iter().find(|global| global.name == "p").ok_or("no variable")?;
/// let RelocationTarget::Global(x) = p.relocations[0].target else { return Err("a function".into()) };
/// assert_eq!(program.globals()[x].name, "x");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RelocationTarget {
    /// Index of a module variable.
    Global(usize),
    /// Index of a function. Its address is `Windows::code` of `cuprum-engine` plus
    /// [`FUNCTION_STRIDE`] times the index.
    Function(usize),
}

/// Distance between the addresses of two functions.
pub const FUNCTION_STRIDE: u64 = 16;

/// Maximum local memory of a thread in bytes, including its stack.
#[doc(hidden)]
pub const MOST_LOCAL: u32 = 512 * 1024;

/// A module variable.
///
/// ```
/// use cuprum_ptx::program::{LoadOptions, Program};
///
/// let program = Program::load(".version 8.0 .target sm_90 .address_size 64 .visible .global .u32 x[4];", &LoadOptions::default())?;
/// let x = &program.globals()[0];
/// assert_eq!((x.name.as_str(), x.size), ("x", 16));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Global {
    /// Its name.
    pub name: String,
    /// Global or constant memory.
    pub space: GlobalSpace,
    /// Size in bytes; 0 for an unsized `extern` array.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// Initial bytes, shorter than `size` if the rest is zero.
    pub init: Vec<u8>,
    /// Addresses in the initial bytes.
    pub relocations: Vec<Relocation>,
    /// `.attribute(.managed)`: shared with the host.
    pub managed: bool,
    /// True if it is declared here and defined in another module.
    pub external: bool,
    /// True if other modules and the host can name it.
    pub visible: bool,
}

/// The clusters that a kernel allows.
///
/// ```
/// use cuprum_ptx::program::{LoadOptions, Program};
///
/// let program = Program::load(".version 8.0 .target sm_90 .address_size 64 .visible .entry f() .reqnctapercluster 2, 1, 1 { ret; }", &LoadOptions::default())?;
/// assert_eq!(program.kernels()[0].cluster().required, Some([2, 1, 1]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ClusterBounds {
    /// Blocks of a cluster in x, y and z, from `.reqnctapercluster`.
    pub required: Option<[u32; 3]>,
    /// `.explicitcluster`: a launch must state the size of clusters if the kernel does not.
    pub explicit: bool,
    /// Maximum number of blocks per cluster, from `.maxclusterrank`.
    pub most: Option<u32>,
}

/// A kernel parameter.
///
/// ```
/// use cuprum_ptx::program::{LoadOptions, Program};
///
/// let program = Program::load(".version 8.0 .target sm_90 .address_size 64 .visible .entry f(.param .u32 n, .param .u64 p) { ret; }", &LoadOptions::default())?;
/// let p = program.kernels()[0].params()[1];
/// assert_eq!((p.offset, p.size, p.align), (8, 8, 8));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Param {
    /// Offset in the parameter buffer.
    pub offset: u32,
    /// Size in bytes.
    pub size: u32,
    /// Alignment in bytes.
    pub align: u32,
}

/// Origin of an instruction.
#[doc(hidden)]
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Origin {
    pub line: u32,
    /// Byte range of the instruction in the PTX text.
    pub text: Box<str>,
    pub source: Option<(u32, u32)>,
}

/// A device function inside a kernel's code.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Function {
    pub entry: u32,
    /// Its rows, saved when it calls itself.
    pub rows: Vec<core::ops::Range<u32>>,
    pub predicates: core::ops::Range<u32>,
    /// Parameters and return values, word by word.
    pub params: Vec<Register>,
    pub returns: Vec<Register>,
    /// Size of its frame in local memory, in bytes.
    pub frame: u32,
}

/// A kernel, decoded.
///
/// ```
/// use cuprum_ptx::program::{LoadOptions, Program};
///
/// let program = Program::load(".version 8.0 .target sm_90 .address_size 64 .visible .entry f(.param .u32 n) { ret; }", &LoadOptions::default())?;
/// let f = &program.kernels()[0];
/// assert_eq!((f.name(), f.params().len()), ("f", 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Kernel {
    /// Unique among the kernels loaded by this process.
    #[doc(hidden)]
    pub id: u64,
    #[doc(hidden)]
    pub name: String,
    #[doc(hidden)]
    pub params: Vec<Param>,
    #[doc(hidden)]
    pub static_shared: u32,
    #[doc(hidden)]
    pub max_threads: Option<u32>,
    #[doc(hidden)]
    pub required_threads: Option<[u32; 3]>,
    #[doc(hidden)]
    pub cluster: ClusterBounds,
    #[doc(hidden)]
    pub code: Vec<Instruction>,
    #[doc(hidden)]
    pub origins: Vec<Origin>,
    #[doc(hidden)]
    pub files: Arc<[(u32, String)]>,
    /// Reverse post-order number of each instruction's block: paths with lower numbers run first.
    #[doc(hidden)]
    pub ranks: Vec<u32>,
    #[doc(hidden)]
    pub functions: Vec<Function>,
    /// Maps the module index of a function to its index in `functions`.
    #[doc(hidden)]
    pub by_module_index: HashMap<u32, u32>,
    /// System functions that its code calls.
    #[doc(hidden)]
    pub system_calls: Vec<SystemCall>,
    #[doc(hidden)]
    pub constants: Vec<(Register, Width, Constant)>,
    #[doc(hidden)]
    pub rows: u32,
    #[doc(hidden)]
    pub row_kinds: Vec<RowKind>,
    #[doc(hidden)]
    pub predicates: u32,
    #[doc(hidden)]
    pub caches: u32,
    /// Offset of each used shared variable.
    #[doc(hidden)]
    pub shared_offsets: Vec<u32>,
    /// Size of the kernel's own frame in local memory, in bytes.
    #[doc(hidden)]
    pub frame: u32,
    /// Registers that may be read before they are written, found at the first launch.
    #[doc(hidden)]
    pub unwritten: OnceLock<Unwritten>,
    /// Translation by its runner, created at the first launch.
    #[doc(hidden)]
    pub runner: Slot,
    /// Translation to machine code, created at the first launch that wants it.
    #[doc(hidden)]
    pub machine_code: Slot,
    /// True if its target schedules the lanes of a warp independently (`sm_70` and later).
    #[doc(hidden)]
    pub independent_lanes: bool,
    /// True if it has atomic operations on memory that may be global.
    #[doc(hidden)]
    pub changes_global: bool,
    /// True if it may wait for other threads: it has loads of memory that may be global which are
    /// volatile or have an order, or atomic operations on such memory.
    #[doc(hidden)]
    pub may_wait: bool,
    /// True if it reads variables in constant memory as such, by `ld.const`.
    #[doc(hidden)]
    pub reads_constants: bool,
}

/// Registers that a kernel may read before they are written.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct Unwritten {
    pub registers: Vec<Register>,
    pub predicates: Vec<Predicate>,
}

impl Unwritten {
    /// True if the kernel writes all registers before it reads them.
    pub fn is_empty(&self) -> bool {
        self.registers.is_empty() && self.predicates.is_empty()
    }
}

impl Program {
    /// Returns an empty module.
    pub fn empty() -> Program {
        Program {
            version: (1, 0),
            target: String::new(),
            kernels: Vec::new(),
            globals: Vec::new(),
            functions: Vec::new(),
        }
    }

    /// Returns its kernels, in the order of the text.
    pub fn kernels(&self) -> &[Arc<Kernel>] {
        &self.kernels
    }

    /// Returns the kernel with this name.
    pub fn kernel(&self, name: &str) -> Option<&Arc<Kernel>> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }

    /// Returns its variables in global and constant memory. `LaunchArgs::globals` of
    /// `cuprum-engine` contains their addresses in this order.
    pub fn globals(&self) -> &[Global] {
        &self.globals
    }

    /// Returns the names of all functions, by index (see [`RelocationTarget::Function`]).
    pub fn functions(&self) -> &[String] {
        &self.functions
    }

    /// Returns the version in `.version`.
    pub fn version(&self) -> (u32, u32) {
        self.version
    }

    /// Returns the architecture in `.target`, such as `sm_90`.
    pub fn target(&self) -> &str {
        &self.target
    }
}

impl Kernel {
    /// True if its code, or a function that it may call, calls this system function.
    #[doc(hidden)]
    pub fn calls(&self, system: SystemCall) -> bool {
        self.system_calls.contains(&system)
    }

    /// Returns the name as in the PTX.
    #[inline]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the parameters in order.
    #[inline]
    pub fn params(&self) -> &[Param] {
        &self.params
    }

    /// Returns the size of the parameter buffer in bytes.
    pub fn param_bytes(&self) -> u32 {
        self.params.last().map_or(0, |last| last.offset + last.size)
    }

    /// Returns the size of the declared shared memory in bytes.
    pub fn static_shared(&self) -> u32 {
        self.static_shared
    }

    /// Returns the size of each thread's local memory in bytes, without called functions.
    pub fn local_bytes(&self) -> u32 {
        self.frame
    }

    /// Returns the maximum number of threads per block, from `.maxntid` or `.reqntid`.
    pub fn max_threads(&self) -> Option<u32> {
        self.max_threads
    }

    /// Returns the block size that `.reqntid` requires.
    pub fn required_threads(&self) -> Option<[u32; 3]> {
        self.required_threads
    }

    /// Returns the clusters that it allows.
    pub fn cluster(&self) -> ClusterBounds {
        self.cluster
    }

    /// Returns an estimate of the registers per thread: the number used here, but at most 255, and
    /// no more than a block of the kernel's maximum size can have.
    pub fn registers(&self) -> u32 {
        const OF_BLOCK: u32 = 65536;
        const GRANULARITY: u32 = 8;
        let threads = self.max_threads.unwrap_or(1024).clamp(32, 1024).next_multiple_of(32);
        let most = OF_BLOCK / threads / GRANULARITY * GRANULARITY;
        self.rows.clamp(GRANULARITY, most.min(255))
    }
}

impl fmt::Debug for Kernel {
    /// Writes only the name, because the code is long.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Sorts constants by their registers.
#[doc(hidden)]
pub fn sort_constants(constants: &mut Vec<(Register, Width, Constant)>) {
    sort_by_number(constants, |(register, ..)| register.0.into());
}
