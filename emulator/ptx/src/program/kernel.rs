//! A module ready to run: its kernels and its variables.

use super::instruction::{Constant, Instruction, RowKind, SystemCall};
use super::slot::Slot;
use super::unwritten::Unwritten;
use crate::ordered::sort_by_number;
use crate::semantics::{Register, Width};
use core::fmt;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// Newest version of PTX that this crate reads, major and minor.
pub const NEWEST_PTX: (u32, u32) = (9, 5);

/// The device that a module is loaded for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoadOptions {
    /// Compute capability, major times ten plus minor.
    pub compute_capability: u32,
    /// Newest version of PTX that is read, major and minor.
    pub newest_ptx: (u32, u32),
}

impl Default for LoadOptions {
    fn default() -> Self {
        LoadOptions { compute_capability: 90, newest_ptx: NEWEST_PTX }
    }
}

/// A module ready to run.
#[derive(Debug)]
pub struct Program {
    pub(crate) version: (u32, u32),
    pub(crate) target: String,
    pub(crate) kernels: Vec<Arc<Kernel>>,
    pub(crate) globals: Vec<Global>,
    pub(crate) functions: Vec<String>,
}

/// Placement of a module variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum GlobalSpace {
    /// `.global`
    Global,
    /// `.const`: kernels cannot write to it.
    Const,
}

/// An address inside a module variable's initial value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Relocation {
    /// Offset in the variable, in bytes.
    pub offset: u64,
    /// Size of the address there: 4 or 8.
    pub bytes: u32,
    /// Target of the address.
    pub target: RelocationTarget,
    /// Bytes to add.
    pub addend: i64,
    /// Bits of the address to keep, shifted down; `None` for all.
    pub mask: Option<u64>,
}

/// Target of a relocation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RelocationTarget {
    /// Index of a module variable.
    Global(usize),
    /// Index of a function: its address is that of the code, `Windows::code` of `cuprum-engine`, plus
    /// [`FUNCTION_STRIDE`] times the index.
    Function(usize),
}

/// Distance of the addresses of two functions.
pub const FUNCTION_STRIDE: u64 = 16;

/// Most local memory of a thread, its stack included, in bytes.
#[doc(hidden)]
pub const MOST_LOCAL: u32 = 512 * 1024;

/// A module variable.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Global {
    /// Its name.
    pub name: String,
    /// Global or constant memory.
    pub space: GlobalSpace,
    /// Bytes; 0 for an `extern` array without size.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// Initial bytes, shorter than `size` where the rest is zero.
    pub init: Vec<u8>,
    /// Addresses to put into the initial bytes.
    pub relocations: Vec<Relocation>,
    /// `.attribute(.managed)`: shared with the host.
    pub managed: bool,
    /// Declared here, defined in another module.
    pub external: bool,
    /// True if other modules and the host can name it.
    pub visible: bool,
}

/// What a kernel says of the clusters that its blocks form.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ClusterBounds {
    /// Blocks of a cluster in x, y and z, from `.reqnctapercluster`.
    pub required: Option<[u32; 3]>,
    /// `.explicitcluster`: a launch must say how large its clusters are, if the kernel does not.
    pub explicit: bool,
    /// The most blocks of a cluster, from `.maxclusterrank`.
    pub most: Option<u32>,
}

/// A kernel parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Param {
    /// Offset in the parameter buffer.
    pub offset: u32,
    /// Bytes.
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
    /// Rows that belong to it, saved when it calls itself.
    pub rows: Vec<core::ops::Range<u32>>,
    pub predicates: core::ops::Range<u32>,
    /// Formal parameters and return values, word by word.
    pub params: Vec<Register>,
    pub returns: Vec<Register>,
    /// Bytes of local memory in a frame.
    pub frame: u32,
}

/// A kernel, decoded.
pub struct Kernel {
    /// Different for each kernel loaded by this process.
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
    /// Rank of each instruction's block: fragments with lower ranks run first.
    #[doc(hidden)]
    pub ranks: Vec<u32>,
    #[doc(hidden)]
    pub functions: Vec<Function>,
    /// Module index of a function to its index in `functions`.
    #[doc(hidden)]
    pub by_module_index: HashMap<u32, u32>,
    /// Functions of the device that its code calls.
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
    /// Offset of each shared variable that the kernel uses.
    #[doc(hidden)]
    pub shared_offsets: Vec<u32>,
    /// Bytes of local memory of the kernel's own frame.
    #[doc(hidden)]
    pub frame: u32,
    /// Registers that it may read before they are written, found at the first launch.
    #[doc(hidden)]
    pub unwritten: OnceLock<Unwritten>,
    /// Translation by its runner, at the first launch.
    #[doc(hidden)]
    pub runner: Slot,
}

impl Program {
    /// A module without anything.
    pub fn empty() -> Program {
        Program {
            version: (1, 0),
            target: String::new(),
            kernels: Vec::new(),
            globals: Vec::new(),
            functions: Vec::new(),
        }
    }

    /// Its kernels, in the order of the text.
    pub fn kernels(&self) -> &[Arc<Kernel>] {
        &self.kernels
    }

    /// The kernel with this name.
    pub fn kernel(&self, name: &str) -> Option<&Arc<Kernel>> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }

    /// Its variables in global and constant memory. `LaunchArgs::globals` of `cuprum-engine` lists their addresses in
    /// this order.
    pub fn globals(&self) -> &[Global] {
        &self.globals
    }

    /// Names of all functions; a function's index fixes its address, see [`RelocationTarget::Function`].
    pub fn functions(&self) -> &[String] {
        &self.functions
    }

    /// `.version`.
    pub fn version(&self) -> (u32, u32) {
        self.version
    }

    /// `.target`: the architecture, such as `sm_90`.
    pub fn target(&self) -> &str {
        &self.target
    }
}

impl Kernel {
    /// Registers that may be read before anybody has written them.
    #[doc(hidden)]
    #[inline]
    pub fn unwritten(&self) -> &Unwritten {
        self.unwritten.get_or_init(|| Unwritten::find(self))
    }

    /// True if its code, with the functions that it may call, calls a function of the device.
    #[doc(hidden)]
    pub fn calls(&self, system: SystemCall) -> bool {
        self.system_calls.contains(&system)
    }

    /// Name as in the PTX.
    #[inline]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Parameters in order.
    #[inline]
    pub fn params(&self) -> &[Param] {
        &self.params
    }

    /// Bytes of the parameter buffer.
    pub fn param_bytes(&self) -> u32 {
        self.params.last().map_or(0, |last| last.offset + last.size)
    }

    /// Bytes of shared memory that the kernel declares.
    pub fn static_shared(&self) -> u32 {
        self.static_shared
    }

    /// Bytes of local memory of each thread, called functions not included.
    pub fn local_bytes(&self) -> u32 {
        self.frame
    }

    /// Most threads that a block may have, from `.maxntid` or `.reqntid`.
    pub fn max_threads(&self) -> Option<u32> {
        self.max_threads
    }

    /// The block size that `.reqntid` demands.
    pub fn required_threads(&self) -> Option<[u32; 3]> {
        self.required_threads
    }

    /// What it says of clusters.
    pub fn cluster(&self) -> ClusterBounds {
        self.cluster
    }

    /// An estimate of the registers of a thread: what the software device uses, at most 255.
    pub fn registers(&self) -> u32 {
        self.rows.clamp(8, 255)
    }
}

impl fmt::Debug for Kernel {
    /// By its name: its code is long.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Puts constants in the order of their registers.
#[doc(hidden)]
pub fn sort_constants(constants: &mut Vec<(Register, Width, Constant)>) {
    sort_by_number(constants, |(register, ..)| register.0.into());
}
