//! Memory and semaphores of another API, for which files of the emulator stand in.

use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd};
use std::sync::Arc;

use cuprum::external::{ExternalMemory, ExternalSemaphore};
use cuprum::graph::{Graph, InstantiateFlags};
use cuprum::memory::{ArrayFlags, ArrayShape};
use cuprum::sys::{
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC, CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC,
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS, CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS, CUexternalMemoryHandleType,
    CUexternalSemaphoreHandleType,
};
use cuprum::{Current, Stream};

use super::Steps;

const BYTES: u64 = 4096;

/// The descriptor that the other API has exported.
fn owned(descriptor: Option<i32>) -> OwnedFd {
    // SAFETY: just made, and owned by nothing else.
    unsafe { OwnedFd::from_raw_fd(descriptor.expect("a descriptor")) }
}

pub(super) fn all(steps: &Steps, cx: &Current<'_, '_>) {
    memory(steps, cx);
    semaphores(steps, cx);
    nodes(steps, cx);
}

fn memory(steps: &Steps, cx: &Current<'_, '_>) {
    let other = cuprum_emulator::memory::ExternalMemory::new(BYTES).expect("shared memory");
    let mut described = CUDA_EXTERNAL_MEMORY_HANDLE_DESC::zeroed();
    described.type_ = CUexternalMemoryHandleType::CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    described.handle.fd = owned(other.descriptor()).into_raw_fd();
    described.size = BYTES;
    // SAFETY: a descriptor of so many bytes, used by nothing else.
    let memory =
        steps.attempt("ExternalMemory::import", || unsafe { ExternalMemory::import(cx, &described) });
    steps.done("ExternalMemory::drop", || drop(memory));
    // SAFETY: a descriptor of so many bytes, used by nothing else.
    let import = || unsafe { ExternalMemory::from_opaque_fd(cx, owned(other.descriptor()), BYTES) };
    if let Some(memory) = steps.attempt("ExternalMemory::from_opaque_fd", import) {
        // SAFETY: nothing else uses the bytes.
        let map = || unsafe { memory.map::<u8>(cx, 0, 16) };
        if let Some(buffer) = steps.attempt("ExternalMemory::map", map) {
            steps.attempt("ForeignBuffer::close", || buffer.close());
        }
        let buffer = steps.attempt("ExternalMemory::map", map);
        steps.done("ForeignBuffer::drop", || drop(buffer));
        let (shape, flags) = (ArrayShape::TwoD { width: 4, height: 4 }, ArrayFlags::empty());
        // SAFETY: nothing else uses the bytes; any bytes are floats.
        let image = || unsafe { memory.mipmapped::<f32>(cx, 0, shape, flags, 1) };
        let array = steps.attempt("ExternalMemory::mipmapped", image);
        steps.done("MipmappedArray::drop", || drop(array));
        steps.attempt("ExternalMemory::close", || memory.close());
    }
    let memory = steps.attempt("ExternalMemory::from_opaque_fd", import);
    steps.done("ExternalMemory::drop", || drop(memory));
}

fn semaphores(steps: &Steps, cx: &Current<'_, '_>) {
    let other = cuprum_emulator::memory::ExternalSemaphore::new().expect("shared memory");
    let mut described = CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC::zeroed();
    described.type_ = CUexternalSemaphoreHandleType::CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD;
    described.handle.fd = owned(other.descriptor()).into_raw_fd();
    // SAFETY: a descriptor of a semaphore.
    let import = || unsafe { ExternalSemaphore::import(cx, &described) };
    let semaphore = steps.attempt("ExternalSemaphore::import", import);
    steps.done("ExternalSemaphore::drop", || drop(semaphore));
    // SAFETY: a descriptor of a semaphore with a value.
    let import = || unsafe { ExternalSemaphore::from_timeline_fd(cx, owned(other.descriptor())) };
    let stream = steps.attempt("Stream::new", || Stream::new(cx));
    if let Some(semaphore) = steps.attempt("ExternalSemaphore::from_timeline_fd", import) {
        if let Some(stream) = &stream {
            // SAFETY: the stream finishes with the semaphore before it is destroyed: no wait takes
            // long.
            steps.attempt("ExternalSemaphore::signal", || unsafe { semaphore.signal(cx, stream, 1) });
            other.signal(1);
            // SAFETY: as above.
            steps.attempt("ExternalSemaphore::wait", || unsafe { semaphore.wait(cx, stream, 1) });
            steps.attempt("Stream::synchronize", || stream.synchronize(cx));
        }
        steps.attempt("ExternalSemaphore::close", || semaphore.close());
    }
    let semaphore = steps.attempt("ExternalSemaphore::from_timeline_fd", import);
    steps.done("ExternalSemaphore::drop", || drop(semaphore));
    steps.done("Stream::drop", || drop(stream));
}

/// No wait here lasts: the semaphore has the value.
fn nodes(steps: &Steps, cx: &Current<'_, '_>) {
    let other = cuprum_emulator::memory::ExternalSemaphore::new().expect("shared memory");
    // SAFETY: a descriptor of a semaphore with a value.
    let import = || unsafe { ExternalSemaphore::from_timeline_fd(cx, owned(other.descriptor())) };
    let semaphore = steps.attempt("ExternalSemaphore::from_timeline_fd", import);
    let graph = steps.attempt("Graph::new", || Graph::new(cx));
    let (Some(semaphore), Some(mut graph)) = (semaphore, graph) else { return };
    let Ok(shared) = graph.lend(Arc::new(semaphore)) else { return };
    let (waits, signals) = ([(shared, 0)], [(shared, 1)]);
    let wait = steps.attempt("Graph::add_semaphore_waits", || graph.add_semaphore_waits(cx, &[], &waits));
    // SAFETY: replayed once.
    let add = || unsafe { graph.add_semaphore_signals(cx, &[], &signals) };
    let signal = steps.attempt("Graph::add_semaphore_signals", add);
    if let Some(wait) = wait {
        steps.attempt("NodeSetter::semaphore_waits", || graph.set(cx, wait).semaphore_waits(&waits));
        steps
            .attempt("Graph::params", || graph.params::<Vec<(_, CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS)>>(wait));
    }
    if let Some(signal) = signal {
        // SAFETY: as above.
        let set = || unsafe { graph.set(cx, signal).semaphore_signals(&signals) };
        steps.attempt("NodeSetter::semaphore_signals", set);
        steps.attempt("Graph::params", || {
            graph.params::<Vec<(_, CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS)>>(signal)
        });
    }
    let made = steps.attempt("Graph::instantiate", || graph.instantiate(cx, InstantiateFlags::empty()));
    let Some(mut executable) = made else { return };
    if let Some(wait) = wait {
        let set = || executable.set(cx, wait).semaphore_waits(&waits);
        steps.attempt("NodeSetter::semaphore_waits", set);
    }
    if let Some(signal) = signal {
        // SAFETY: as above.
        let set = || unsafe { executable.set(cx, signal).semaphore_signals(&signals) };
        steps.attempt("NodeSetter::semaphore_signals", set);
    }
    if let Some(stream) = steps.attempt("Stream::new", || Stream::new(cx)) {
        steps.attempt("GraphExec::launch", || executable.launch(cx, &stream));
        steps.done("Stream::drop", || drop(stream));
    }
    steps.done("GraphExec::drop", || drop(executable));
}
