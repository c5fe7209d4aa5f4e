//! Processes that end with memory of another process open.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};
use std::sync::{Mutex, PoisonError};

use cuprum::context::ContextStack;
use cuprum::memory::ForeignBuffer;
use cuprum::{Buffer, Current};

use crate::Ends::Code;
use crate::cases::{at_exit, cases, context};
use crate::{CASE, Case};

const OWNER: &str = "the_owner_of_memory";
const LEN: usize = 64;

/// The process whose memory it is, which no test is.
pub(crate) const HELPERS: &[Case] = &[Case { name: OWNER, run: own, ends: Code(0) }];

/// Prints a handle of its memory, and lives until its input ends.
fn own() {
    let context = context();
    let mut stack = ContextStack::take().unwrap();
    let cx = stack.push(&context).unwrap();
    let buffer = Buffer::from_slice(&cx, &[5u8; LEN]).unwrap();
    cx.synchronize().unwrap();
    let handle = buffer.ipc_handle(&cx).unwrap();
    let line: String = handle.iter().map(|byte| format!("{byte:02x}")).collect();
    println!("{line}");
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

/// Memory of another process, and the handle that keeps that process alive.
struct Opened {
    memory: ForeignBuffer<'static, u8>,
    /// Its input closes with this.
    _owner: Child,
}

impl Opened {
    fn new(cx: &Current<'_, 'static>) -> Self {
        let mut owner = crate::itself::itself()
            .env(CASE, OWNER)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(owner.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let byte = |at: usize| u8::from_str_radix(&line[2 * at..2 * at + 2], 16).unwrap();
        let handle = core::array::from_fn(byte);
        // SAFETY: bytes of a process that keeps them as long as its input is open.
        let memory = unsafe { ForeignBuffer::open_ipc(cx, handle) }.unwrap();
        Self { memory, _owner: owner }
    }
}

static KEPT: Mutex<Option<Opened>> = Mutex::new(None);

extern "C" fn drop_kept() {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner).take();
}

/// Opens it, reads it, and keeps it.
fn keep() {
    let context = context().leak();
    let mut stack = ContextStack::take().unwrap();
    let cx = stack.push(context).unwrap();
    let opened = Opened::new(&cx);
    assert_eq!(opened.memory.as_slice().to_vec(&cx).unwrap()[..LEN], [5; LEN]);
    *KEPT.lock().unwrap() = Some(opened);
}

cases! { OPENED:
    #[test]
    fn memory_of_another_process_in_a_static() -> Code(0); {
        keep();
    }

    #[test]
    fn memory_of_another_process_dropped_after_the_end_of_main() -> Code(0); {
        at_exit(drop_kept);
        keep();
    }

    #[test]
    fn memory_of_another_process_dropped_after_the_end_of_main_before_the_driver_ends() -> Code(0); {
        keep();
        at_exit(drop_kept);
    }

    /// After its context is destroyed, the memory is not open any more, though it was forgotten.
    #[test]
    fn memory_of_another_process_forgotten_in_a_context_that_goes() -> Code(0); {
        let context = context().share();
        context.enter(|cx| {
            std::mem::forget(Opened::new(cx));
            Ok(())
        }).unwrap();
        drop(context);
    }
}
