//! Loads, stores and atomics: address to bytes, with every access checked.

use super::block::{Block, Stop};
use super::rows::Rows;
use super::semantics::{Width, lanes_of};
use super::shadow::{Memory, Touch};
use crate::memory::Region;
use crate::program::Register;
use crate::program::instruction::{Access, Address, Atomic, AtomicOperation, Order};
use crate::program::types::Type;
use crate::ptx::Space;
use crate::report::{self, FaultKind};
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Addresses below this are null pointers with an offset.
const NULL_PAGE: u64 = 4096;
/// The most that the device's range can span: what lies further below its windows, or above them, is no device address.
const DEVICE_RANGE: u64 = 1 << 40;

/// The region that a memory instruction found last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cached {
    pub(super) base: u64,
    pub(super) len: u64,
    pub(super) host: *mut u8,
    pub(super) writable: bool,
    pub(super) tracked: bool,
    /// Where it went last, and how far that was from the time before.
    pub(super) last: u64,
    pub(super) stride: u64,
}

impl Cached {
    pub(super) const EMPTY: Cached = Cached {
        base: 0,
        len: 0,
        host: std::ptr::null_mut(),
        writable: false,
        tracked: false,
        last: 0,
        stride: 0,
    };

    fn of(region: &Region) -> Self {
        Cached {
            base: region.base,
            len: region.len,
            host: region.host,
            writable: region.writable,
            tracked: region.init.is_some(),
            last: 0,
            stride: 0,
        }
    }
}

/// What a lane wants.
#[derive(Clone, Copy)]
pub(super) struct Request {
    space: Option<Space>,
    address: u64,
    bytes: u32,
    write: bool,
    order: Order,
    /// It makes a new value from the old one.
    update: bool,
    /// By an instruction that is atomic, with or without a result.
    atomic: bool,
    /// What a store writes, where that is known.
    stored: Option<Stored>,
    cache: usize,
}

/// The most bytes of one lane's access.
const MOST_BYTES: usize = 64;

/// The bytes of a store.
#[derive(Clone, Copy)]
struct Stored([u8; MOST_BYTES]);

impl Request {
    pub(super) fn read(space: Option<Space>, address: u64, bytes: u32, cache: u32) -> Self {
        Request {
            space,
            address,
            bytes,
            write: false,
            order: Order::Weak,
            update: false,
            atomic: false,
            stored: None,
            cache: cache as usize,
        }
    }

    pub(super) fn write(space: Option<Space>, address: u64, bytes: u32, cache: u32) -> Self {
        Request { write: true, ..Request::read(space, address, bytes, cache) }
    }

    pub(super) fn update(space: Option<Space>, address: u64, bytes: u32, cache: u32) -> Self {
        Request { update: true, ..Request::write(space, address, bytes, cache) }
    }

    pub(super) fn ordered(self, order: Order) -> Self {
        Request { order, ..self }
    }

    fn atomically(self, order: Order) -> Self {
        Request { order, atomic: true, ..self }
    }

    fn storing(self, stored: Option<Stored>) -> Self {
        Request { stored, ..self }
    }

    /// How it takes part in a race, given where its bytes are.
    fn touch(&self, host: *const u8) -> Touch {
        let count = self.bytes as usize;
        let same = self.stored.is_some_and(|stored| {
            let mut there = [0; MOST_BYTES];
            // SAFETY: the bytes of this access, found to be in live memory; no access has more than `MOST_BYTES`.
            unsafe { std::ptr::copy_nonoverlapping(host, there.as_mut_ptr(), count) };
            there[..count] == stored.0[..count]
        });
        Touch { write: self.write, order: self.order, update: self.update, atomic: self.atomic, same }
    }
}

/// An access found to be allowed: where its bytes are.
pub(super) struct Place {
    pub(super) host: *mut u8,
    /// Memory that other workers see.
    global: bool,
}

impl Block<'_, '_> {
    pub(super) fn lane_address(&self, warp: usize, address: &Address, lane: usize) -> u64 {
        let base = self.warps[warp].rows.get_wide(address.base, address.width, lane);
        base.wrapping_add_signed(address.offset)
    }

    pub(super) fn load(&mut self, warp: usize, pc: u32, access: &Access, active: u32) -> Result<(), Stop> {
        let count = access.registers.len() as u32;
        for lane in lanes_of(active) {
            let request = |block: &Self, lane| {
                let address = block.lane_address(warp, &access.address, lane);
                Request::read(access.space, address, access.bytes * count, access.cache).ordered(access.order)
            };
            let place = self.place_of(warp, pc, lane, active, request)?;
            for (element, register) in access.registers.iter().enumerate() {
                let at = place.host.wrapping_add(element * access.bytes as usize);
                // SAFETY: `place` checked that all bytes of the access lie in live memory, and are aligned.
                let raw = unsafe { read(at, access.bytes, access.order.is_strong() && place.global) };
                let value = if access.signed { sign_extend(raw, access.bytes) } else { raw };
                self.warps[warp].rows.set_wide(*register, access.width, lane, value);
            }
        }
        Ok(())
    }

    pub(super) fn store(&mut self, warp: usize, pc: u32, access: &Access, active: u32) -> Result<(), Stop> {
        let count = access.registers.len() as u32;
        for lane in lanes_of(active) {
            let request = |block: &Self, lane| {
                let address = block.lane_address(warp, &access.address, lane);
                Request::write(access.space, address, access.bytes * count, access.cache)
                    .ordered(access.order)
                    .storing(block.launch.options.check_races.then(|| block.stored_bytes(warp, access, lane)))
            };
            let place = self.place_of(warp, pc, lane, active, request)?;
            for (element, register) in access.registers.iter().enumerate() {
                let value = self.warps[warp].rows.get_wide(*register, access.width, lane);
                let at = place.host.wrapping_add(element * access.bytes as usize);
                // SAFETY: as in `load`; writing was checked too.
                unsafe { write(at, access.bytes, value, access.order.is_strong() && place.global) };
            }
        }
        Ok(())
    }

    /// What a lane's store writes.
    fn stored_bytes(&self, warp: usize, access: &Access, lane: usize) -> Stored {
        let mut stored = [0; MOST_BYTES];
        let elements = stored.chunks_exact_mut(access.bytes as usize);
        for (element, register) in elements.zip(&access.registers) {
            let value = self.warps[warp].rows.get_wide(*register, access.width, lane).to_le_bytes();
            element.copy_from_slice(&value[..access.bytes as usize]);
        }
        Stored(stored)
    }

    pub(super) fn atomic(&mut self, warp: usize, pc: u32, atomic: &Atomic, active: u32) -> Result<(), Stop> {
        let bytes = atomic.ty.bytes();
        if bytes == 16 {
            return self.atomic_wide(warp, pc, atomic, active);
        }
        let width = if bytes == 8 { Width::Double } else { Width::Single };
        for lane in lanes_of(active) {
            let request = |block: &Self, lane| {
                let address = block.lane_address(warp, &atomic.address, lane);
                let request = match atomic.operation {
                    AtomicOperation::Exchange => Request::write(atomic.space, address, bytes, atomic.cache),
                    _ => Request::update(atomic.space, address, bytes, atomic.cache),
                };
                request.atomically(atomic.order)
            };
            let place = self.place_of(warp, pc, lane, active, request)?;
            let rows = &self.warps[warp].rows;
            let [a, b] = atomic.operands.map(|operand| rows.get_wide(operand, width, lane));
            let change = |old: u64| apply(atomic.operation, atomic.ty, place.global, old, a, b);
            // SAFETY: `place` checked that the bytes lie in live memory, and are aligned.
            let old = unsafe { update(place.host, bytes, change) };
            if let Some(out) = atomic.out {
                self.warps[warp].rows.set_wide(out, width, lane, old);
            }
        }
        Ok(())
    }

    /// Exchanges of 128 bits, whose registers are pairs of double rows. They are atomic towards each other.
    fn atomic_wide(&mut self, warp: usize, pc: u32, atomic: &Atomic, active: u32) -> Result<(), Stop> {
        static TURN: Mutex<()> = Mutex::new(());
        for lane in lanes_of(active) {
            let request = |block: &Self, lane| {
                let address = block.lane_address(warp, &atomic.address, lane);
                Request::update(atomic.space, address, 16, atomic.cache).atomically(atomic.order)
            };
            let place = self.place_of(warp, pc, lane, active, request)?;
            let rows = &mut self.warps[warp].rows;
            let both = |rows: &Rows, register: Register| {
                [register, Register(register.0 + 2)].map(|half| rows.get_wide(half, Width::Double, lane))
            };
            let [a, b] = atomic.operands.map(|operand| both(rows, operand));
            let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
            let halves = place.host.cast::<[u64; 2]>();
            // SAFETY: `place` checked that 16 bytes lie in live memory.
            let old = unsafe { halves.read_unaligned() };
            let new = match atomic.operation {
                AtomicOperation::CompareExchange if old != a => old,
                AtomicOperation::CompareExchange => b,
                _ => a,
            };
            // SAFETY: as above; writing was checked too.
            unsafe { halves.write_unaligned(new) };
            drop(turn);
            if let Some(out) = atomic.out {
                rows.set_wide(out, Width::Double, lane, old[0]);
                rows.set_wide(Register(out.0 + 2), Width::Double, lane, old[1]);
            }
        }
        Ok(())
    }

    /// The place of one lane's access. A fault names all lanes of `active`, from this one on, that do the same.
    fn place_of(
        &mut self,
        warp: usize,
        pc: u32,
        lane: usize,
        active: u32,
        request: impl Fn(&Self, usize) -> Request,
    ) -> Result<Place, Stop> {
        let wanted = request(self, lane);
        let mut fault = match self.place(warp, pc, lane, wanted) {
            Ok(place) => return Ok(place),
            Err(fault) => fault,
        };
        for other in lanes_of(active).filter(|other| *other > lane) {
            let wanted = request(self, other);
            if self.place(warp, pc, other, wanted).is_err_and(|other| other.kind == fault.kind) {
                fault.lanes |= 1 << other;
            }
        }
        Err(fault)
    }

    pub(super) fn place(
        &mut self,
        warp: usize,
        pc: u32,
        lane: usize,
        request: Request,
    ) -> Result<Place, Stop> {
        let Request { space, mut address, bytes, .. } = request;
        if address % u64::from(bytes) != 0 {
            return Err(self.access_fault(FaultKind::Misaligned, warp, pc, lane, request));
        }
        let windows = self.launch.map.windows();
        let mut space = space;
        if space.is_none() {
            let all = [
                (windows.shared, Space::Shared),
                (windows.local, Space::Local),
                (windows.param, Space::Param),
            ];
            for (start, window) in all {
                if address.wrapping_sub(start) < windows.bytes {
                    (space, address) = (Some(window), address - start);
                }
            }
        }
        match space {
            Some(Space::Shared) => {
                // Shared and local addresses have 32 bits.
                let end = (address & 0xffff_ffff) + u64::from(bytes);
                if end > u64::from(self.launch.shared_bytes) {
                    let request = Request { space, address, ..request };
                    return Err(self.access_fault(FaultKind::OutOfBounds, warp, pc, lane, request));
                }
                let offset = (end - u64::from(bytes)) as usize;
                let host = self.shared.as_mut_ptr().cast::<u8>().wrapping_add(offset);
                if self.launch.watches() {
                    let touch = request.touch(host);
                    let watched = self.watch_shared(warp, pc, lane, offset, bytes as usize, touch);
                    watched
                        .map_err(|fault| self.with_access(fault, Request { space, address, ..request }))?;
                }
                Ok(Place { host, global: false })
            }
            Some(Space::Local) => {
                let end = (address & 0xffff_ffff) + u64::from(bytes);
                let warp_state = &mut self.warps[warp];
                if end > u64::from(warp_state.local_stride) {
                    let request = Request { space, address, ..request };
                    return Err(self.access_fault(FaultKind::OutOfBounds, warp, pc, lane, request));
                }
                let start = (end - u64::from(bytes)) as usize;
                let offset = lane * warp_state.local_stride as usize + start;
                let host = warp_state.local.as_mut_ptr().wrapping_add(offset);
                if self.launch.options.check_init {
                    let watched =
                        self.watch_local(warp, pc, lane, start, bytes as usize, request.touch(host));
                    watched
                        .map_err(|fault| self.with_access(fault, Request { space, address, ..request }))?;
                }
                Ok(Place { host, global: false })
            }
            Some(Space::Param) => {
                let params = self.launch.args.params;
                match address.checked_add(bytes.into()) {
                    Some(end) if end <= params.len() as u64 && !request.write => Ok(Place {
                        host: params.as_ptr().cast_mut().wrapping_add(address as usize),
                        global: false,
                    }),
                    _ => Err(self.access_fault(FaultKind::OutOfBounds, warp, pc, lane, request)),
                }
            }
            _ => self.global_place(warp, pc, lane, request),
        }
    }

    fn global_place(&mut self, warp: usize, pc: u32, lane: usize, request: Request) -> Result<Place, Stop> {
        let Request { address, bytes, write, cache, .. } = request;
        let mut cached = self.caches[cache];
        let inside = |cached: &Cached| {
            let offset = address.wrapping_sub(cached.base);
            offset < cached.len && u64::from(bytes) <= cached.len - offset
        };
        if !inside(&cached) {
            let found = self.launch.map.find(address).map(Cached::of);
            match found.filter(inside) {
                Some(found) => {
                    cached = found;
                    self.caches[cache] = found;
                }
                None => {
                    let kind = if address < NULL_PAGE {
                        FaultKind::NullPointer
                    } else if self.launch.map.find_freed(address).is_some() {
                        FaultKind::UseAfterFree
                    } else if found.is_none() && !self.is_device_address(address) {
                        FaultKind::HostPointer
                    } else {
                        FaultKind::OutOfBounds
                    };
                    return Err(self.access_fault(kind, warp, pc, lane, request));
                }
            }
        }
        if write && !cached.writable {
            return Err(self.access_fault(FaultKind::WriteToReadOnly, warp, pc, lane, request));
        }
        let offset = address - cached.base;
        let host = cached.host.wrapping_add(offset as usize);
        if cached.tracked {
            if let Some(init) = self.launch.map.find(address).and_then(|region| region.init.as_ref()) {
                let reads = !write || request.update;
                if reads && self.launch.options.check_init && !init.all_set(offset, bytes.into()) {
                    return Err(self.access_fault(FaultKind::UninitialisedRead, warp, pc, lane, request));
                }
                if write {
                    init.set(offset, bytes.into());
                }
            }
        }
        if cached.writable && self.launch.global_shadow.is_some() {
            let place = (Memory::Global, address, u64::from(bytes));
            let watched = self.watch_race(warp, pc, lane, place, request.touch(host));
            watched.map_err(|fault| self.with_access(fault, request))?;
        }
        Ok(Place { host, global: true })
    }

    fn is_device_address(&self, address: u64) -> bool {
        let windows = self.launch.map.windows();
        let end = windows.param + windows.bytes;
        address < end && end - address < DEVICE_RANGE
    }

    #[cold]
    fn access_fault(&self, kind: FaultKind, warp: usize, pc: u32, lane: usize, request: Request) -> Stop {
        self.with_access(self.fault(kind, warp, pc, 1 << lane), request)
    }

    /// Adds to a fault which access it was.
    fn with_access(&self, mut fault: Stop, request: Request) -> Stop {
        let (space, global) = match request.space {
            Some(Space::Shared) => ("shared", false),
            Some(Space::Local) => ("local", false),
            Some(Space::Param) => ("param", false),
            Some(Space::Const) => ("const", true),
            _ => ("global", true),
        };
        let near = !matches!(fault.kind, FaultKind::NullPointer | FaultKind::HostPointer);
        fault.access = Some(report::Access {
            space,
            address: request.address,
            size: request.bytes,
            is_write: request.write,
            allocation: if global && near { self.launch.map.nearest(request.address) } else { None },
        });
        fault
    }

    /// Bytes that a generic address points at, for `printf` and `assert`.
    pub(super) fn bytes_at(
        &mut self,
        warp: usize,
        pc: u32,
        lane: usize,
        address: u64,
        count: usize,
    ) -> Result<Vec<u8>, Stop> {
        (0..count as u64)
            .map(|offset| {
                let address = address.wrapping_add(offset);
                // A slot of its own, because no memory instruction stands here.
                let mut slot = vec![Cached::EMPTY];
                std::mem::swap(&mut self.caches, &mut slot);
                let place = self.place(warp, pc, lane, Request::read(None, address, 1, 0));
                std::mem::swap(&mut self.caches, &mut slot);
                // SAFETY: `place` checked the byte.
                place.map(|place| unsafe { place.host.read() })
            })
            .collect()
    }

    /// The string that a generic address points at.
    pub(super) fn text_at(
        &mut self,
        warp: usize,
        pc: u32,
        lane: usize,
        address: u64,
    ) -> Result<String, Stop> {
        let mut text = Vec::new();
        while text.len() < 65_536 {
            let byte = self.bytes_at(warp, pc, lane, address.wrapping_add(text.len() as u64), 1)?[0];
            if byte == 0 {
                break;
            }
            text.push(byte);
        }
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}

fn sign_extend(raw: u64, bytes: u32) -> u64 {
    let unused = 64 - 8 * bytes.min(8);
    ((raw << unused) as i64 >> unused) as u64
}

/// # Safety
/// `at` points at that many readable bytes.
pub(super) unsafe fn read(at: *mut u8, bytes: u32, strong: bool) -> u64 {
    if strong && at.align_offset(bytes as usize) == 0 {
        // SAFETY: readable, as the caller says, and aligned.
        return unsafe { load_atomic(at, bytes) };
    }
    let mut raw = [0u8; 8];
    // SAFETY: readable, as the caller says; `raw` has 8 bytes, and no access has more.
    unsafe { std::ptr::copy_nonoverlapping(at, raw.as_mut_ptr(), bytes.min(8) as usize) };
    u64::from_le_bytes(raw)
}

/// # Safety
/// `at` points at that many readable bytes and is aligned to as many.
unsafe fn load_atomic(at: *mut u8, bytes: u32) -> u64 {
    match bytes {
        // SAFETY: as the caller says.
        1 => unsafe { AtomicU8::from_ptr(at) }.load(Ordering::SeqCst).into(),
        // SAFETY: as the caller says.
        2 => unsafe { AtomicU16::from_ptr(at.cast()) }.load(Ordering::SeqCst).into(),
        // SAFETY: as the caller says.
        4 => unsafe { AtomicU32::from_ptr(at.cast()) }.load(Ordering::SeqCst).into(),
        // SAFETY: as the caller says.
        _ => unsafe { AtomicU64::from_ptr(at.cast()) }.load(Ordering::SeqCst),
    }
}

/// # Safety
/// `at` points at that many writable bytes.
unsafe fn write(at: *mut u8, bytes: u32, value: u64, strong: bool) {
    if strong && at.align_offset(bytes as usize) == 0 {
        match bytes {
            // SAFETY: writable, as the caller says, and aligned.
            1 => unsafe { AtomicU8::from_ptr(at) }.store(value as u8, Ordering::SeqCst),
            // SAFETY: as above.
            2 => unsafe { AtomicU16::from_ptr(at.cast()) }.store(value as u16, Ordering::SeqCst),
            // SAFETY: as above.
            4 => unsafe { AtomicU32::from_ptr(at.cast()) }.store(value as u32, Ordering::SeqCst),
            // SAFETY: as above.
            _ => unsafe { AtomicU64::from_ptr(at.cast()) }.store(value, Ordering::SeqCst),
        }
        return;
    }
    let raw = value.to_le_bytes();
    // SAFETY: writable, as the caller says; no access has more than 8 bytes.
    unsafe { std::ptr::copy_nonoverlapping(raw.as_ptr(), at, bytes.min(8) as usize) };
}

/// Replaces a value by what `change` makes of it, at once for all threads, and returns the old one.
///
/// # Safety
/// `at` points at that many bytes of memory that is only shared through atomics, and is aligned to as many.
pub(super) unsafe fn update(at: *mut u8, bytes: u32, change: impl Fn(u64) -> u64) -> u64 {
    let order = Ordering::SeqCst;
    match bytes {
        2 => {
            // SAFETY: as the caller says.
            let cell = unsafe { AtomicU16::from_ptr(at.cast()) };
            let old = cell.fetch_update(order, order, |old| Some(change(old.into()) as u16));
            old.unwrap_or_else(|old| old).into()
        }
        4 => {
            // SAFETY: as the caller says.
            let cell = unsafe { AtomicU32::from_ptr(at.cast()) };
            let old = cell.fetch_update(order, order, |old| Some(change(old.into()) as u32));
            old.unwrap_or_else(|old| old).into()
        }
        _ => {
            // SAFETY: as the caller says.
            let cell = unsafe { AtomicU64::from_ptr(at.cast()) };
            let old = cell.fetch_update(order, order, |old| Some(change(old)));
            old.unwrap_or_else(|old| old)
        }
    }
}

/// The new value of an atomic operation; `b` is the second operand of `cas`. In global memory, sums
/// of single precision flush subnormal numbers, and a NaN stays as it is.
pub(super) fn apply(operation: AtomicOperation, ty: Type, global: bool, old: u64, a: u64, b: u64) -> u64 {
    use super::semantics::{Pure, float, half};
    let mask = u64::MAX >> (64 - 8 * ty.bytes());
    let (old, a) = (old & mask, a & mask);
    let signed = |x: u64| sign_extend(x, ty.bytes()) as i64;
    match operation {
        AtomicOperation::Add => match ty {
            Type::F32 => {
                let (x, y) = (f32::from_bits(old as u32), f32::from_bits(a as u32));
                if global {
                    float::AddF32::<{ float::NEAREST }, true, false>::eval(x, y, (), ())
                } else {
                    float::AddF32::<{ float::NEAREST }, false, false>::eval(x, y, (), ())
                }
                .to_bits()
                .into()
            }
            Type::F64 => {
                let (x, y) = (f64::from_bits(old), f64::from_bits(a));
                match (global, y.is_nan(), x.is_nan()) {
                    // Global memory's own adder passes a NaN as it is.
                    (true, true, _) => a,
                    (true, _, true) => old,
                    _ => float::AddF64::<{ float::NEAREST }>::eval(y, x, (), ()).to_bits(),
                }
            }
            Type::F16 | Type::Bf16 | Type::F16x2 | Type::Bf16x2 => {
                let (x, y) = (old as u32, a as u32);
                let sum = match ty {
                    Type::F16 | Type::F16x2 => {
                        half::Both::<half::Add<half::F16, false, false>>::eval(x, y, (), ())
                    }
                    _ => half::Both::<half::Add<half::Bf16, false, false>>::eval(x, y, (), ()),
                };
                u64::from(sum) & mask
            }
            _ => old.wrapping_add(a),
        },
        AtomicOperation::Min | AtomicOperation::Max if ty.is_float() => {
            let (x, y) = (old as u32, a as u32);
            let of = |half16: bool, max: bool| match (half16, max) {
                (true, false) => half::Both::<half::Min<half::F16, false, false, false>>::eval(x, y, (), ()),
                (true, true) => half::Both::<half::Max<half::F16, false, false, false>>::eval(x, y, (), ()),
                (false, false) => {
                    half::Both::<half::Min<half::Bf16, false, false, false>>::eval(x, y, (), ())
                }
                (false, true) => half::Both::<half::Max<half::Bf16, false, false, false>>::eval(x, y, (), ()),
            };
            let f16 = matches!(ty, Type::F16 | Type::F16x2);
            u64::from(of(f16, operation == AtomicOperation::Max)) & mask
        }
        AtomicOperation::Exchange => a,
        AtomicOperation::CompareExchange => {
            if old == a {
                b
            } else {
                old
            }
        }
        AtomicOperation::Min if ty.is_signed() => signed(old).min(signed(a)) as u64,
        AtomicOperation::Max if ty.is_signed() => signed(old).max(signed(a)) as u64,
        AtomicOperation::Min => old.min(a),
        AtomicOperation::Max => old.max(a),
        AtomicOperation::And => old & a,
        AtomicOperation::Or => old | a,
        AtomicOperation::Xor => old ^ a,
        AtomicOperation::Increment => {
            if old >= a {
                0
            } else {
                old + 1
            }
        }
        AtomicOperation::Decrement => {
            if old == 0 || old > a {
                a
            } else {
                old - 1
            }
        }
    }
}
