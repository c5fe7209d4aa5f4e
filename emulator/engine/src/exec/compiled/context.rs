//! The state that machine code uses, and the functions that it calls.

use super::quads::MOST_LANES;
use super::support::Area;
use crate::exec::access::{Request, Writers, change, find_window, place};
use crate::exec::block::cached::{Cached, InCall, Limits, Reach};
use crate::exec::block::{Block, Site, Stop};
use crate::program::instruction::Op;
use crate::program::memory::{Address, Atomic, AtomicOperation};
use crate::ptx::Space;
use crate::semantics::{LANES, PureInfo, Register, TestInfo, Width};
use std::ffi::c_void;
use std::mem::{MaybeUninit, offset_of};

impl Reach {
    pub(super) const BYTES: i32 = size_of::<Reach>() as i32;
    pub(super) const BASE: i32 = offset_of!(Reach, base) as i32;
    pub(super) const LIMIT: i32 = offset_of!(Reach, limit) as i32;
    pub(super) const ROW_LIMIT: i32 = offset_of!(Reach, row_limit) as i32;
    pub(super) const DELTA: i32 = offset_of!(Reach, delta) as i32;
}

/// The state of a run of lanes. Machine code reads it by the offsets below.
#[repr(C)]
pub(super) struct Context {
    pub(super) rows: *mut u32,
    pub(super) predicates: *mut u32,
    pub(super) caches: *mut Reach,
    /// Bounds of the regions that are known before the launch.
    pub(super) bounds: *const u64,
    /// Lanes at each stop.
    pub(super) stops: *mut u32,
    /// Stops with lanes.
    pub(super) list: *mut u32,
    pub(super) listed: u64,
    /// Memory that stands in for accesses of quads.
    pub(super) spare: *mut u64,
    pub(super) shared: *mut u8,
    pub(super) local: *mut u8,
    pub(super) local_stride: u64,
    /// Address of local memory for accesses that name no space.
    pub(super) local_window: u64,
    /// Records of the written bytes of shared and local memory, if a check needs them.
    pub(super) shared_written: *mut u8,
    pub(super) local_written: *mut u8,
    /// Offset of the frame of the running function in local memory.
    pub(super) local_base: u32,
    /// The same before a lane makes calls.
    pub(super) first_base: u32,
    /// Stack pointer of each lane, and the bytes of local memory that calls may use.
    pub(super) stack: *mut u32,
    pub(super) most_stack: u32,
    /// Depth of the running call, and before a lane makes calls.
    pub(super) depth: u32,
    pub(super) first_depth: u32,
    /// Records of the calls of the running lane: the first, the end of the last, the end of the
    /// memory.
    pub(super) records: *mut u64,
    pub(super) top: *mut u64,
    pub(super) records_end: *mut u64,
    /// Address of the first function.
    pub(super) code: u64,
    /// Instructions that each lane may spend in loops.
    pub(super) fuel: u32,
    /// Instructions lent to a lane for each call until it returns.
    pub(super) loan: u32,
    pub(super) shared_base: u32,
    /// Instructions spent in loops by lanes that ran together.
    pub(super) spent: u64,
    /// Instructions spent in loops by lanes that ran one by one.
    pub(super) single: u64,
    /// The running lane.
    pub(super) lane: u32,
    /// Nonzero after a fault of the running lane.
    pub(super) failed: u32,
    /// Nonzero if nothing else writes global memory during this run.
    pub(super) alone: u32,
    /// Position at which single lanes of a quad end their run, and the lanes that did.
    pub(super) until: u32,
    pub(super) joined: u32,
    /// Number of times that the lanes of a quad have parted.
    pub(super) parted: u64,
    /// Nonzero if some lanes of a quad ran one by one.
    pub(super) apart: u32,
    /// Address of this context.
    pub(super) own: *mut Context,
    /// Arguments and result of the last rare call.
    pub(super) arguments: [u64; Context::PLACES + MOST_LANES],
    pub(super) result: u64,
    /// The last number that was computed at once.
    pub(super) computed: [u64; 2],
    /// The words of all lanes for a shuffle.
    pub(super) shuffled: [u32; LANES],
    pub(super) limits: Limits,
    /// A `Block`, exclusively used by these functions while machine code runs.
    pub(super) block: *mut c_void,
    pub(super) warp: usize,
    pub(super) fault: Option<(u32, Stop)>,
}

macro_rules! offsets {
    ($($name:ident = $($field:ident).+;)*) => {
        impl Context { $(pub(super) const $name: i32 = offset_of!(Context, $($field).+) as i32;)* }
    };
}

offsets! {
    ROWS = rows; PREDICATES = predicates; CACHES = caches; BOUNDS = bounds; STOPS = stops; LIST = list; LISTED = listed;
    SPARE = spare; SHARED = shared; LOCAL = local; STRIDE = local_stride; LOCAL_WINDOW = local_window; SHARED_WRITTEN = shared_written; LOCAL_WRITTEN = local_written;
    LOCAL_BASE = local_base; FUEL = fuel; LOAN = loan; SHARED_BASE = shared_base;
    FIRST_BASE = first_base; STACK = stack; MOST_STACK = most_stack; DEPTH = depth; FIRST_DEPTH = first_depth;
    RECORDS = records; TOP = top; RECORDS_END = records_end; CODE = code;
    SPENT = spent; SINGLE = single; LANE = lane; FAILED = failed; ALONE = alone; UNTIL = until; JOINED = joined; PARTED = parted; APART = apart; OWN = own; ARGUMENTS = arguments; RESULT = result; COMPUTED = computed; SHUFFLED = shuffled;
    SHARED_LIMITS = limits.shared; LOCAL_LIMITS = limits.local; SHARED_ROW_LIMITS = limits.shared_rows;
}

impl Context {
    /// Position among the arguments of the first address for [`find_each`].
    pub(super) const PLACES: usize = 3;

    /// Asks again whether anything else writes global memory: a check may have called the client.
    fn ask_if_alone(&mut self, block: &Block<'_, '_>) {
        self.alone = block.launch.writer.is_alone().into();
    }

    fn record(&mut self, pc: u32, fault: Stop) {
        self.failed = 1;
        match &mut self.fault {
            Some((first, known)) if *first == pc && known.kind == fault.kind => known.lanes |= fault.lanes,
            Some((first, _)) if *first <= pc => {}
            slot => *slot = Some((pc, fault)),
        }
    }
}

/// Returns the memory request of an instruction, without its order, which no check needs here.
fn request(op: &Op, address: u64) -> Option<Request> {
    Some(match op {
        Op::Load(access) => {
            let bytes = access.total_bytes();
            Request::read(access.space, address, bytes, access.cache)
        }
        Op::Store(access) => {
            let bytes = access.total_bytes();
            Request::write(access.space, address, bytes, access.cache)
        }
        Op::Atomic(atomic) if atomic.operation == AtomicOperation::Exchange => {
            Request::write(atomic.space, address, atomic.ty.bytes(), atomic.cache)
        }
        Op::Atomic(atomic) => Request::update(atomic.space, address, atomic.ty.bytes(), atomic.cache),
        _ => return None,
    })
}

fn size_of_access(op: &Op) -> (u32, usize, bool, Option<Space>) {
    match op {
        Op::Load(access) | Op::Store(access) => {
            let bytes = access.total_bytes();
            (bytes, access.cache as usize, matches!(op, Op::Store(_)), access.space)
        }
        Op::Atomic(atomic) => (atomic.ty.bytes(), atomic.cache as usize, true, atomic.space),
        _ => (1, 0, true, None),
    }
}

/// Finds the bytes of an access of the running lane; null after a fault.
///
/// # Safety
/// The context and its block are valid, and nothing else uses them now.
pub(super) unsafe extern "C" fn find(context: *mut Context, pc: u32, address: u64) -> *mut u8 {
    // SAFETY: guaranteed by the caller.
    let context = unsafe { &mut *context };
    let lane = context.lane as usize;
    // SAFETY: guaranteed by the caller.
    unsafe { find_in_lane(context, (pc, lane), address) }.unwrap_or(std::ptr::null_mut())
}

/// Finds the bytes of an access of some of the lanes that run together, from a first one on. The
/// context has an address for each. Writes the places over the addresses, and for other lanes one
/// of these. Returns zero after a fault.
///
/// # Safety
/// As for `find`.
pub(super) unsafe extern "C" fn find_each(context: *mut Context, pc: u32, lanes: u32, first: u32) -> u64 {
    // SAFETY: guaranteed by the caller.
    let context = unsafe { &mut *context };
    let (mut places, mut one, mut good) = ([None; MOST_LANES], 0, true);
    for lane in (0..MOST_LANES).filter(|lane| lanes >> lane & 1 != 0) {
        let address = context.arguments[Context::PLACES + lane];
        // SAFETY: guaranteed by the caller.
        let host = unsafe { find_in_lane(context, (pc, first as usize + lane), address) };
        good &= host.is_some();
        one = host.map_or(one, |host| host.addr() as u64);
        places[lane] = host.map(|_| one);
    }
    let found = places.map(|place| place.unwrap_or(one));
    context.arguments[Context::PLACES..].copy_from_slice(&found);
    good.into()
}

/// Performs a load or store of some of the lanes that run together, which are the bits of `lanes`
/// from a first one on. The context has the address of the first, and lanes are `step` bytes apart,
/// there and in spare memory, where a load leaves the elements and a store has them. Returns zero
/// after a fault.
///
/// # Safety
/// As for `find`. `spare` is the place of the first lane in spare memory, which contains the
/// elements of all.
pub(super) unsafe extern "C" fn move_row(context: *mut Context, pc: u32, first: u32, spare: *mut u8) -> u64 {
    // SAFETY: guaranteed by the caller.
    let context = unsafe { &mut *context };
    let [address, step, count] = std::array::from_fn(|index| context.arguments[Context::PLACES + index]);
    // SAFETY: guaranteed by the caller.
    let block = unsafe { &*context.block.cast::<Block<'_, '_>>() };
    let op = &block.instruction(pc).op;
    let (Op::Load(access) | Op::Store(access)) = op else { return 0 };
    let (bytes, writes, Address { width, offset, .. }) =
        (access.total_bytes(), matches!(op, Op::Store(_)), access.address);
    let base = address.wrapping_sub(offset as u64);
    let mut places = [None; MOST_LANES];
    for (lane, place) in places.iter_mut().enumerate().take(count as usize) {
        let base = base.wrapping_add(step.wrapping_mul(lane as u64));
        let base = if width == Width::Double { base } else { u64::from(base as u32) };
        // SAFETY: guaranteed by the caller.
        *place =
            unsafe { find_in_lane(context, (pc, first as usize + lane), base.wrapping_add(offset as u64)) };
    }
    if places.iter().flatten().count() != count as usize {
        return 0;
    }
    for (lane, place) in places.into_iter().flatten().enumerate() {
        let spare = spare.wrapping_offset((step as isize).wrapping_mul(lane as isize));
        let (from, to) = if writes { (spare, place) } else { (place, spare) };
        // SAFETY: the place was found for these bytes, and the caller guarantees the others.
        unsafe { std::ptr::copy_nonoverlapping(from, to, bytes as usize) };
    }
    1
}

/// # Safety
/// The block of the context is valid, and nothing else uses it now.
unsafe fn find_in_lane(context: &mut Context, (pc, lane): (u32, usize), address: u64) -> Option<*mut u8> {
    // SAFETY: guaranteed by the caller.
    let block = unsafe { &mut *context.block.cast::<Block<'_, '_>>() };
    let op = &block.instruction(pc).op;
    let (bytes, cache, _, space) = size_of_access(op);
    if Area::of(space) == Area::Region {
        if let Some(host) = block.machine.found_before(cache, address, bytes) {
            return Some(std::ptr::with_exposed_provenance_mut(host as usize));
        }
    }
    let site = Site { warp: context.warp, pc, lane };
    let found = place(block, site, request(op, address)?);
    context.ask_if_alone(block);
    match found {
        Ok(place) => {
            remember(block, op, site.warp, address);
            Some(place.host)
        }
        Err(fault) => {
            context.record(pc, fault);
            None
        }
    }
}

/// Prepares the next access of an instruction to the same memory.
fn remember(block: &mut Block<'_, '_>, op: &Op, warp: usize, address: u64) {
    let (bytes, cache, write, space) = size_of_access(op);
    let found = match space {
        None | Some(Space::Global | Space::Const) => Some(block.caches[cache]),
        _ => None,
    };
    let found = found
        .filter(|found| found.contains(address, bytes))
        .or_else(|| lasting_window(block, space, warp, address));
    let Some(found) = found else { return };
    let usable = found.init.is_null() && found.marks.is_null() && (found.writable || !write);
    // A power of two, as machine code assumes too.
    let shift = bytes.trailing_zeros();
    if usable && found.base.trailing_zeros() >= shift {
        let limit = found.len >> shift;
        let delta = (found.host.addr() as u64).wrapping_sub(found.base);
        let row_limit = Reach::row_limit(limit);
        block.machine.remember(cache, Reach { base: found.base, limit, row_limit, delta });
    }
}

/// Returns memory outside of regions that stays at its place for all lanes of all blocks of a
/// worker, and whose accesses no check has to see.
fn lasting_window(
    block: &mut Block<'_, '_>,
    space: Option<Space>,
    warp: usize,
    address: u64,
) -> Option<Cached> {
    match find_window(block, warp, space, address)? {
        // A volatile load is an atomic one, which has to be aligned on the host too.
        (Space::Param, found) => (found.host.addr() % size_of::<u64>() == 0).then_some(found),
        (Space::Shared, found) => (!block.launch.watches() && !block.launch.is_clustered()).then_some(found),
        _ => None,
    }
}

/// Performs an atomic operation that has no machine code at a host address, in the space that the
/// instruction names. Returns the old value.
///
/// # Safety
/// As for `find`. The access was checked: its bytes are writable, aligned, and in live memory.
pub(super) unsafe extern "C" fn change_at(
    context: *mut Context,
    pc: u32,
    host: *mut u8,
    a: u64,
    b: u64,
) -> u64 {
    // SAFETY: guaranteed by the caller.
    let context = unsafe { &*context };
    // SAFETY: guaranteed by the caller.
    let block = unsafe { &*context.block.cast::<Block<'_, '_>>() };
    let Op::Atomic(atomic) = &block.instruction(pc).op else { return 0 };
    let Atomic { operation, ty, space, .. } = **atomic;
    let global = !matches!(space, Some(Space::Shared | Space::SharedCluster));
    let writers = Writers::of(global, || context.alone != 0);
    // SAFETY: guaranteed by the caller. Only this worker accesses shared memory.
    unsafe { change(host, ty.bytes(), (operation, ty), writers, [a, b]) }
}

/// Performs an atomic operation that has no machine code, at an address of any space. Returns the
/// old value.
///
/// # Safety
/// As for `find`.
pub(super) unsafe extern "C" fn atomic(context: *mut Context, pc: u32, address: u64, a: u64, b: u64) -> u64 {
    // SAFETY: guaranteed by the caller.
    let context = unsafe { &mut *context };
    // SAFETY: guaranteed by the caller.
    let block = unsafe { &mut *context.block.cast::<Block<'_, '_>>() };
    let op = &block.instruction(pc).op;
    let (Some(request), Op::Atomic(atomic)) = (request(op, address), op) else { return 0 };
    let Atomic { operation, ty, .. } = **atomic;
    let site = Site { warp: context.warp, pc, lane: context.lane as usize };
    let found = place(block, site, request);
    context.ask_if_alone(block);
    match found {
        Ok(place) => {
            let writers = Writers::of(place.global, || context.alone != 0);
            // SAFETY: `place` checked that the bytes are aligned and in live memory. Only this
            // worker accesses memory that is not global.
            unsafe { change(place.host, ty.bytes(), (operation, ty), writers, [a, b]) }
        }
        Err(fault) => {
            context.record(pc, fault);
            0
        }
    }
}

/// Keeps the records of the running lane, which stops in a function, and the registers of the stop
/// after them.
///
/// # Safety
/// As for `find`.
pub(super) unsafe extern "C" fn keep(context: *mut Context, stop: u64, count: u64) -> u64 {
    // SAFETY: guaranteed by the caller.
    let context = unsafe { &mut *context };
    // SAFETY: guaranteed by the caller.
    let block = unsafe { &mut *context.block.cast::<Block<'_, '_>>() };
    let words = (context.top.addr() - context.records.addr()) / size_of::<u64>();
    // SAFETY: machine code has written the records and registers, which begin and end in this
    // memory.
    let kept = unsafe { std::slice::from_raw_parts(context.records, words + count as usize) };
    let machine = &mut block.machine;
    let first = machine.kept.len();
    machine.kept.extend_from_slice(kept);
    let registers = first + words;
    let (lane, local_base) = (context.lane, context.local_base);
    machine.in_calls.push(InCall { lane, stop: stop as u32, local_base, first, registers });
    0
}

/// Number of rows of the small register file in which one operation runs: double ones for up to
/// four operands and the result.
const FILE: usize = 10;

/// Calls the function of an operation for one lane, from rare code.
///
/// # Safety
/// `info` is valid.
pub(super) unsafe extern "C" fn pure_cold(
    _: *mut Context,
    info: *const PureInfo,
    a: u64,
    b: u64,
    c: u64,
    d: u64,
) -> u64 {
    // SAFETY: guaranteed by the caller.
    unsafe { pure(info, a, b, c, d) }
}

/// Calls the function of an operation for one lane.
///
/// # Safety
/// `info` is valid.
pub(super) unsafe extern "C" fn pure(info: *const PureInfo, a: u64, b: u64, c: u64, d: u64) -> u64 {
    let mut file = [const { MaybeUninit::<u64>::uninit() }; FILE * LANES / 2];
    for (index, value) in [a, b, c, d].into_iter().enumerate() {
        file[index * LANES].write(value);
    }
    file[4 * LANES].write(0);
    let sources = [Register(0), Register(2), Register(4), Register(6)];
    // SAFETY: guaranteed by the caller.
    let info = unsafe { &*info };
    // SAFETY: the file has all rows, and the first lane of each has a value.
    unsafe { info.run(file.as_mut_ptr().cast(), Register(8), sources, 1) };
    // SAFETY: it was written above.
    unsafe { file[4 * LANES].assume_init() }
}

/// Calls the function of a comparison for one lane.
///
/// # Safety
/// `info` is valid.
pub(super) unsafe extern "C" fn test(info: *const TestInfo, a: u64, b: u64) -> u64 {
    let mut file = [const { MaybeUninit::<u64>::uninit() }; FILE * LANES / 2];
    file[0].write(a);
    file[LANES].write(b);
    // SAFETY: guaranteed by the caller.
    let info = unsafe { &*info };
    // SAFETY: the file has all rows, and the first lane of each has a value.
    unsafe { info.run(file.as_ptr().cast(), [Register(0), Register(2)], 1).into() }
}
