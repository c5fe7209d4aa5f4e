//! One fault of one kernel.

use super::FaultKind;
use crate::memory::Neighbor;
use core::fmt;
use cuprum_sys::CUresult;

/// The memory access that caused a fault.
///
/// ```
/// use cuprum_engine::report::Access;
///
/// /// For example "store of 4 bytes at 0x75c0045a0".
/// fn text(access: &Access) -> String {
///     format!("{} of {} bytes at {:#x}", if access.is_write { "store" } else { "load" }, access.size, access.address)
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Access {
    /// The state space as PTX names it: `global`, `shared`, `local`, `const`, `param`.
    pub space: &'static str,
    /// The address; an offset for shared and local memory.
    pub address: u64,
    /// Bytes accessed by one thread.
    pub size: u32,
    /// True for a store or an atomic.
    pub is_write: bool,
    /// The allocation closest to the address, for global memory; `None` for null and host pointers.
    pub allocation: Option<Neighbor>,
}

/// Another location: the second access of a race, or a barrier at which threads wait.
///
/// ```
/// use cuprum_engine::report::Fault;
///
/// /// The threads that take part in a race or wait at a barrier, besides the faulting thread.
/// fn others(fault: &Fault) -> Vec<([u32; 3], [u32; 3])> {
///     fault.related.iter().map(|related| (related.block, related.thread)).collect()
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Related {
    /// Description of the event at this location.
    pub note: String,
    /// The block.
    pub block: [u32; 3],
    /// The thread within its block.
    pub thread: [u32; 3],
    /// The line in the PTX, counted from 1; 0 if not known.
    pub ptx_line: u32,
    /// The file and line in the source, when the PTX was compiled with line information.
    pub source: Option<(String, u32)>,
}

/// One fault of one kernel: its kind, thread and location.
///
/// `Display` writes several lines; [`Fault::one_line`] returns the first of them.
///
/// # Example
/// ```
/// # use cuprum_engine as cuprum_emulator;
/// use cuprum_emulator::report::{Access, Fault, FaultKind, Hazard, Related};
///
/// /// One line for a log; `last_fault()` returns the fault after a call that failed.
/// fn line(fault: &Fault) -> String {
///     let at = fault.access.as_ref().map_or(String::new(), |Access { address, .. }| format!(" at {address:#x}"));
///     let beside: Vec<&str> = fault.related.iter().map(|Related { note, .. }| note.as_str()).collect();
///     format!("{}:{} {:?}{at} {}", fault.kernel, fault.ptx_line, fault.kind, beside.join(", "))
/// }
///
/// let race = FaultKind::Race(Hazard::ReadAfterWrite);
/// assert_eq!(line(&Fault::new(race, "sum")).trim(), "sum:0 Race(ReadAfterWrite)");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fault {
    /// Kind of the fault.
    pub kind: FaultKind,
    /// The kernel's name as in the PTX.
    pub kernel: String,
    /// The block of the first faulting thread.
    pub block: [u32; 3],
    /// The first faulting thread, within its block.
    pub thread: [u32; 3],
    /// The threads of its warp with the same fault, one bit each.
    pub lanes: u32,
    /// The line in the PTX, counted from 1; 0 if not known.
    pub ptx_line: u32,
    /// The text of this line.
    pub ptx_text: String,
    /// The file and line in the source, when the PTX was compiled with line information.
    pub source: Option<(String, u32)>,
    /// The access, for a memory fault.
    pub access: Option<Access>,
    /// Other locations that take part.
    pub related: Vec<Related>,
}

impl Fault {
    /// Creates a fault of which only the kind and the kernel are known.
    pub fn new(kind: FaultKind, kernel: impl Into<String>) -> Self {
        Self {
            kind,
            kernel: kernel.into(),
            block: [0; 3],
            thread: [0; 3],
            lanes: 0,
            ptx_line: 0,
            ptx_text: String::new(),
            source: None,
            access: None,
            related: Vec::new(),
        }
    }

    /// Returns the code that the driver reports for it.
    pub fn code(&self) -> CUresult {
        self.kind.code()
    }

    /// Returns the fault in one line, without the advice and the related locations.
    pub fn one_line(&self) -> String {
        let mut line = format!("{} in kernel `{}`", self.kind, self.kernel);
        if let Some(access) = &self.access {
            line += &format!(": {} of {} bytes at {:#x}", access.verb(), access.size, access.address);
        }
        line += &format!(", block {}, thread {}", Triple(self.block), Triple(self.thread));
        if self.ptx_line != 0 {
            line += &format!(", PTX line {}", self.ptx_line);
        }
        line
    }
}

impl Access {
    fn verb(&self) -> &'static str {
        if self.is_write { "store" } else { "load" }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} in kernel `{}`", self.kind, self.kernel)?;
        write!(f, "  block {}, thread {}", Triple(self.block), Triple(self.thread))?;
        let others = self.lanes.count_ones().saturating_sub(1);
        if others > 0 {
            write!(f, " and {others} more of its warp")?;
        }
        if let Some((file, line)) = &self.source {
            write!(f, "\n  at {file}:{line}")?;
        }
        if self.ptx_line != 0 {
            write!(f, "\n  PTX line {}:", self.ptx_line)?;
            for word in self.ptx_text.split_whitespace() {
                write!(f, " {word}")?;
            }
        }
        if let Some(access) = &self.access {
            write!(
                f,
                "\n  {} of {} bytes at {:#x} ({} memory)",
                access.verb(),
                access.size,
                access.address,
                access.space
            )?;
            match &access.allocation {
                Some(allocation) => write!(f, "\n  {allocation}")?,
                None if self.kind.is_access() && access.space == "global" => {
                    f.write_str("\n  no allocation is anywhere near")?;
                }
                None => {}
            }
        }
        for related in &self.related {
            write!(
                f,
                "\n  {}: block {}, thread {}",
                related.note,
                Triple(related.block),
                Triple(related.thread)
            )?;
            if related.ptx_line != 0 {
                write!(f, ", PTX line {}", related.ptx_line)?;
            }
            if let Some((file, line)) = &related.source {
                write!(f, ", {file}:{line}")?;
            }
        }
        Ok(())
    }
}

struct Triple([u32; 3]);

impl fmt::Display for Triple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.0;
        write!(f, "({x},{y},{z})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Memory, Request};

    #[test]
    fn a_report_names_thread_line_and_missed_allocation() {
        let memory = Memory::new(1, 1 << 20, false);
        let region = memory.alloc(&Request::device(4000, 1, 0)).unwrap();
        let address = region.base + 4008;
        let fault = Fault {
            block: [3, 0, 0],
            thread: [232, 0, 0],
            lanes: 0b111 << 8,
            ptx_line: 49,
            ptx_text: "\tld.global.nc.f32 \t%f2, [%rd6];".into(),
            source: Some(("saxpy.cu".into(), 7)),
            access: Some(Access {
                space: "global",
                address,
                size: 4,
                is_write: false,
                allocation: memory.snapshot().nearest(address),
            }),
            ..Fault::new(FaultKind::OutOfBounds, "saxpy")
        };
        assert_eq!(
            fault.one_line(),
            format!(
                "out-of-bounds access in kernel `saxpy`: load of 4 bytes at {address:#x}, \
                 block (3,0,0), thread (232,0,0), PTX line 49"
            )
        );
        assert_eq!(
            fault.to_string(),
            format!(
                "out-of-bounds access in kernel `saxpy`\n  \
                 block (3,0,0), thread (232,0,0) and 2 more of its warp\n  \
                 at saxpy.cu:7\n  \
                 PTX line 49: ld.global.nc.f32 %f2, [%rd6];\n  \
                 load of 4 bytes at {address:#x} (global memory)\n  \
                 8 bytes past the end of allocation #1 (4000 bytes of device memory)"
            )
        );
        assert_eq!(fault.code().0, 700);
    }

    #[test]
    fn each_class_has_the_drivers_code() {
        let codes = [
            (FaultKind::UseAfterFree, 700),
            (FaultKind::Misaligned, 716),
            (FaultKind::Trap, 719),
            (FaultKind::Assert { expression: "x > 0".into(), function: "f".into() }, 710),
            (FaultKind::Timeout, 702),
            (FaultKind::StackOverflow, 700),
            (FaultKind::InvalidCode, 718),
        ];
        for (kind, code) in codes {
            assert_eq!(kind.code().0, code, "{kind}");
        }
    }
}
