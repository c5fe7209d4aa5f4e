//! Operations, queued on streams by calls of the driver.

use std::ffi::c_void;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use cuprum_sys::{CUevent, CUevent_flags, CUstream, CUstreamCaptureStatus, Fns};

use crate::code;
use crate::comm::{Comm, Slot};
use crate::driver::{Staging, check, in_context};
use crate::messages::{COLLECTIVE, Function, RECEIVE, SEND};
use crate::reduce::size_of_type;
use crate::wire::Message;

/// One call of a collective, a send or a receive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) function: Function,
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) count: usize,
    pub(crate) data_type: u64,
    pub(crate) operator: u64,
    /// Factor of a premultiplied sum, as bytes of an element.
    pub(crate) factor: u64,
    /// The root, or the other side of a send or receive.
    pub(crate) peer: u64,
}

/// Operations of one communicator that arrive together, on one stream.
struct Batch {
    comm: Arc<Comm>,
    parts: Vec<Part>,
    /// True if a graph has it, which may run it again.
    captured: bool,
}

struct Part {
    request: Request,
    slot: Arc<Slot>,
    outgoing: usize,
}

impl Request {
    /// Bytes that go out and come in.
    fn bytes(&self, comm: &Comm) -> Result<(usize, usize), i32> {
        let element = size_of_type(self.data_type).ok_or(code::ARGUMENT)?;
        let bytes = self.count.checked_mul(element).ok_or(code::ARGUMENT)?;
        let of_all = bytes.checked_mul(comm.size as usize).ok_or(code::ARGUMENT)?;
        let is_root = comm.rank == self.peer;
        Ok(match self.function {
            Function::AllReduce => (bytes, bytes),
            Function::Reduce => (bytes, if is_root { bytes } else { 0 }),
            Function::Broadcast => (if is_root { bytes } else { 0 }, bytes),
            Function::AllGather => (bytes, of_all),
            Function::ReduceScatter => (of_all, bytes),
            Function::Send => (bytes, 0),
            Function::Receive => (0, bytes),
        })
    }

    fn message(&self, request: u64, bytes: Vec<u8>) -> Message {
        let (kind, numbers) = match self.function {
            Function::Send => (SEND, [request, self.peer, 0, 0, 0, 0, 0, 0]),
            Function::Receive => (RECEIVE, [request, self.peer, 0, 0, 0, 0, 0, 0]),
            function => {
                let Self { data_type, operator, peer, count, factor, .. } = *self;
                (COLLECTIVE, [request, function as u64, data_type, operator, peer, count as u64, factor, 0])
            }
        };
        Message { kind, numbers, bytes }
    }
}

/// Queues operations on a stream.
pub(crate) fn enqueue(comm: &Arc<Comm>, stream: CUstream, requests: &[Request]) -> Result<(), i32> {
    in_context(comm.context, |fns| {
        let mut status = CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
        // SAFETY: the stream is the program's, and the place outlives the call.
        check("cuStreamIsCapturing", unsafe { (fns.cuStreamIsCapturing)(stream, &raw mut status) })?;
        let captured = status != CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
        let parts = requests.iter().map(|request| part(fns, comm, *request)).collect::<Result<_, _>>()?;
        queue_batch(fns, Batch { comm: Arc::clone(comm), parts, captured }, stream)
    })
}

fn part(fns: &Fns, comm: &Comm, request: Request) -> Result<Part, i32> {
    let (outgoing, incoming) = request.bytes(comm)?;
    let bytes = outgoing.max(incoming);
    let mut idle = comm.idle.lock().unwrap_or_else(PoisonError::into_inner);
    let at = idle.iter().position(|staging| staging.serves(bytes));
    let staging = match at {
        Some(at) => idle.swap_remove(at),
        None => Staging::new(fns, bytes)?,
    };
    staging.flag().store(0, Ordering::Release);
    Ok(Part { request, slot: Arc::new(Slot { staging, incoming }), outgoing })
}

fn queue_batch(fns: &Fns, batch: Batch, stream: CUstream) -> Result<(), i32> {
    let comm = Arc::clone(&batch.comm);
    if !batch.captured {
        come_after_last(fns, &comm, stream)?;
        comm.queue_batch();
    }
    let batch = Box::leak(Box::new(batch));
    for Part { request, slot, outgoing } in &batch.parts {
        if *outgoing > 0 {
            let to = slot.staging.outgoing();
            // SAFETY: the page-locked side has so many bytes; the other one is the program's.
            check("cuMemcpyDtoHAsync", unsafe {
                (fns.cuMemcpyDtoHAsync_v2)(to, request.from, *outgoing, stream)
            })?;
        }
    }
    let data = std::ptr::from_mut(batch).cast::<c_void>();
    // SAFETY: the batch lives until `done`, or forever.
    check("cuLaunchHostFunc", unsafe { (fns.cuLaunchHostFunc)(stream, Some(arrive), data) })?;
    // SAFETY: as above; `done` runs after all that is queued here.
    let batch = unsafe { &*data.cast::<Batch>() };
    if !batch.captured {
        note_last(fns, &comm, stream)?;
    }
    for Part { slot, .. } in &batch.parts {
        let flag = slot.staging.flag_address();
        // SAFETY: the flag is in page-locked memory of the batch.
        check("cuStreamWaitValue32", unsafe { (fns.cuStreamWaitValue32_v2)(stream, flag, 1, 0) })?;
    }
    for Part { request, slot, .. } in &batch.parts {
        if slot.incoming > 0 {
            let from = slot.staging.incoming();
            // SAFETY: as for the copy out.
            let result = unsafe { (fns.cuMemcpyHtoDAsync_v2)(request.to, from, slot.incoming, stream) };
            check("cuMemcpyHtoDAsync", result)?;
        }
    }
    // SAFETY: as above.
    check("cuLaunchHostFunc", unsafe { (fns.cuLaunchHostFunc)(stream, Some(done), data) })
}

/// Operations of one communicator arrive in the order of the calls, on whatever streams.
fn come_after_last(fns: &Fns, comm: &Comm, stream: CUstream) -> Result<(), i32> {
    let last = comm.last.lock().unwrap_or_else(PoisonError::into_inner);
    match *last {
        Some((other, event)) if other != stream => {
            // SAFETY: the event is the communicator's, the stream the program's.
            check("cuStreamWaitEvent", unsafe { (fns.cuStreamWaitEvent)(stream, event, 0) })
        }
        _ => Ok(()),
    }
}

fn note_last(fns: &Fns, comm: &Comm, stream: CUstream) -> Result<(), i32> {
    let mut last = comm.last.lock().unwrap_or_else(PoisonError::into_inner);
    let event = match *last {
        Some((_, event)) => event,
        None => {
            let (mut event, flags) = (CUevent::null(), CUevent_flags::CU_EVENT_DISABLE_TIMING.0);
            // SAFETY: the place outlives the call.
            check("cuEventCreate", unsafe { (fns.cuEventCreate)(&raw mut event, flags) })?;
            event
        }
    };
    *last = Some((stream, event));
    // SAFETY: the event is the communicator's, the stream the program's.
    check("cuEventRecord", unsafe { (fns.cuEventRecord)(event, stream) })
}

/// Gives the elements of a batch to the hub. The copies before it are done.
unsafe extern "C" fn arrive(data: *mut c_void) {
    // SAFETY: the batch lives until `done`, or forever.
    let batch = unsafe { &*data.cast::<Batch>() };
    for Part { request, slot, outgoing } in &batch.parts {
        slot.staging.flag().store(0, Ordering::Release);
        let message = request.message(batch.comm.request(), slot.staging.sent(*outgoing));
        batch.comm.arrive(slot, &message);
    }
}

/// Takes back the memory of a batch that is over.
unsafe extern "C" fn done(data: *mut c_void) {
    let batch = data.cast::<Batch>();
    // SAFETY: the batch lives until `done`, or forever.
    if unsafe { &*batch }.captured {
        return;
    }
    // SAFETY: it was leaked from a box, and this is its last use.
    let Batch { comm, parts, .. } = *unsafe { Box::from_raw(batch) };
    let stagings = parts.into_iter().filter_map(|part| Arc::into_inner(part.slot)).map(|slot| slot.staging);
    comm.batch_done(stagings);
}
