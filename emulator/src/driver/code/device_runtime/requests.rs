//! The answers of the driver to the calls of one launch, and the work that they request.

use core::ptr;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use cuprum_sys::{CUdevice_attribute, CUlimit};

use crate::message::{self, Message};
use crate::program::FUNCTION_STRIDE;

use crate::driver::answer::Answer;
use crate::driver::code::function::{FUNCTIONS as HANDLES, Function, function_of};
use crate::driver::code::launch::{Launch, LaunchShape};
use crate::driver::code::occupancy::resident_blocks;
use crate::driver::context::Heap;
use crate::driver::device::{attribute, check as check_device, count};
use crate::driver::state::memory;
use crate::driver::transfer::{Copy, Element, Fill};

use super::calls::{Call, ERROR_BITS, FUNCTIONS};
use super::errors::{
    ALL, Error, INVALID_CONFIGURATION, INVALID_DEVICE, INVALID_DIRECTION, INVALID_PITCH, INVALID_VALUE,
    TOO_MANY_LAUNCHES,
};

/// Work that a kernel requests. It runs after the kernel, as if the device had been busy until
/// then.
#[derive(Debug)]
pub(in crate::driver::code) enum Request {
    Launch(Launch),
    Copy(Copy),
    Fill(Fill),
}

/// The requests of a running kernel.
#[derive(Debug)]
pub(in crate::driver::code) struct Requests {
    function: Arc<Function>,
    buffers: Arc<Heap>,
    /// Maximum number of launches that are prepared or wait.
    most: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The launch of each parameter buffer, unless the launch states it later.
    buffers: HashMap<u64, Buffer>,
    /// Number of buffers whose launch has not been requested.
    prepared: usize,
    work: Vec<Request>,
    /// Work for the stream that runs when everything else has ended.
    tail: Vec<Request>,
    /// The last error of each thread, by its number in the grid.
    errors: HashMap<u64, u32>,
    streams: HashSet<u64>,
    events: HashSet<u64>,
    handles: u64,
}

/// A parameter buffer.
#[derive(Debug)]
enum Buffer {
    Sized(u64),
    OfLaunch(Arc<Function>, LaunchShape),
    /// Its launch has read it. It is freed with the kernel, so no other thread writes to it.
    Used,
}

/// The reason why a call has no result.
enum Refusal {
    /// An error, with the cause if its text does not name it.
    Error(Error, String),
    /// The kernel made a mistake that hardware does not survive.
    Fault(String),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Refusal::Error(error, String::new())
    }
}

type Value = Result<u64, Refusal>;

/// The stream of work that waits for everything else.
const TAIL: u64 = 3;
/// The last of the streams without an object: default streams, and work without order.
const LAST_CONSTANT: u64 = 4;
/// Distance between the handles of streams and events.
const HANDLE_STRIDE: u64 = 16;
/// The flag that each event on the device must have.
const DISABLE_TIMING: u32 = 2;
/// The version that an H200 reports on the device, with CUDA 13.0.
const VERSION: u64 = 6000;

/// The arguments of a call.
struct Arguments<'a>(&'a [u32]);

impl Arguments<'_> {
    fn word(&mut self) -> u32 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    fn double(&mut self) -> u64 {
        let low = self.word();
        u64::from(self.word()) << 32 | u64::from(low)
    }

    fn sides(&mut self) -> [u32; 3] {
        [self.word(), self.word(), self.word()]
    }

    fn shape(&mut self) -> LaunchShape {
        let (grid, block) = (self.sides(), self.sides());
        LaunchShape { grid, block, dynamic_shared: self.word(), cooperative: false, cluster: None }
    }
}

impl Requests {
    /// `waiting` is the number of requests that wait already.
    pub(in crate::driver::code) fn new(function: &Arc<Function>, waiting: usize) -> Answer<Self> {
        let context = &function.module.context;
        let most = context.limit(CUlimit::CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT)?;
        Ok(Self {
            function: Arc::clone(function),
            buffers: context.launch_buffers(most)?,
            most: most.saturating_sub(waiting),
            state: Mutex::default(),
        })
    }

    /// Answers a call by a thread. Returns a description of the mistake if the kernel ends.
    pub(in crate::driver::code) fn answer(&self, thread: u64, words: &[u32]) -> Result<u64, String> {
        let mut arguments = Arguments(words);
        let Some(function) = FUNCTIONS.get(arguments.word() as usize) else {
            return Err("an unknown call of the device runtime".to_owned());
        };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let last = state.errors.get(&thread).copied().unwrap_or(0).into();
        match function.call {
            Call::PeekAtError => return Ok(last),
            Call::TakeError => {
                state.errors.remove(&thread);
                return Ok(last);
            }
            _ => {}
        }
        match self.value(&mut state, function.call, &mut arguments) {
            Ok(value) => Ok(value << ERROR_BITS),
            Err(Refusal::Error(error, cause)) => {
                // As recorded on an H200, where an unknown limit leaves no error.
                if function.call != Call::Limit {
                    state.errors.insert(thread, error.code);
                }
                drop(state);
                self.report(function.call, error, cause);
                Ok(error.code.into())
            }
            Err(Refusal::Fault(mistake)) => Err(mistake),
        }
    }

    /// Reports a refused launch, because a kernel seldom asks for errors.
    fn report(&self, call: Call, error: Error, cause: String) {
        if !matches!(call, Call::Buffer | Call::BufferOfLaunch | Call::Launch | Call::LaunchBuffer) {
            return;
        }
        let kernel = self.function.kernel.name();
        let cause = match (cause.is_empty(), error) {
            (true, TOO_MANY_LAUNCHES) => {
                "; here launches run when their kernel has ended, on hardware some may run before"
            }
            (true, _) => "",
            (false, _) => &format!(": {cause}"),
        };
        let error = format!("{}, {}{cause}", error.name, error.text);
        message::tell_once(format!("{kernel} {error}"), &Message::LaunchRefused { kernel, error: &error });
    }

    /// Ends the requests of a kernel that has ended. Returns its work from the last to the first.
    pub(in crate::driver::code) fn into_work(self, in_graph: bool) -> impl Iterator<Item = Request> {
        let State { buffers, work, tail, .. } =
            self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        if in_graph && !tail.is_empty() {
            let kernel = self.function.kernel.name();
            message::tell_once(format!("{kernel} for its end"), &Message::WorkNotAwaited { kernel });
        }
        for address in buffers.into_keys() {
            self.buffers.release(address);
        }
        tail.into_iter().rev().chain(work.into_iter().rev())
    }

    fn value(&self, state: &mut State, call: Call, arguments: &mut Arguments<'_>) -> Value {
        match call {
            Call::Buffer => {
                let (_alignment, bytes) = (arguments.double(), arguments.double());
                self.buffer(state, bytes, Buffer::Sized(bytes))
            }
            Call::BufferOfLaunch => {
                let (function, shape) = (self.kernel(arguments.double())?, arguments.shape());
                let bytes = function.kernel.param_bytes().into();
                check(&shape, &function)?;
                self.buffer(state, bytes, Buffer::OfLaunch(function, shape))
            }
            Call::Launch => {
                let (function, buffer) = (self.kernel(arguments.double())?, arguments.double());
                let (shape, stream) = (arguments.shape(), arguments.double());
                launch(state, (buffer, stream), Some((function, shape)))
            }
            Call::LaunchBuffer => {
                let (buffer, stream) = (arguments.double(), arguments.double());
                launch(state, (buffer, stream), None)
            }
            Call::Copy => {
                let [to, from, width] = [(); 3].map(|()| arguments.double());
                let (kind, stream) = (arguments.word(), arguments.double());
                copy(state, [(to, width), (from, width)], (width, 1), kind, stream)
            }
            Call::CopyRows => {
                let ends = [(); 2].map(|()| (arguments.double(), arguments.double()));
                let rows = (arguments.double(), arguments.double());
                let (kind, stream) = (arguments.word(), arguments.double());
                copy(state, ends, rows, kind, stream)
            }
            Call::Fill => {
                let (address, value) = (arguments.double(), arguments.word());
                let (width, stream) = (arguments.double(), arguments.double());
                fill(state, (address, 0), value, (width, 1), stream)
            }
            Call::FillRows => {
                let (place, value) = ((arguments.double(), arguments.double()), arguments.word());
                let (rows, stream) = ((arguments.double(), arguments.double()), arguments.double());
                fill(state, place, value, rows, stream)
            }
            Call::Occupancy => {
                let (function, threads) = (self.kernel(arguments.double())?, arguments.word());
                let shared = arguments.double() as u32;
                Ok(resident_blocks(&function.kernel, threads, shared).into())
            }
            Call::TakeError | Call::PeekAtError => Ok(0),
            Call::Fail => {
                let code = arguments.word();
                Err(ALL.into_iter().find(|error| error.code == code).unwrap_or(INVALID_VALUE).into())
            }
            Call::Device | Call::Devices | Call::Version | Call::Attribute | Call::Limit => {
                self.property(call, arguments)
            }
            _ => object(state, call, arguments),
        }
    }

    /// Answers a question about the device or the context.
    fn property(&self, call: Call, arguments: &mut Arguments<'_>) -> Value {
        let context = &self.function.module.context;
        Ok(match call {
            Call::Device => context.device as u64,
            Call::Devices => count().unwrap_or_default() as u64,
            Call::Version => VERSION,
            Call::Limit => context.limit(CUlimit(arguments.word())).map_err(|_| INVALID_VALUE)? as u64,
            _ => {
                let (asked, device) = (CUdevice_attribute(arguments.word()), arguments.word() as i32);
                if check_device(device).is_err() {
                    return Err(INVALID_DEVICE.into());
                }
                attribute(asked, device).ok_or(INVALID_VALUE)? as u64
            }
        })
    }

    /// Returns the kernel at an address of the program.
    fn kernel(&self, address: u64) -> Result<Arc<Function>, Refusal> {
        let module = &self.function.module;
        let find = || {
            let offset = address.checked_sub(memory().windows().code)?;
            let name = module.program.functions().get((offset / FUNCTION_STRIDE) as usize)?;
            let kernel = module.program.kernel(name).filter(|_| offset % FUNCTION_STRIDE == 0)?;
            HANDLES.get(function_of(module, kernel).ok()?)
        };
        find().ok_or_else(|| Refusal::Fault(format!("a launch of {address:#x}, which is no kernel")))
    }

    fn buffer(&self, state: &mut State, bytes: u64, buffer: Buffer) -> Value {
        if state.prepared + state.work.len() + state.tail.len() >= self.most {
            return Err(TOO_MANY_LAUNCHES.into());
        }
        match self.buffers.allocate(bytes) {
            0 => Err(TOO_MANY_LAUNCHES.into()),
            address => {
                state.buffers.insert(address, buffer);
                state.prepared += 1;
                Ok(address)
            }
        }
    }
}

/// Checks a shape against the limits of device and kernel.
fn check(shape: &LaunchShape, function: &Function) -> Result<(), Refusal> {
    shape.threads(function).map(drop).map_err(|(_, cause)| Refusal::Error(INVALID_CONFIGURATION, cause))
}

/// Launches with the parameters in a buffer.
fn launch(
    state: &mut State,
    (address, stream): (u64, u64),
    stated: Option<(Arc<Function>, LaunchShape)>,
) -> Value {
    let fault = || Refusal::Fault(format!("a launch with {address:#x}, which is no parameter buffer"));
    let buffer = state.buffers.get_mut(&address).ok_or_else(fault)?;
    let (function, shape, room) = match (std::mem::replace(buffer, Buffer::Used), stated) {
        (Buffer::Sized(bytes), Some((function, shape))) => (function, shape, bytes),
        (Buffer::OfLaunch(function, shape), None) => {
            let bytes = function.kernel.param_bytes().into();
            (function, shape, bytes)
        }
        _ => return Err(fault()),
    };
    state.prepared -= 1;
    let mut params = vec![0; function.kernel.param_bytes() as usize];
    let count = params.len().min(room as usize);
    let region = memory().find(address).ok_or_else(fault)?;
    let from = region.host.wrapping_add((address - region.base) as usize);
    // SAFETY: the buffer has as many bytes, and is live until the requests end. The kernel may
    // write to it meanwhile, in which case hardware too launches with either value.
    unsafe { ptr::copy_nonoverlapping(from, params.as_mut_ptr(), count) };
    check(&shape, &function)?;
    let launch = Launch::new(function, shape, params).map_err(|_| INVALID_CONFIGURATION)?;
    queue(state, stream, Some(Request::Launch(launch)))
}

/// Copies rows within the memory of devices, between addresses with pitches.
fn copy(state: &mut State, ends: [(u64, u64); 2], rows: (u64, u64), kind: u32, stream: u64) -> Value {
    /// The kinds between addresses of devices, and between any.
    const KINDS: [u32; 2] = [3, 4];
    if !KINDS.contains(&kind) {
        return Err(INVALID_DIRECTION.into());
    }
    if ends.iter().any(|(_, pitch)| *pitch < rows.0) {
        return Err(INVALID_PITCH.into());
    }
    let copy = Copy::rows(ends, rows).map_err(|_| INVALID_VALUE)?;
    queue(state, stream, copy.map(Request::Copy))
}

/// Fills rows with a byte, at an address with a pitch.
fn fill(state: &mut State, place: (u64, u64), value: u32, rows: (u64, u64), stream: u64) -> Value {
    let fill = Element::new(value & 0xff, 1)
        .and_then(|element| Fill::new(place.0, place.1, element, rows.0, rows.1))
        .map_err(|_| INVALID_VALUE)?;
    queue(state, stream, fill.map(Request::Fill))
}

fn queue(state: &mut State, stream: u64, request: Option<Request>) -> Value {
    if stream > LAST_CONSTANT && !state.streams.contains(&stream) {
        return Err(INVALID_VALUE.into());
    }
    let queue = if stream == TAIL { &mut state.tail } else { &mut state.work };
    queue.extend(request);
    Ok(0)
}

/// Creates, uses or destroys a stream or an event. All work runs in the order of its requests, so
/// events have no effect.
fn object(state: &mut State, call: Call, arguments: &mut Arguments<'_>) -> Value {
    let accepted = match call {
        Call::CreateStream | Call::CreateEvent => {
            let flags = arguments.word();
            let (objects, is_valid) = match call {
                Call::CreateStream => (&mut state.streams, flags <= 1),
                _ => (&mut state.events, flags & DISABLE_TIMING != 0),
            };
            if !is_valid {
                return Err(INVALID_VALUE.into());
            }
            state.handles += HANDLE_STRIDE;
            objects.insert(state.handles);
            return Ok(state.handles);
        }
        Call::DestroyStream => state.streams.remove(&arguments.double()),
        Call::DestroyEvent => state.events.remove(&arguments.double()),
        Call::Wait => {
            let (stream, event) = (arguments.double(), arguments.double());
            orders(state, stream) && state.events.contains(&event)
        }
        Call::Record => {
            let (event, stream) = (arguments.double(), arguments.double());
            orders(state, stream) && state.events.contains(&event)
        }
        _ => false,
    };
    if accepted { Ok(0) } else { Err(INVALID_VALUE.into()) }
}

/// True if a stream has an order, which events can refer to.
fn orders(state: &State, stream: u64) -> bool {
    stream < TAIL || state.streams.contains(&stream)
}
