//! The functions, with the names and parameters of NCCL's. Null pointers are refused; a
//! communicator that has ended may not be given, as with NCCL.

use std::ffi::{c_char, c_int, c_void};
use std::ptr;
use std::sync::{Arc, PoisonError};

use cuprum_sys::{CUcontext, CUstream};

use crate::comm::{Comm, Meeting};
use crate::driver::{check, fns};
use crate::messages::{Function, NO_COLOR, SHRINK, SPLIT};
use crate::queue::queue;
use crate::reduce::size_of_type;
use crate::{LAST, VERSION, code, group, hub, injected, refuse};

/// `ncclUniqueId`: a mark, the port of the hub, the key of the group.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct UniqueId([u8; 128]);

const MARK: [u8; 20] = *b"cuprum NCCL stand-in";

/// The fields of `ncclConfig_t` that are read.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Config {
    size: usize,
    magic: u32,
    version: u32,
    blocking: c_int,
}

pub(crate) type Raw = *mut c_void;

/// A communicator by its handle.
///
/// # Safety
/// The handle is null or a communicator that has not ended.
unsafe fn comm<'a>(raw: Raw) -> Result<&'a Arc<Comm>, i32> {
    // SAFETY: guaranteed by the caller; a handle is a box with a count.
    unsafe { raw.cast::<Arc<Comm>>().as_ref() }
        .ok_or_else(|| refuse(code::ARGUMENT, "the communicator is null"))
}

/// A communicator that is ready for the next call.
///
/// # Safety
/// As for [`comm`].
pub(crate) unsafe fn ready<'a>(raw: Raw) -> Result<&'a Arc<Comm>, i32> {
    // SAFETY: the caller's communicator, or null.
    let comm = unsafe { comm(raw) }?;
    is_ready(comm).map(|()| comm)
}

fn is_ready(comm: &Comm) -> Result<(), i32> {
    match comm.code() {
        code::SUCCESS => Ok(()),
        code::IN_PROGRESS => Err(refuse(code::ARGUMENT, "an earlier call is in progress")),
        failed => Err(refuse(failed, "the communicator has failed before")),
    }
}

fn new(comm: Arc<Comm>) -> Raw {
    Box::into_raw(Box::new(comm)).cast()
}

/// Writes a result.
///
/// # Safety
/// The place is null or may be written.
unsafe fn write<T>(place: *mut T, value: T) -> Result<(), i32> {
    if place.is_null() {
        return Err(refuse(code::ARGUMENT, "a place for the result is null"));
    }
    // SAFETY: it is not null; the caller's word.
    unsafe { place.write(value) };
    Ok(())
}

/// # Safety
/// The configuration is null or valid.
unsafe fn is_blocking(config: *const Config) -> bool {
    // SAFETY: the caller's configuration, or null.
    unsafe { config.as_ref() }.is_none_or(|config| config.blocking != 0)
}

/// Exports functions, each of which can be made to fail; a body returns a result.
macro_rules! exports {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $type:ty),* $(,)?) $body:block)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Safety
            /// The duties of NCCL's function.
            #[unsafe(no_mangle)]
            #[allow(non_snake_case, reason = "names of C")]
            pub unsafe extern "C" fn $name($($arg: $type),*) -> c_int {
                let body = || -> Result<c_int, i32> {
                    if let Some(code) = injected(stringify!($name)) {
                        return Err(refuse(code, concat!(stringify!($name), " was told to fail")));
                    }
                    $body
                };
                body().unwrap_or_else(|code| group::fail(code))
            }
        )*

        /// The address of a function by its name; null if there is none.
        #[must_use]
        pub fn address(name: &str) -> *const c_void {
            match name {
                $( stringify!($name) => $name as *const c_void, )*
                "ncclGetLastError" => ncclGetLastError as *const c_void,
                _ => ptr::null(),
            }
        }
    };
}

exports! {
    /// Says that this is a stand-in.
    fn cuprum_nccl_stand_in() { Ok(1) }

    /// Writes the version, whose last number is 99.
    fn ncclGetVersion(version: *mut c_int) {
        // SAFETY: the caller's place, or null.
        unsafe { write(version, VERSION) }.map(|()| code::SUCCESS)
    }

    /// Makes a name.
    fn ncclGetUniqueId(id: *mut UniqueId) {
        let Meeting { port, key } = hub::meeting().map_err(|error| refuse(code::SYSTEM, &error.to_string()))?;
        let mut bytes = [0; 128];
        bytes[..20].copy_from_slice(&MARK);
        bytes[20..22].copy_from_slice(&port.to_le_bytes());
        bytes[24..32].copy_from_slice(&key.to_le_bytes());
        // SAFETY: the caller's place, or null.
        unsafe { write(id, UniqueId(bytes)) }.map(|()| code::SUCCESS)
    }

    /// Joins a group.
    fn ncclCommInitRankConfig(place: *mut Raw, size: c_int, id: UniqueId, rank: c_int, config: *mut Config) {
        if size < 1 || !(0..size).contains(&rank) {
            return Err(refuse(code::ARGUMENT, "the rank is not below the size"));
        }
        let bytes = id.0;
        if bytes[..20] != MARK {
            return Err(refuse(code::ARGUMENT, "the name was not made by the stand-in"));
        }
        let port = u16::from_le_bytes([bytes[20], bytes[21]]);
        let key = bytes[24..32].try_into().map_or(0, u64::from_le_bytes);
        let (device, context) = current()?;
        // SAFETY: the caller's configuration, or null.
        let blocking = unsafe { is_blocking(config) };
        let numbers = (rank as u64, size as u64);
        let comm = Comm::new(Meeting { port, key }, numbers, (device, context, false), blocking);
        comm.start();
        let result = group::joined(&comm);
        if !matches!(result, code::SUCCESS | code::IN_PROGRESS) {
            return Err(refuse(result, "the group could not be joined"));
        }
        // SAFETY: the caller's place, or null.
        unsafe { write(place, new(comm)) }.map(|()| result)
    }

    /// Joins a group of devices of this process.
    fn ncclCommInitAll(places: *mut Raw, count: c_int, devices: *const c_int) {
        let meeting = hub::meeting().map_err(|error| refuse(code::SYSTEM, &error.to_string()))?;
        let mut comms = Vec::new();
        for rank in 0..count {
            let place = devices.wrapping_add(rank as usize);
            // SAFETY: the caller's list has `count` devices.
            let device = if devices.is_null() { rank } else { unsafe { place.read() } };
            if comms.iter().any(|comm: &Arc<Comm>| comm.device == device) {
                return Err(refuse(code::USAGE, "a device is there twice"));
            }
            let (fns, mut context) = (fns()?, CUcontext::null());
            // SAFETY: the place outlives the call; it is released with the communicator.
            check("cuDevicePrimaryCtxRetain", unsafe { (fns.cuDevicePrimaryCtxRetain)(&raw mut context, device) })?;
            let numbers = (rank as u64, count as u64);
            let comm = Comm::new(meeting, numbers, (device, context, true), true);
            comm.start();
            comms.push(comm);
        }
        for (at, comm) in comms.into_iter().enumerate() {
            let code = comm.wait();
            if code != code::SUCCESS {
                return Err(refuse(code, "the group could not be joined"));
            }
            // SAFETY: the caller's list has `count` places.
            unsafe { write(places.wrapping_add(at), new(comm)) }?;
        }
        Ok(code::SUCCESS)
    }

    /// Splits a group.
    fn ncclCommSplit(parent: Raw, color: c_int, key: c_int, place: *mut Raw, config: *mut Config) {
        // SAFETY: the caller's communicator, or null.
        let parent = unsafe { ready(parent) }?;
        let color = u64::try_from(color).unwrap_or(NO_COLOR);
        let answer = parent.ask(SPLIT, [color, key as u64, 0], Vec::new())?;
        // SAFETY: the caller's place and configuration.
        unsafe { derived(parent, &answer.numbers, place, config) }
    }

    /// Leaves some members out.
    fn ncclCommShrink(
        parent: Raw,
        ranks: *mut c_int,
        count: c_int,
        place: *mut Raw,
        config: *mut Config,
        flags: c_int,
    ) {
        // SAFETY: the caller's communicator, or null.
        let parent = unsafe { comm(parent) }?;
        if flags & 1 == 0 {
            is_ready(parent)?;
        }
        let mut bytes = Vec::new();
        for at in 0..count as usize {
            // SAFETY: the caller's list has `count` members.
            let rank = unsafe { ranks.wrapping_add(at).read() };
            bytes.extend((rank as u64).to_le_bytes());
        }
        let answer = parent.ask(SHRINK, [0; 3], bytes)?;
        // SAFETY: the caller's place and configuration.
        unsafe { derived(parent, &answer.numbers, place, config) }
    }

    /// Waits for outstanding operations.
    fn ncclCommFinalize(raw: Raw) {
        // SAFETY: the caller's communicator, or null.
        Ok(unsafe { ready(raw) }?.flush())
    }

    /// Leaves a group.
    fn ncclCommDestroy(raw: Raw) {
        // SAFETY: the caller's communicator, or null.
        unsafe { comm(raw) }?;
        // SAFETY: it was made by `new`, and is not used again.
        let comm = unsafe { Box::from_raw(raw.cast::<Arc<Comm>>()) };
        Ok(comm.leave())
    }

    /// Ends a communicator and its operations.
    fn ncclCommAbort(raw: Raw) {
        // SAFETY: the caller's communicator, or null.
        unsafe { comm(raw) }?;
        // SAFETY: it was made by `new`, and is not used again.
        let comm = unsafe { Box::from_raw(raw.cast::<Arc<Comm>>()) };
        comm.abort();
        Ok(code::SUCCESS)
    }

    /// Writes the state.
    fn ncclCommGetAsyncError(raw: Raw, state: *mut c_int) {
        // SAFETY: the caller's communicator, or null.
        let comm = unsafe { comm(raw) }?;
        // SAFETY: the caller's place, or null.
        unsafe { write(state, comm.code()) }.map(|()| code::SUCCESS)
    }

    /// Writes the number of members.
    fn ncclCommCount(raw: Raw, count: *mut c_int) {
        // SAFETY: the caller's communicator, or null.
        let comm = unsafe { comm(raw) }?;
        // SAFETY: the caller's place, or null.
        unsafe { write(count, comm.size as c_int) }.map(|()| code::SUCCESS)
    }

    /// Writes the device.
    fn ncclCommCuDevice(raw: Raw, device: *mut c_int) {
        // SAFETY: the caller's communicator, or null.
        let comm = unsafe { comm(raw) }?;
        // SAFETY: the caller's place, or null.
        unsafe { write(device, comm.device) }.map(|()| code::SUCCESS)
    }

    /// Writes the member's number.
    fn ncclCommUserRank(raw: Raw, rank: *mut c_int) {
        // SAFETY: the caller's communicator, or null.
        let comm = unsafe { comm(raw) }?;
        // SAFETY: the caller's place, or null.
        unsafe { write(rank, comm.rank as c_int) }.map(|()| code::SUCCESS)
    }

    /// Registers memory, which changes nothing here.
    fn ncclCommRegister(raw: Raw, memory: Raw, bytes: usize, handle: *mut Raw) {
        // SAFETY: the caller's communicator, or null.
        unsafe { ready(raw) }?;
        if memory.is_null() || bytes == 0 {
            return Err(refuse(code::ARGUMENT, "there is no memory to register"));
        }
        // SAFETY: the caller's place, or null.
        unsafe { write(handle, memory) }.map(|()| code::SUCCESS)
    }

    /// Ends a registration.
    fn ncclCommDeregister(raw: Raw, handle: Raw) {
        // SAFETY: the caller's communicator, or null.
        unsafe { ready(raw) }?;
        if handle.is_null() { Err(refuse(code::ARGUMENT, "the handle is null")) } else { Ok(code::SUCCESS) }
    }

    /// Makes a premultiplied sum with a number of the host.
    fn ncclRedOpCreatePreMulSum(place: *mut c_int, factor: Raw, data_type: c_int, residence: c_int, raw: Raw) {
        // SAFETY: the caller's communicator, or null.
        let comm = unsafe { ready(raw) }?;
        let bytes = size_of_type(data_type as u64).ok_or_else(|| refuse(code::ARGUMENT, "there is no such type"))?;
        if residence != 1 || factor.is_null() {
            return Err(refuse(code::ARGUMENT, "the stand-in takes factors of the host only"));
        }
        let mut bits = [0; 8];
        // SAFETY: the factor has so many bytes, which fit.
        unsafe { ptr::copy_nonoverlapping(factor.cast::<u8>(), bits.as_mut_ptr(), bytes) };
        let mut factors = comm.factors.lock().unwrap_or_else(PoisonError::into_inner);
        factors.push(Some((data_type as u64, u64::from_le_bytes(bits))));
        // SAFETY: the caller's place, or null.
        unsafe { write(place, 4 + factors.len() as c_int) }.map(|()| code::SUCCESS)
    }

    /// Ends a premultiplied sum.
    fn ncclRedOpDestroy(operator: c_int, raw: Raw) {
        // SAFETY: the caller's communicator, or null.
        let comm = unsafe { comm(raw) }?;
        let mut factors = comm.factors.lock().unwrap_or_else(PoisonError::into_inner);
        let place = usize::try_from(operator - 5).ok().and_then(|at| factors.get_mut(at));
        match place.and_then(Option::take) {
            Some(_) => Ok(code::SUCCESS),
            None => Err(refuse(code::ARGUMENT, "there is no such operator")),
        }
    }

    /// Reduces to one member.
    fn ncclReduce(
        from: Raw, to: Raw, count: usize, data_type: c_int, operator: c_int, root: c_int, raw: Raw, stream: CUstream,
    ) {
        // SAFETY: the caller's communicator, stream and memory.
        unsafe { queue(raw, stream, Function::Reduce, (from, to), count, (data_type, operator, root)) }
    }

    /// Copies from one member to all.
    fn ncclBroadcast(
        from: Raw, to: Raw, count: usize, data_type: c_int, root: c_int, raw: Raw, stream: CUstream,
    ) {
        // SAFETY: the caller's communicator, stream and memory.
        unsafe { queue(raw, stream, Function::Broadcast, (from, to), count, (data_type, 0, root)) }
    }

    /// Reduces to all.
    fn ncclAllReduce(
        from: Raw, to: Raw, count: usize, data_type: c_int, operator: c_int, raw: Raw, stream: CUstream,
    ) {
        // SAFETY: the caller's communicator, stream and memory.
        unsafe { queue(raw, stream, Function::AllReduce, (from, to), count, (data_type, operator, 0)) }
    }

    /// Reduces, and leaves each with its part.
    fn ncclReduceScatter(
        from: Raw, to: Raw, count: usize, data_type: c_int, operator: c_int, raw: Raw, stream: CUstream,
    ) {
        // SAFETY: the caller's communicator, stream and memory.
        unsafe { queue(raw, stream, Function::ReduceScatter, (from, to), count, (data_type, operator, 0)) }
    }

    /// Collects the parts.
    fn ncclAllGather(from: Raw, to: Raw, count: usize, data_type: c_int, raw: Raw, stream: CUstream) {
        // SAFETY: the caller's communicator, stream and memory.
        unsafe { queue(raw, stream, Function::AllGather, (from, to), count, (data_type, 0, 0)) }
    }

    /// Sends.
    fn ncclSend(from: Raw, count: usize, data_type: c_int, peer: c_int, raw: Raw, stream: CUstream) {
        // SAFETY: the caller's communicator, stream and memory.
        unsafe { queue(raw, stream, Function::Send, (from, from), count, (data_type, 0, peer)) }
    }

    /// Receives.
    fn ncclRecv(to: Raw, count: usize, data_type: c_int, peer: c_int, raw: Raw, stream: CUstream) {
        // SAFETY: the caller's communicator, stream and memory.
        unsafe { queue(raw, stream, Function::Receive, (to, to), count, (data_type, 0, peer)) }
    }

    /// Begins a group.
    fn ncclGroupStart() {
        group::start();
        Ok(code::SUCCESS)
    }

    /// Makes the calls of a group, unless one has failed.
    fn ncclGroupEnd() {
        group::end()
    }
}

/// The text on the last error of this thread.
///
/// # Safety
/// None: the communicator is not used.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "names of C")]
pub unsafe extern "C" fn ncclGetLastError(_comm: Raw) -> *const c_char {
    LAST.with_borrow(|last| if last.is_empty() { c"".as_ptr() } else { last.as_ptr().cast() })
}

/// The current context and its device.
fn current() -> Result<(c_int, CUcontext), i32> {
    let (fns, mut context, mut device) = (fns()?, CUcontext::null(), 0);
    // SAFETY: the place outlives the call.
    check("cuCtxGetCurrent", unsafe { (fns.cuCtxGetCurrent)(&raw mut context) })?;
    // SAFETY: as above.
    check("cuCtxGetDevice", unsafe { (fns.cuCtxGetDevice)(&raw mut device) })?;
    Ok((device, context))
}

/// The communicator of a split or a shrink; null for a member that is in none.
///
/// # Safety
/// Place and configuration are NCCL's.
unsafe fn derived(
    parent: &Arc<Comm>,
    numbers: &[u64; 8],
    place: *mut Raw,
    config: *const Config,
) -> Result<c_int, i32> {
    let [_, _, key, rank, size, ..] = *numbers;
    if key == 0 {
        // SAFETY: the caller's place, or null.
        return unsafe { write(place, ptr::null_mut()) }.map(|()| code::SUCCESS);
    }
    let meeting = Meeting { key, ..parent.meeting };
    // SAFETY: the caller's configuration, or null.
    let blocking = unsafe { is_blocking(config) };
    let comm = Comm::new(meeting, (rank, size), (parent.device, parent.context, false), blocking);
    comm.start();
    let result = comm.wait();
    if result != code::SUCCESS {
        return Err(refuse(result, "the new group could not be joined"));
    }
    // SAFETY: the caller's place, or null.
    unsafe { write(place, new(comm)) }.map(|()| code::SUCCESS)
}
