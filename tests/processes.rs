//! Memory and events that two processes have: the test is one, this program again is the other.
//!
//! Alone, since the other process runs this program. On a GPU (`CUPRUM_DEVICE=gpu`) it asks the driver the same.
#![cfg(target_os = "linux")]

#[path = "support/common/mod.rs"]
mod common;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use common::{in_context, kernels};
use cuprum::memory::{IpcBuffer, IpcMemHandle};
use cuprum::stream::IpcEventHandle;
use cuprum::sys::CUresult;
use cuprum::{Buffer, Current, Event, EventFlags, In, InOut, LaunchConfig, Stream};

const OTHER: &str = "CUPRUM_TEST_OTHER_PROCESS";
const LEN: usize = 64;

/// The other process, which answers each line with a line.
struct Other {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Other {
    fn start() -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "the_other_process", "--nocapture", "--test-threads=1"])
            .env(OTHER, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, to, from }
    }

    fn ask(&mut self, question: &str, bytes: Option<[u8; 64]>) -> String {
        let hex: String = bytes.iter().flatten().map(|byte| format!("{byte:02x}")).collect();
        writeln!(self.to, "{question} {hex}").unwrap();
        let mut line = String::new();
        while self.from.read_line(&mut line).unwrap() > 0 {
            if let Some((_, answer)) = line.split_once("> ") {
                return answer.trim_end().to_owned();
            }
            line.clear();
        }
        panic!("no answer to {question}");
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn bytes(hex: &str) -> [u8; 64] {
    core::array::from_fn(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap())
}

/// What the other process has open.
#[derive(Default)]
struct Open<'ctx> {
    memory: Vec<IpcBuffer<'ctx, f32>>,
    events: Vec<Event<'ctx>>,
}

/// Does what a line says; gives the answer.
fn answer<'ctx>(cx: &Current<'_, 'ctx>, open: &mut Open<'ctx>, line: &str) -> String {
    let (verb, hex) = line.split_once(' ').unwrap();
    match verb {
        "open" => {
            // SAFETY: the test made the handle, keeps the memory, and waits for the answers.
            match unsafe { IpcBuffer::open(cx, IpcMemHandle::from_bytes(bytes(hex))) } {
                Ok(memory) => {
                    open.memory.push(memory);
                    open.memory[0].len().to_string()
                }
                Err(error) => format!("{:?}", error.code()),
            }
        }
        "event" => {
            // SAFETY: the test made the handle, and keeps the event.
            let event = unsafe { Event::open(cx, IpcEventHandle::from_bytes(bytes(hex))) };
            open.events.push(event.unwrap());
            open.events[0].is_done().unwrap().to_string()
        }
        "sum" => open.memory[0].as_slice().to_vec(cx).unwrap().iter().sum::<f32>().to_string(),
        "fill" => {
            open.memory[0].as_mut_slice().fill(cx, 3.0).unwrap();
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

/// Adds 2 to each element, by a kernel behind the event, and records the event again.
fn add(cx: &Current<'_, '_>, open: &mut Open<'_>) -> String {
    let module = kernels!(cx, "vector_add");
    let add = module.function("vector_add").unwrap().bind::<(In<f32>, In<f32>, InOut<f32>, u32)>().unwrap();
    let stream = Stream::new(cx).unwrap();
    let two = Buffer::from_slice(cx, &[2.0f32; LEN]).unwrap();
    let mut sum = Buffer::<f32>::zeroed(cx, LEN).unwrap();
    stream.wait(cx, &open.events[0]).unwrap();
    let theirs = &open.memory[0];
    // SAFETY: 64 elements of each; the other process writes none before it has the answer.
    unsafe { add.launch(cx, &stream, LaunchConfig::new(2, 32), (theirs, &two, &mut sum, LEN as u32)) }
        .unwrap();
    stream.synchronize(cx).unwrap();
    open.memory[0].as_mut_slice().copy_from(cx, sum.as_slice()).unwrap();
    open.events[0].record(cx, &Stream::default_in(cx)).unwrap();
    "added".to_owned()
}

/// As a test of its own it does nothing.
#[test]
fn the_other_process() {
    if std::env::var_os(OTHER).is_none() {
        return;
    }
    in_context(|cx| {
        let mut open = Open::default();
        for line in std::io::stdin().lines() {
            println!("> {}", answer(cx, &mut open, &line.unwrap()));
        }
    });
}

fn shared_event<'ctx>(cx: &Current<'_, 'ctx>) -> Event<'ctx> {
    Event::new(cx, EventFlags::INTERPROCESS | EventFlags::DISABLE_TIMING).unwrap()
}

#[test]
fn each_process_sees_what_the_other_wrote() {
    in_context(|cx| {
        let mut other = Other::start();
        let buffer = Buffer::from_slice(cx, &[1.0f32; LEN]).unwrap();
        cx.synchronize().unwrap();
        let handle = buffer.ipc_handle(cx).unwrap();
        assert_eq!(other.ask("open", Some(handle.to_bytes())), LEN.to_string());
        assert_eq!(other.ask("sum", None), LEN.to_string());
        assert_eq!(other.ask("fill", None), "filled");
        assert_eq!(buffer.to_vec(cx).unwrap(), [3.0; LEN]);
        assert_eq!(other.ask("open", Some(handle.to_bytes())), LEN.to_string(), "once more");
        assert_eq!(other.ask("close", None), "closed");
        let unknown = other.ask("open", Some([0; 64]));
        assert_eq!(unknown, format!("{:?}", CUresult::CUDA_ERROR_INVALID_VALUE));
        // SAFETY: nothing is opened, as this is the process that allocated it.
        let own = unsafe { IpcBuffer::<f32>::open(cx, handle) }.unwrap_err();
        assert_eq!(own.code(), CUresult::CUDA_ERROR_INVALID_CONTEXT);
        buffer.close().unwrap();
    });
}

#[test]
fn an_event_orders_the_kernel_of_one_process_behind_the_copy_of_the_other() {
    in_context(|cx| {
        let mut other = Other::start();
        let event = shared_event(cx);
        let mut buffer = Buffer::<f32>::zeroed(cx, LEN).unwrap();
        let (memory, name) = (buffer.ipc_handle(cx).unwrap(), event.ipc_handle(cx).unwrap());
        assert_eq!(other.ask("open", Some(memory.to_bytes())), LEN.to_string());
        assert_eq!(other.ask("event", Some(name.to_bytes())), "true", "never recorded");
        buffer.fill(cx, 5.0).unwrap();
        event.record(cx, &Stream::default_in(cx)).unwrap();
        assert_eq!(other.ask("add", None), "added");
        event.synchronize().unwrap();
        assert_eq!(buffer.to_vec(cx).unwrap(), [7.0; LEN]);
        assert_eq!(other.ask("synchronize", None), "true");
        assert_eq!(other.ask("close", None), "closed");
        drop(other);
        event.close().unwrap();
        buffer.close().unwrap();
    });
}

#[test]
fn what_cannot_be_shared_says_so() {
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
        let none = unsafe { Event::open(cx, IpcEventHandle::from_bytes([0; 64])) }.unwrap_err();
        assert_eq!(none.code(), CUresult::CUDA_ERROR_MAP_FAILED);
    });
}
