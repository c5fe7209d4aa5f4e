//! Memory and events that two processes have: the test is one, this program again is the other.
//!
//! Alone, since the other process runs this program. On a GPU (`CUPRUM_DEVICE=gpu`) it asks the
//! driver the same.
#![cfg(target_os = "linux")]

use common::{in_context, kernels};
use cuprum::memory::ForeignBuffer;
use cuprum::stream::{Event, EventFlags};
use cuprum::sys::CUresult;
use cuprum::{Buffer, Current, In, InOut, LaunchConfig, Stream};
use cuprum_testing::{common, peer};
use peer::{Peer, bytes, hex, is_peer, serve};

const LEN: usize = 64;

/// Starts the other process.
fn other() -> Peer {
    Peer::start("the_other_process")
}

/// Objects that the other process has open.
#[derive(Default)]
struct Open<'ctx> {
    memory: Vec<ForeignBuffer<'ctx, f32>>,
    events: Vec<Event<'ctx>>,
}

/// Runs the command of a line and returns the answer.
fn answer<'ctx>(cx: &Current<'_, 'ctx>, open: &mut Open<'ctx>, words: &[&str]) -> String {
    match words[0] {
        "open" => {
            // SAFETY: the test made the handle, keeps the memory, and waits for the answers.
            match unsafe { ForeignBuffer::open_ipc(cx, bytes(words[1])) } {
                Ok(memory) => {
                    open.memory.push(memory);
                    open.memory[0].len().to_string()
                }
                Err(error) => format!("{:?}", error.code()),
            }
        }
        "event" => {
            // SAFETY: the test made the handle, and keeps the event.
            let event = unsafe { Event::open(cx, bytes(words[1])) };
            open.events.push(event.unwrap());
            open.events[0].is_done().unwrap().to_string()
        }
        "sum" => open.memory[0].as_slice().to_vec(cx).unwrap().iter().sum::<f32>().to_string(),
        "fill" => {
            cx.fill(&mut open.memory[0], 3.0).unwrap();
            cx.synchronize().unwrap();
            "filled".to_owned()
        }
        "add" => add(cx, open),
        "done" => open.events[0].is_done().unwrap().to_string(),
        "synchronize" => {
            open.events[0].synchronize().unwrap();
            open.events[0].is_done().unwrap().to_string()
        }
        "close" => {
            for memory in open.memory.drain(..) {
                memory.close().unwrap();
            }
            "closed".to_owned()
        }
        other => panic!("{other}?"),
    }
}

/// Adds 2 to each element by a kernel that waits for the event, and records the event again.
fn add(cx: &Current<'_, '_>, open: &mut Open<'_>) -> String {
    let module = kernels!(cx, "vector_add");
    let add = module.function("vector_add").unwrap().bind::<(In<f32>, In<f32>, InOut<f32>, u32)>().unwrap();
    let stream = Stream::new(cx).unwrap();
    let two = Buffer::from_slice(cx, &[2.0f32; LEN]).unwrap();
    let mut sum = Buffer::<f32>::zeroed(cx, LEN).unwrap();
    stream.wait_event(cx, &open.events[0]).unwrap();
    let theirs = &open.memory[0];
    // SAFETY: 64 elements of each; the other process writes none before it has the answer.
    unsafe { add.launch(cx, &stream, LaunchConfig::new(2, 32), (theirs, &two, &mut sum, LEN as u32)) }
        .unwrap();
    stream.synchronize(cx).unwrap();
    cx.copy(&mut open.memory[0], &sum).unwrap();
    open.events[0].record(cx, &Stream::default_in(cx)).unwrap();
    "added".to_owned()
}

/// As a test of its own it does nothing.
#[test]
fn the_other_process() {
    if !is_peer() {
        return;
    }
    in_context(|cx| {
        let mut open = Open::default();
        serve(|words| answer(cx, &mut open, words));
    });
}

fn shared_event<'ctx>(cx: &Current<'_, 'ctx>) -> Event<'ctx> {
    Event::new(cx, EventFlags::INTERPROCESS | EventFlags::DISABLE_TIMING).unwrap()
}

#[test]
fn each_process_sees_what_the_other_wrote() {
    in_context(|cx| {
        let mut other = other();
        let buffer = Buffer::from_slice(cx, &[1.0f32; LEN]).unwrap();
        cx.synchronize().unwrap();
        let handle = buffer.ipc_handle(cx).unwrap();
        assert_eq!(other.ask(&format!("open {}", hex(handle))), LEN.to_string());
        assert_eq!(other.ask("sum"), LEN.to_string());
        assert_eq!(other.ask("fill"), "filled");
        assert_eq!(buffer.to_vec(cx).unwrap(), [3.0; LEN]);
        assert_eq!(other.ask(&format!("open {}", hex(handle))), LEN.to_string(), "once more");
        assert_eq!(other.ask("close"), "closed");
        let unknown = other.ask(&format!("open {}", hex([0; 64])));
        assert_eq!(unknown, format!("{:?}", CUresult::CUDA_ERROR_INVALID_VALUE));
        // SAFETY: nothing is opened, as this is the process that allocated it.
        let own = unsafe { ForeignBuffer::<f32>::open_ipc(cx, handle) }.unwrap_err();
        assert_eq!(own.code(), CUresult::CUDA_ERROR_INVALID_CONTEXT);
        buffer.close().unwrap();
    });
}

#[test]
fn an_event_orders_the_kernel_of_one_process_after_the_copy_of_the_other() {
    in_context(|cx| {
        let mut other = other();
        let event = shared_event(cx);
        let mut buffer = Buffer::<f32>::zeroed(cx, LEN).unwrap();
        let (memory, name) = (buffer.ipc_handle(cx).unwrap(), event.ipc_handle(cx).unwrap());
        assert_eq!(other.ask(&format!("open {}", hex(memory))), LEN.to_string());
        assert_eq!(other.ask(&format!("event {}", hex(name))), "true", "never recorded");
        cx.fill(&mut buffer, 5.0).unwrap();
        event.record(cx, &Stream::default_in(cx)).unwrap();
        assert_eq!(other.ask("add"), "added");
        event.synchronize().unwrap();
        assert_eq!(buffer.to_vec(cx).unwrap(), [7.0; LEN]);
        assert_eq!(other.ask("synchronize"), "true");
        assert_eq!(other.ask("close"), "closed");
        drop(other);
        event.close().unwrap();
        buffer.close().unwrap();
    });
}

#[test]
fn memory_that_cannot_be_shared_is_an_error() {
    in_context(|cx| {
        let empty = Buffer::<f32>::alloc(cx, 0).unwrap().ipc_handle(cx).unwrap_err();
        assert_eq!(empty.code(), CUresult::CUDA_ERROR_INVALID_VALUE);
        let plain = Event::new(cx, EventFlags::empty()).unwrap().ipc_handle(cx).unwrap_err();
        assert_eq!(plain.code(), CUresult::CUDA_ERROR_INVALID_HANDLE);
        let timed = Event::new(cx, EventFlags::INTERPROCESS).unwrap_err();
        assert_eq!(timed.code(), CUresult::CUDA_ERROR_INVALID_VALUE);
        let event = shared_event(cx);
        // SAFETY: nothing is opened, as this is the process that made it.
        let own = unsafe { Event::open(cx, event.ipc_handle(cx).unwrap()) }.unwrap_err();
        assert_eq!(own.code(), CUresult::CUDA_ERROR_INVALID_CONTEXT);
        // SAFETY: nothing is opened: it names no event.
        let none = unsafe { Event::open(cx, [0; 64]) }.unwrap_err();
        assert_eq!(none.code(), CUresult::CUDA_ERROR_MAP_FAILED);
    });
}
