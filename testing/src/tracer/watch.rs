//! Follows the calls of the safe layer, and from them handles, current contexts and, with
//! [`Flights`], host memory.
//!
//! It follows the effects of the driver, not its answers: an injected error may come from a call
//! that was done.

use std::collections::HashMap;
use std::ffi::c_void;
use std::thread::ThreadId;

use cuprum::sys::{
    CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUDA_RESOURCE_DESC, CUarray, CUdeviceptr, CUmemorytype, CUresourcetype,
    CUresult, FnId,
};

use super::asked::Asked;
use super::flights::Flights;
use super::handles::{Freed, Handles, Kind, State};
use super::tables::{freed_by, is_free_of_context, is_of_addresses, made_by, may_visit, only_tells, undoes};

/// A kind of mistake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trouble {
    /// A handle that the driver never returned.
    Unknown,
    /// A handle was used after it had been freed.
    UsedAfterFree,
    /// A handle was freed after it had been freed.
    FreedTwice,
    /// A handle was used or freed after a call that freed it and returned an error.
    AfterFailedFree,
    /// A call met another current context than the one it is meant for.
    OtherContext,
    /// A scope returned while the device could still write host memory, or that memory was freed.
    HostInFlight,
    /// A function made a handle, and the watcher has no line for it.
    Unwatched,
}

/// A mistake, and in which call.
#[derive(Clone, Debug)]
pub struct Violation {
    pub trouble: Trouble,
    pub function: FnId,
    pub text: String,
}

/// State of the driver's objects, and the complaints so far.
#[derive(Default)]
pub struct Watcher {
    handles: Handles,
    /// The context that the calls of a thread are meant for.
    expected: HashMap<ThreadId, u64>,
    flights: Flights,
    violations: Vec<Violation>,
}

/// The mistake of freeing an object that a call with this answer had freed.
fn freed_again(answer: CUresult) -> Trouble {
    if answer == CUresult::CUDA_SUCCESS { Trouble::FreedTwice } else { Trouble::AfterFailedFree }
}

impl Watcher {
    pub(super) fn expect(&mut self, context: Option<u64>) {
        let thread = std::thread::current().id();
        match context {
            Some(context) => self.expected.insert(thread, context),
            None => self.expected.remove(&thread),
        };
    }

    pub(super) fn violations(&self) -> &[Violation] {
        &self.violations
    }

    pub(super) fn alive(&self) -> Vec<String> {
        self.handles.alive()
    }

    pub(super) fn live_contexts(&self) -> Vec<u64> {
        self.handles.live_contexts()
    }

    pub(super) fn left(&self, kind: Kind) -> Vec<u64> {
        self.handles.left(kind)
    }

    pub(super) fn release_primary(&mut self, device: u64) -> bool {
        self.handles.release(device, CUresult::CUDA_SUCCESS)
    }

    pub(super) fn in_flight(&self) -> usize {
        self.flights.len()
    }

    /// Memory that was reported to be out of reach.
    pub(super) fn lost(&mut self, address: u64) {
        self.flights.lost(address);
    }

    pub(super) fn scope_ended(&mut self) {
        let left: Vec<String> = self.flights.take_all().map(|address| format!("{address:#x}")).collect();
        if !left.is_empty() {
            let text = format!("a scope returned while copies of host memory at {left:?} were in flight");
            self.complain(Trouble::HostInFlight, FnId::cuStreamSynchronize, text);
        }
    }

    fn complain(&mut self, trouble: Trouble, function: FnId, text: String) {
        self.violations.push(Violation { trouble, function, text });
    }

    /// Looks at a call before it is made, with the context that is current in the driver.
    pub(super) fn before(&mut self, asked: &Asked<'_>, current: u64) {
        let function = asked.function;
        let of = |ty: &str| match Kind::of(ty)? {
            Kind::Memory if is_of_addresses(function) => Some(Kind::Reservation),
            kind => Some(kind),
        };
        let plain = asked.types.iter().zip(asked.words).filter_map(|(ty, &word)| Some((of(ty)?, word)));
        let host = freed_by(function).filter(|kind| *kind == Kind::Host).map(|kind| (kind, asked.words[0]));
        let handles: Vec<(Kind, u64)> = plain.chain(described(asked)).chain(host).collect();
        for (kind, word) in handles.into_iter().filter(|(kind, word)| !kind.is_none(*word)) {
            // Addresses inside of graphs, and bodies of conditional nodes, which no function has
            // made by itself.
            let inside = match kind {
                Kind::Memory => function == FnId::cuGraphAddMemFreeNode,
                // The default pools too.
                Kind::Graph | Kind::Pool => self.handles.state(kind, word).is_none(),
                _ => false,
            };
            if inside {
                continue;
            }
            let frees = freed_by(function) == Some(kind);
            // Page-locked memory has an address of the device too.
            let host = || self.handles.state(Kind::Host, word).filter(|_| kind == Kind::Memory);
            match self.handles.state(kind, word).or_else(host) {
                // In case a call that failed was done; the address may have been registered or
                // mapped before.
                None if undoes(function) => {}
                Some(State::Freed(Freed { answer: CUresult::CUDA_SUCCESS })) if undoes(function) => {}
                None => {
                    self.complain(Trouble::Unknown, function, format!("{kind:?} {word:#x} was never made"))
                }
                Some(State::Freed(Freed { answer })) => {
                    let used = answer == CUresult::CUDA_SUCCESS && !frees;
                    let trouble = if used { Trouble::UsedAfterFree } else { freed_again(answer) };
                    self.complain(trouble, function, format!("{kind:?} {word:#x} was freed with {answer:?}"));
                }
                Some(State::Live { home }) => {
                    if !is_free_of_context(function) && !may_visit(function, kind) && home != current {
                        let text =
                            format!("{kind:?} {word:#x} of context {home:#x} was used in {current:#x}");
                        self.complain(Trouble::OtherContext, function, text);
                    }
                }
            }
        }
        if let FnId::cuDevicePrimaryCtxRelease | FnId::cuDevicePrimaryCtxRelease_v2 = function {
            if let Err(answer) = self.handles.retained(asked.words[0]) {
                let text = format!("more releases than retains; the last one answered {answer:?}");
                self.complain(freed_again(answer), function, text);
            }
        }
        let expected = self.expected.get(&std::thread::current().id()).copied();
        if let Some(expected) = expected.filter(|&expected| expected != current) {
            if !is_free_of_context(function) && freed_by(function).is_none() {
                let text = format!("meant for context {expected:#x}, met {current:#x}");
                self.complain(Trouble::OtherContext, function, text);
            }
        }
    }

    /// Learns from a call the driver's effect, if the call was `done` and with which answer, and
    /// the reported code `told`.
    pub(super) fn after(&mut self, asked: &Asked<'_>, current: u64, done: Option<CUresult>, told: CUresult) {
        let (function, words) = (asked.function, asked.words);
        // A fault stops no copy: on hardware they go on when every wait has answered with it.
        if done == Some(CUresult::CUDA_SUCCESS) || told == CUresult::CUDA_ERROR_DEINITIALIZED {
            self.flights.land(function, words, current);
        }
        if done != Some(CUresult::CUDA_SUCCESS) {
            return;
        }
        self.flights.fly(function, words, current, copy_to_host(function, words));
        if let Some(kind) = made_by(function) {
            self.made(kind, function, words, current);
        } else if !only_tells(function) {
            let mut pointers = asked.types.iter().filter_map(|ty| ty.strip_prefix("*mut "));
            if let Some(unwatched) = pointers.find(|ty| Kind::of(ty).is_some()) {
                self.complain(Trouble::Unwatched, function, format!("made a {unwatched}"));
            }
        }
        if let Some(kind) = freed_by(function) {
            if kind == Kind::Host && self.flights.are_over(words[0]) {
                self.complain(Trouble::HostInFlight, function, format!("{:#x} was in flight", words[0]));
            }
            self.handles.free(kind, words[0], told);
        }
        match function {
            FnId::cuDevicePrimaryCtxRelease | FnId::cuDevicePrimaryCtxRelease_v2 => {
                self.handles.release(words[0], told);
            }
            FnId::cuDevicePrimaryCtxReset | FnId::cuDevicePrimaryCtxReset_v2 => {
                self.handles.reset(words[0], told)
            }
            _ => {}
        }
    }

    fn made(&mut self, kind: Kind, function: FnId, words: &[u64], current: u64) {
        let made = match function {
            FnId::cuMemHostRegister_v2 | FnId::cuMemMap => words[0],
            FnId::cuStreamEndCapture => read::<u64>(words[1]),
            FnId::cuLinkCreate_v2 => read::<u64>(words[3]),
            _ => read::<u64>(words[0]),
        };
        match function {
            FnId::cuDevicePrimaryCtxRetain => self.handles.retain(words[1], made),
            FnId::cuModuleGetFunction => self.handles.make_within(kind, made, 1, (Kind::Module, words[1])),
            FnId::cuLibraryGetKernel => self.handles.make_within(kind, made, 1, (Kind::Library, words[1])),
            FnId::cuLibraryGetModule => {
                self.handles.make_within_at(kind, made, 1, (Kind::Library, words[1]), current);
            }
            FnId::cuKernelGetFunction => {
                self.handles.make_within_at(kind, made, 1, (Kind::Kernel, words[1]), current);
            }
            FnId::cuLibraryGetGlobal | FnId::cuLibraryGetManaged => {
                let owner = (Kind::Library, words[2]);
                self.handles.make_within_at(kind, made, read(words[1]), owner, current);
            }
            FnId::cuCtxFromGreenCtx => {
                self.handles.make_within_at(kind, made, 1, (Kind::Green, words[1]), made);
            }
            FnId::cuModuleGetGlobal_v2 => {
                self.handles.make_within(kind, made, read(words[1]), (Kind::Module, words[2]))
            }
            FnId::cuGraphicsResourceGetMappedPointer_v2 => {
                self.handles.make_within(kind, made, read(words[1]), (Kind::Graphics, words[2]))
            }
            FnId::cuGraphicsSubResourceGetMappedArray | FnId::cuGraphicsResourceGetMappedMipmappedArray => {
                self.handles.make_within(kind, made, 1, (Kind::Graphics, words[1]))
            }
            FnId::cuMipmappedArrayGetLevel => {
                self.handles.make_within(kind, made, 1, (Kind::MipmappedArray, words[1]))
            }
            FnId::cuMemAllocPitch_v2 => {
                self.handles.make(kind, made, read::<u64>(words[1]) * words[3], current)
            }
            FnId::cuMemAlloc_v2
            | FnId::cuMemAllocAsync
            | FnId::cuMemAllocFromPoolAsync
            | FnId::cuMemAllocManaged
            | FnId::cuMemMap
            | FnId::cuMemHostAlloc
            | FnId::cuMemHostRegister_v2 => self.handles.make(kind, made, words[1], current),
            FnId::cuMemAddressReserve => self.handles.make(kind, made, words[1], 0),
            _ if kind == Kind::Physical => self.handles.make(kind, made, 1, 0),
            _ if kind == Kind::Context => self.handles.make(kind, made, 1, made),
            _ if kind.is_homeless() => self.handles.make(kind, made, 1, 0),
            _ => self.handles.make(kind, made, 1, current),
        }
    }
}

/// The value that an out-parameter points at, or a description.
fn read<T: Copy>(from: u64) -> T {
    let from = std::ptr::with_exposed_provenance::<T>(from as usize);
    // SAFETY: an out-parameter of that type, which the driver has just written, or one that the
    // caller has filled.
    unsafe { from.read() }
}

/// The two sides of a copy of rows: the kind of memory, and the array or the addresses.
struct Sides([(CUmemorytype, CUarray, CUdeviceptr); 2], *mut c_void);

/// Both structures for copies of rows have these fields.
macro_rules! sides {
    ($($copy:ident)*) => { $(
        impl From<$copy> for Sides {
            fn from(copy: $copy) -> Self {
                let from = (copy.srcMemoryType, copy.srcArray, copy.srcDevice);
                Self([from, (copy.dstMemoryType, copy.dstArray, copy.dstDevice)], copy.dstHost)
            }
        }
    )* };
}

sides!(CUDA_MEMCPY2D CUDA_MEMCPY3D);

/// The stream and the host memory of a copy that is queued.
fn copy_to_host(function: FnId, words: &[u64]) -> Option<(u64, u64)> {
    Some(match function {
        FnId::cuMemcpyDtoHAsync_v2 => (words[3], words[0]),
        FnId::cuMemcpy2DAsync_v2 => (words[1], written_host(&read::<CUDA_MEMCPY2D>(words[0]).into())?),
        FnId::cuMemcpy3DAsync_v2 => (words[1], written_host(&read::<CUDA_MEMCPY3D>(words[0]).into())?),
        _ => return None,
    })
}

/// The address of host memory that a copy writes.
fn written_host(Sides([_, (kind, ..)], host): &Sides) -> Option<u64> {
    (*kind == CUmemorytype::CU_MEMORYTYPE_HOST).then_some(*host as u64)
}

/// Handles in the structures that a call is given.
fn described(asked: &Asked<'_>) -> Vec<(Kind, u64)> {
    let mut found = Vec::new();
    // Addresses in graph nodes may be memory of the graph.
    if asked.function.to_string().starts_with("cuGraph") {
        return found;
    }
    for (&ty, &word) in asked.types.iter().zip(asked.words) {
        let Sides(sides, _) = match ty {
            "*const CUDA_MEMCPY2D" => read::<CUDA_MEMCPY2D>(word).into(),
            "*const CUDA_MEMCPY3D" => read::<CUDA_MEMCPY3D>(word).into(),
            "*const CUDA_RESOURCE_DESC" => {
                found.push(resource(&read(word)));
                continue;
            }
            _ => continue,
        };
        found.extend(sides.into_iter().filter_map(|(kind, array, address)| match kind {
            CUmemorytype::CU_MEMORYTYPE_ARRAY => Some((Kind::Array, array.0.expose_provenance() as u64)),
            CUmemorytype::CU_MEMORYTYPE_DEVICE => Some((Kind::Memory, address)),
            _ => None,
        }));
    }
    found
}

/// The memory of a texture or surface.
fn resource(described: &CUDA_RESOURCE_DESC) -> (Kind, u64) {
    let res = &described.res;
    match described.resType {
        CUresourcetype::CU_RESOURCE_TYPE_ARRAY => {
            // SAFETY: the kind says which member it is; any bits are a handle or a number.
            let array = unsafe { res.array };
            (Kind::Array, array.hArray.0.expose_provenance() as u64)
        }
        CUresourcetype::CU_RESOURCE_TYPE_MIPMAPPED_ARRAY => {
            // SAFETY: as above.
            let array = unsafe { res.mipmap };
            (Kind::MipmappedArray, array.hMipmappedArray.0.expose_provenance() as u64)
        }
        CUresourcetype::CU_RESOURCE_TYPE_LINEAR => {
            // SAFETY: as above.
            (Kind::Memory, unsafe { res.linear }.devPtr)
        }
        _ => {
            // SAFETY: as above.
            (Kind::Memory, unsafe { res.pitch2D }.devPtr)
        }
    }
}
