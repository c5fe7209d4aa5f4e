//! The state of machine code from one run of lanes to the next.

use super::code::Code;
use super::context::Context;
use super::quads::{self, MOST_LANES};
use crate::exec::block::cached::Limits;
use crate::exec::block::warp::Warp;
use crate::exec::block::{Block, Stop};
use crate::exec::check::shadow::Written;
use crate::program::MOST_LOCAL;
use crate::semantics::LANES;
use std::ptr::null_mut;

/// Instructions in loops after which a warp runs no other after it, so that other writers of memory
/// soon go on.
const MOST_SPENT: u64 = 1 << 16;

/// Runs lanes of the warps of a block as machine code.
pub(super) struct Runner<'c> {
    pub(super) code: &'c Code,
    context: Context,
    /// The stops of the last lanes that ran.
    list: [u32; LANES],
    /// The first of the warps that ran since the last end.
    first: usize,
    /// True if quads may run the threads of the block.
    quads: bool,
    /// Number of bytes of shared memory that machine code may access.
    shared_limit: u32,
    warp: usize,
    /// One bit for each warp whose registers have the shapes that quads expect: its quads examined
    /// them and have not parted since.
    regular: u32,
}

impl<'c> Runner<'c> {
    /// Prepares runs in which each lane has `loan` more instructions for each call.
    pub(super) fn new(block: &mut Block<'_, '_>, code: &'c Code, loan: u32) -> Self {
        // The plain mode tests accesses to the memory of a cluster.
        let tested = block.launch.options.check_init && block.cluster.is_some();
        Runner {
            code,
            context: of_launch(block, code, loan),
            list: [0; LANES],
            first: 0,
            quads: quads::fit(block.launch.args.block, code.lanes()),
            shared_limit: if tested { 0 } else { block.launch.shared_bytes },
            warp: 0,
            regular: 0,
        }
    }

    /// Prepares a run of lanes of a divergent path.
    #[inline]
    pub(super) fn aim(&mut self, block: &mut Block<'_, '_>, warp: usize, path: usize) {
        (self.first, self.warp) = (warp, warp);
        let state = &mut block.warps[warp];
        let stride = state.local_stride;
        let frame = state.paths[path].frame.as_ref();
        let (base, depth) = frame.map_or((0, 0), |frame| (frame.local_base, frame.depth));
        let context = &mut self.context;
        context.set_memory(state);
        (context.first_base, context.first_depth) = (base, depth);
        (context.local_base, context.depth) = (base, depth);
        if context.local_stride != u64::from(stride) {
            context.local_stride = stride.into();
            context.most_stack = stride.min(MOST_LOCAL);
            context.limits = block.machine.limits(self.shared_limit, stride);
        }
        context.top = context.records;
        context.list = self.list.as_mut_ptr();
        (context.listed, context.spent, context.single, context.parted) = (0, 0, 0, 0);
        (context.failed, context.apart) = (0, 0);
        (context.until, context.joined) = (u32::MAX, 0);
        context.alone = block.launch.writer.is_alone().into();
        context.warp = warp;
        context.block = std::ptr::from_mut(block).cast();
    }

    fn is_regular(&self, warp: usize) -> bool {
        self.regular >> (warp % LANES) & 1 != 0
    }

    /// Returns the last warp that has run.
    pub(super) fn warp(&self) -> usize {
        self.warp
    }

    /// Runs these lanes of a warp and of the next ones, as long as all lanes of each reach only
    /// this stop, and the next warp has the same lanes and as much is known of its registers.
    pub(super) fn run_alike(
        &mut self,
        block: &mut Block<'_, '_>,
        first: usize,
        (lanes, entry, fuel): (u32, u32, u32),
        stop: u32,
    ) {
        self.aim(block, first, 0);
        let (regular, stride) = (self.is_regular(first), block.warps[first].local_stride);
        let whole = self.code.whole(lanes, entry, (self.quads, regular));
        // Lanes may stop in calls.
        let Some((run, entry)) = whole.filter(|_| self.code.sites.is_empty()) else {
            return self.run(lanes, entry, fuel);
        };
        self.context.fuel = fuel;
        self.context.own = &raw mut self.context;
        for warp in first..block.warps.len() {
            if warp != first {
                let Context { listed, failed, apart, spent, single, .. } = self.context;
                let together = listed == 1 && self.list[0] == stop && failed | apart == 0;
                let state = &mut block.warps[warp];
                let alike = state.live == lanes
                    && state.local_stride == stride
                    && state.paths[0].frame.is_none()
                    && self.is_regular(warp) == regular;
                if !together || !alike || spent + single >= MOST_SPENT {
                    break;
                }
                block.machine.stops[stop as usize] = 0;
                self.warp = warp;
                let context = &mut self.context;
                context.set_memory(state);
                context.listed = 0;
                context.warp = warp;
                context.block = std::ptr::from_mut(block).cast();
            }
            // SAFETY: as in `run`. The pointers are of the block and of this warp.
            unsafe { run(&raw mut self.context, lanes, entry) };
        }
    }

    /// Runs lanes of the path from an entry to their stops, with `fuel` instructions in loops each.
    #[inline]
    pub(super) fn run(&mut self, lanes: u32, entry: u32, fuel: u32) {
        self.context.fuel = fuel;
        let regular = self.is_regular(self.warp);
        // SAFETY: `aim` took the pointers from the block, which has the rows, predicates, stops and
        // caches of the kernel and was not used since. The machine code checks each other access.
        // Each lane runs once, so it is listed at most once.
        unsafe { self.code.run(&raw mut self.context, lanes, entry, (self.quads, regular)) };
    }

    /// Ends the runs of these lanes, which are `all` of the warp or a part. Takes their
    /// instructions from the rest of a turn. Returns the number of their stops, or the fault of one
    /// of them.
    #[inline]
    pub(super) fn end(
        &mut self,
        block: &mut Block<'_, '_>,
        lanes: u32,
        all: bool,
        left: &mut u32,
    ) -> Result<usize, Stop> {
        let (first, warps) = (self.first, (self.warp - self.first) as u64 + 1);
        let count = warps * u64::from(lanes.count_ones().max(1));
        let Context { spent, single, parted, listed, apart, .. } = self.context;
        let spent = spent + single;
        if self.code.has_quads() {
            let partings = &mut block.machine.partings;
            partings.count += parted;
            partings.single += single;
            partings.instructions += spent + count * self.code.straight;
            (first..self.warp).for_each(|warp| self.regular |= 1 << (warp % LANES));
            let own = 1 << (self.warp % LANES);
            let regular = all && apart == 0 && listed == 1;
            self.regular = if regular { self.regular | own } else { self.regular & !own };
        }
        let used = if spent == 0 { 1 } else { 1 + spent / count };
        block.count_instructions(warps * used);
        *left = left.saturating_sub(u32::try_from(used).unwrap_or(u32::MAX));
        if self.context.fault.is_some() { self.fault() } else { Ok(listed as usize) }
    }

    #[cold]
    fn fault(&mut self) -> Result<usize, Stop> {
        self.context.fault.take().map_or(Ok(0), |(_, fault)| Err(fault))
    }

    /// Returns the stops of the last run, of which there are so many.
    pub(super) fn stops(&self, count: usize) -> &[u32] {
        &self.list[..count.min(LANES)]
    }
}

impl Context {
    /// Sets the memory of a warp.
    #[inline]
    fn set_memory(&mut self, warp: &mut Warp) {
        self.rows = warp.rows.base();
        self.predicates = warp.rows.predicates();
        self.local = warp.local.as_mut_ptr();
        self.local_written = warp.local_written.as_mut().map_or(null_mut(), Written::base);
        self.stack = warp.stack.as_mut_ptr();
    }
}

/// Returns the part of the state that is the same for all warps of a block.
fn of_launch(block: &mut Block<'_, '_>, code: &Code, loan: u32) -> Context {
    let records = block.machine.records.as_mut_ptr_range();
    Context {
        rows: null_mut(),
        predicates: null_mut(),
        caches: block.machine.caches.as_mut_ptr(),
        bounds: block.machine.bounds.as_ptr(),
        stops: block.machine.stops.as_mut_ptr(),
        list: null_mut(),
        listed: 0,
        spare: block.machine.spare.as_mut_ptr(),
        shared: block.shared(),
        local: null_mut(),
        local_stride: u64::MAX,
        local_window: block.launch.map.windows().local,
        shared_written: block.checks.shadow.written.base(),
        local_written: null_mut(),
        local_base: 0,
        first_base: 0,
        stack: null_mut(),
        most_stack: 0,
        depth: 0,
        first_depth: 0,
        records: records.start,
        top: records.start,
        records_end: records.end.wrapping_byte_sub(code.slack),
        code: block.launch.map.windows().code,
        fuel: 0,
        loan,
        shared_base: block.shared_base(),
        spent: 0,
        single: 0,
        lane: 0,
        failed: 0,
        alone: 0,
        until: u32::MAX,
        joined: 0,
        parted: 0,
        apart: 0,
        own: null_mut(),
        arguments: [0; Context::PLACES + MOST_LANES],
        result: 0,
        computed: [0; 2],
        shuffled: [0; LANES],
        limits: Limits::default(),
        block: null_mut(),
        warp: 0,
        fault: None,
    }
}
