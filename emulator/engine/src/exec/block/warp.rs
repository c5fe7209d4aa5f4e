//! A warp: its registers, and its divergent paths.

pub(in crate::exec) use super::products::LateProduct;
use super::products::LateProducts;
use super::rows::{Rows, Saved};
use super::stack::{FRAME_ALIGN, StackPointers};
use crate::exec::check::nans::Nans;
use crate::exec::check::registers::WrittenRegisters;
use crate::exec::check::shadow::Written;
use crate::program::unwritten::Unwritten;
use crate::program::{Kernel, RowKind};
use crate::semantics::{LANES, Width};
use std::sync::Arc;

/// Reason why a divergent path waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::exec) enum Wait {
    Ready,
    Barrier(u32),
    Cluster,
    /// Other lanes of its warp, at the collective instruction where it waits.
    Collective,
    /// The other warps of its warp group, at the end of their products.
    Group,
}

#[derive(Debug)]
pub(in crate::exec) struct Frame {
    pub(in crate::exec) return_pc: u32,
    pub(in crate::exec) function: u32,
    pub(in crate::exec) parent: Option<Arc<Frame>>,
    pub(in crate::exec) depth: u32,
    pub(in crate::exec) local_base: u32,
    /// Stack pointers that its return restores in each of its lanes.
    pub(in crate::exec) callers_stack: StackPointers,
    /// Registers of the caller's instance of this function, if it called itself.
    pub(in crate::exec) saved: Option<Saved>,
    /// The functions of this frame and of all its callers, one bit each.
    pub(in crate::exec) functions: Arc<[u64]>,
}

impl Frame {
    /// Returns the functions of the calling frame and the called one, one bit for each of `count`.
    /// Also returns true if the called one was among them.
    pub(in crate::exec) fn functions(
        parent: Option<&Arc<Frame>>,
        function: u32,
        count: usize,
    ) -> (Arc<[u64]>, bool) {
        let (word, bit) = (function as usize / 64, 1u64 << (function % 64));
        let above = match parent {
            Some(frame) => Arc::clone(&frame.functions),
            None => vec![0; count.div_ceil(64)].into(),
        };
        if above.get(word).is_some_and(|functions| functions & bit != 0) {
            return (above, true);
        }
        let mut functions = above.to_vec();
        functions[word] |= bit;
        (functions.into(), false)
    }
}

impl Drop for Frame {
    /// Drops the frames iteratively, because the chain may exceed the host's stack.
    fn drop(&mut self) {
        let mut next = self.parent.take();
        while let Some(mut frame) = next.and_then(Arc::into_inner) {
            next = frame.parent.take();
        }
    }
}

/// Branches of the divergent paths of a warp after which the one that runs lets the others run.
pub(in crate::exec) const FUEL: u32 = 4096;

/// Instructions as which an exchange counts that changes nothing, and a volatile or ordered load
/// that repeats the last one: a warp that waits for a lock or for a value soon ends its turn.
pub(in crate::exec) const FAILED_ATTEMPT: u32 = 1000;

/// A divergent path: lanes at the same instruction of the same call.
#[derive(Clone, Debug)]
pub(in crate::exec) struct DivergentPath {
    pub(in crate::exec) pc: u32,
    pub(in crate::exec) mask: u32,
    pub(in crate::exec) frame: Option<Arc<Frame>>,
    pub(in crate::exec) wait: Wait,
    /// True if it has used up its share while other paths wait, which now run first.
    pub(in crate::exec) tired: bool,
}

impl DivergentPath {
    fn depth(&self) -> u32 {
        self.frame.as_ref().map_or(0, |frame| frame.depth)
    }

    fn same_place(&self, other: &DivergentPath) -> bool {
        let same_frame = match (&self.frame, &other.frame) {
            (None, None) => true,
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => false,
        };
        same_frame && self.pc == other.pc
    }
}

/// A warp: 32 threads, fewer in the last warp of a block.
#[derive(Debug)]
pub(in crate::exec) struct Warp {
    pub(in crate::exec) index: u32,
    pub(in crate::exec) rows: Rows,
    pub(in crate::exec) paths: Vec<DivergentPath>,
    /// Branches left to its divergent paths until the one that runs lets the others run. Counted
    /// for all of them and over turns, because lanes that spin may part and meet again.
    pub(in crate::exec) fuel: u32,
    /// Position of its last load that was volatile or had an order.
    polled: u32,
    /// Lanes that have a thread and have not exited.
    pub(in crate::exec) live: u32,
    /// True if all its registers are in rows, so that it must run the code without scalars.
    pub(in crate::exec) rows_only: bool,
    /// Lanes that have arrived at the barrier of the cluster in the current phase.
    pub(in crate::exec) announced: u32,
    pub(in crate::exec) products: LateProducts,
    /// Local memory, lane by lane, up to the maximum used.
    pub(in crate::exec) local: Vec<u8>,
    pub(in crate::exec) local_stride: u32,
    pub(in crate::exec) stack: StackPointers,
    /// Written bytes of local memory, if a check needs it.
    pub(in crate::exec) local_written: Option<Written>,
    /// Position and lanes of each exit, if a check needs it.
    pub(in crate::exec) exits: Vec<(u32, u32)>,
    pub(in crate::exec) registers: Box<WrittenRegisters>,
    /// NaNs that the kernel has computed, if a check needs it.
    pub(in crate::exec) nans: Nans,
}

impl Warp {
    pub(in crate::exec) fn new(kernel: &Kernel, index: u32) -> Self {
        Warp {
            index,
            rows: Rows::new(kernel.rows, kernel.predicates),
            paths: Vec::new(),
            fuel: FUEL,
            polled: u32::MAX,
            live: 0,
            rows_only: true,
            announced: 0,
            products: LateProducts::default(),
            local: Vec::new(),
            local_stride: 0,
            stack: [0; LANES],
            local_written: None,
            registers: Box::default(),
            nans: Nans::default(),
            exits: Vec::new(),
        }
    }

    pub(in crate::exec) fn paths(&self) -> &[DivergentPath] {
        &self.paths
    }

    pub(in crate::exec) fn bytes(&self) -> usize {
        self.rows.bytes() + self.local.len()
    }

    pub(in crate::exec) fn start(&mut self, live: u32, kernel: &Kernel, unwritten: &Unwritten) {
        for predicate in &unwritten.predicates {
            self.rows.set_predicate(*predicate, u32::MAX, 0);
        }
        for register in &unwritten.registers {
            let wide = kernel.row_kinds[register.0 as usize] == RowKind::Lower;
            self.rows.fill(*register, if wide { Width::Double } else { Width::Single }, 0);
        }
        self.live = live;
        self.announced = 0;
        self.products.clear();
        if let Some(written) = &mut self.local_written {
            written.start(self.local.len());
        }
        self.exits.clear();
        self.paths.clear();
        self.fuel = FUEL;
        self.polled = u32::MAX;
        if live != 0 {
            self.paths.push(DivergentPath {
                pc: 0,
                mask: live,
                frame: None,
                wait: Wait::Ready,
                tired: false,
            });
        }
        self.stack = [kernel.frame.next_multiple_of(FRAME_ALIGN); LANES];
        self.grow_local(kernel.frame);
    }

    /// Ends all lanes, where no check inspects the ends of lanes.
    #[cfg(feature = "compile")]
    #[inline]
    pub(in crate::exec) fn end(&mut self) {
        self.live = 0;
        self.paths.clear();
    }

    /// Provides `bytes` of local memory per lane.
    #[inline]
    pub(in crate::exec) fn grow_local(&mut self, bytes: u32) {
        if bytes > self.local_stride {
            self.widen_local(bytes);
        }
    }

    #[cold]
    fn widen_local(&mut self, bytes: u32) {
        let stride = bytes.next_power_of_two().max(64);
        let mut local = vec![0; stride as usize * LANES];
        for lane in 0..LANES {
            let old = lane * self.local_stride as usize;
            let new = lane * stride as usize;
            local[new..new + self.local_stride as usize]
                .copy_from_slice(&self.local[old..old + self.local_stride as usize]);
        }
        if let Some(written) = &mut self.local_written {
            written.widen(LANES, self.local_stride as usize, stride as usize);
        }
        self.local = local;
        self.local_stride = stride;
    }

    /// Merges ready divergent paths at the same position.
    pub(in crate::exec) fn merge(&mut self) {
        let mut i = 0;
        while i < self.paths.len() {
            let mut j = i + 1;
            while j < self.paths.len() {
                let (a, b) = (&self.paths[i], &self.paths[j]);
                if a.wait == b.wait && a.same_place(b) {
                    let other = self.paths.swap_remove(j);
                    self.paths[i].mask |= other.mask;
                    self.paths[i].tired |= other.tired;
                } else {
                    j += 1;
                }
            }
            i += 1;
        }
    }

    /// Notes a load that is volatile or has an order. Returns true if the last one was the same.
    #[inline]
    pub(in crate::exec) fn polls(&mut self, pc: u32) -> bool {
        std::mem::replace(&mut self.polled, pc) == pc
    }

    /// Counts a branch of one of several paths. Returns true if the others run first now.
    #[inline]
    pub(in crate::exec) fn tires(&mut self, path: usize) -> bool {
        self.fuel -= 1;
        if self.fuel > 0 {
            return false;
        }
        self.tire(path);
        true
    }

    /// Lets the other paths run before this one.
    pub(in crate::exec) fn tire(&mut self, path: usize) {
        self.fuel = FUEL;
        self.paths[path].tired = true;
    }

    /// Returns the ready divergent path to run: the deepest call, then the first block in reverse
    /// post-order. Paths that have used up their share wait until all have.
    pub(in crate::exec) fn next(&mut self, kernel: &Kernel) -> Option<usize> {
        let key = |path: &DivergentPath| {
            let rank = kernel.ranks.get(path.pc as usize).copied().unwrap_or(0);
            (path.tired, u32::MAX - path.depth(), rank, path.pc)
        };
        let ready = self.paths.iter().enumerate().filter(|(_, path)| path.wait == Wait::Ready);
        let (index, _) = ready.min_by_key(|(_, path)| key(path))?;
        if self.paths[index].tired {
            self.paths.iter_mut().for_each(|path| path.tired = false);
        }
        Some(index)
    }
}
