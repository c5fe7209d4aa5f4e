//! The children's work: each case ends the process in its own way.

use std::cell::RefCell;
use std::ffi::c_int;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use cuprum::context::{Context, ContextFlags, ContextStack, PrimaryContext};
use cuprum::memory::PinnedFlags;
use cuprum::stream::{Event, EventFlags};
use cuprum::sys::{CUresult, call};
use cuprum::{Buffer, Current, Driver, In, InOut, LaunchConfig, Module, PinnedBuffer, Stream};

use crate::Case;
use crate::Ends::{Code, Signal};
use crate::common::{load, on_gpu};
use crate::held::Held;
use crate::memory::Memory;
use crate::pending::pending;

/// Exit status of a child whose drops swallowed errors.
const SWALLOWED: c_int = 99;
/// Exit status of a `main` that panics.
pub(crate) const PANICKED: i32 = 101;
const SIGABRT: i32 = 6;

unsafe extern "C" {
    fn atexit(handler: extern "C" fn()) -> c_int;
    fn _exit(code: c_int) -> !;
}

pub(crate) fn faults<'ctx>(cx: &Current<'_, 'ctx>) -> Module<'ctx> {
    load(cx, include_str!("../../kernels/faults.ptx"))
}

pub(crate) fn saxpy<'ctx>(cx: &Current<'_, 'ctx>) -> Module<'ctx> {
    load(cx, include_str!("../../kernels/saxpy.ptx"))
}

/// Defines the cases: functions that run in a child, and how it ends.
macro_rules! cases {
    ($cases:ident: $( $(#[doc = $doc:literal])* #[test] fn $name:ident() -> $ends:expr; $body:block )*) => {
        $( $(#[doc = $doc])* fn $name() $body )*

        pub(crate) const $cases: &[Case] = &[$( Case { name: stringify!($name), run: $name, ends: $ends } ),*];
    };
}
pub(crate) use cases;

cases! { CASES:
    #[test]
    fn objects_in_statics() -> Code(0); {
        keep(Held::new(context().leak()));
    }

    /// A thread's objects are dropped when it ends; the main thread's are dropped after `main`.
    #[test]
    fn objects_in_thread_locals() -> Code(0); {
        let context = context().leak();
        let hold = || LOCAL.with(|local| local.replace(Some(Held::new(context)))).is_none();
        assert!(thread::spawn(hold).join().unwrap());
        assert!(hold());
    }

    /// The local is older than whatever the driver keeps for the thread, and is dropped after that.
    #[test]
    fn objects_in_thread_locals_made_before_the_driver() -> Code(0); {
        let hold = || {
            LOCAL.with(|local| local.replace(None));
            let held = Held::new(PrimaryContext::retain(driver().device(0).unwrap()).unwrap().leak());
            LOCAL.with(|local| local.replace(Some(held))).is_none()
        };
        assert!(thread::spawn(hold).join().unwrap());
        assert!(hold());
    }

    /// Functions registered before the driver was loaded run after all functions that the driver
    /// registered.
    #[test]
    fn dropped_after_the_end_of_main() -> Code(0); {
        at_exit(drop_kept);
        keep(Held::new(context().leak()));
    }

    #[test]
    fn dropped_after_the_end_of_main_before_the_driver_ends() -> Code(0); {
        keep(Held::new(context().leak()));
        at_exit(drop_kept);
    }

    /// Later than every function that was registered for the end.
    #[test]
    fn dropped_by_a_destructor_of_the_program() -> Code(0); {
        *AT_THE_VERY_END.lock().unwrap() = Some(Held::new(context().leak()));
    }

    #[test]
    fn a_panic_through_nested_pushes_and_scopes() -> Code(PANICKED); {
        let (first, second) = (context(), context());
        let unwound = std::panic::catch_unwind(|| panic_in_scopes(&first, &second));
        assert!(ContextStack::take().unwrap().push(&second).unwrap().synchronize().is_ok());
        assert_eq!(*unwound.unwrap_err().downcast::<&str>().unwrap(), "in a scope");
        panic_in_scopes(&first, &second);
    }

    #[test]
    fn a_panic_in_a_drop_of_user_data() -> Code(PANICKED); {
        let context = context();
        let mut stack = ContextStack::take().unwrap();
        let mut cx = stack.push(&context).unwrap();
        let inner = cx.push(&context).unwrap();
        let held = (Buffer::<u8>::zeroed(&inner, 64).unwrap(), Bomb);
        drop(held);
    }

    /// The second panic, in a drop while unwinding, ends every Rust program.
    #[test]
    fn a_panic_in_a_drop_while_unwinding() -> Signal(SIGABRT); {
        let context = context();
        let mut stack = ContextStack::take().unwrap();
        let cx = stack.push(&context).unwrap();
        let stream = Stream::new(&cx).unwrap();
        let _bomb = Bomb;
        let _ = cx.scope::<()>(&stream, |_| {
            let _inner = Bomb;
            panic!("the first");
        });
    }

    #[test]
    fn exit_within_a_scope_with_copies_in_flight() -> Code(17); {
        let context = context();
        let mut stack = ContextStack::take().unwrap();
        let cx = stack.push(&context).unwrap();
        let stream = Stream::non_blocking(&cx).unwrap();
        let mut buffer = Buffer::<u8>::zeroed(&cx, BYTES).unwrap();
        let (input, mut output) = (vec![1u8; BYTES], vec![0u8; BYTES]);
        let _ = cx.scope::<()>(&stream, |scope| {
            let lent = scope.lend(buffer.as_mut_slice()).unwrap();
            scope.copy(&lent, &input).unwrap();
            scope.read(&mut output, &lent).unwrap();
            std::process::exit(17)
        });
    }

    #[test]
    fn exit_with_requests_on_their_way() -> Code(21); {
        context().share().enter(|cx| {
            let stream = Stream::non_blocking(cx).unwrap();
            let mut host = PinnedBuffer::<u8>::zeroed(cx, BYTES, PinnedFlags::empty()).unwrap();
            let mut buffer = Buffer::<u8>::zeroed(cx, BYTES).unwrap();
            let _pending = pending(cx, &stream);
            let _awaited = pending(cx, &stream).notify(cx, &stream).unwrap();
            let _ = cx.scope::<()>(&stream, |scope| {
                let lent = scope.lend(buffer.as_mut_slice()).unwrap();
                scope.copy(&scope.lend(&mut host).unwrap(), &lent).unwrap();
                std::process::exit(21)
            });
            Ok(())
        })
        .unwrap();
    }

    #[test]
    fn exit_while_another_thread_is_in_a_scope() -> Code(18); {
        let context = context().leak();
        let (sender, started) = mpsc::channel();
        thread::spawn(move || loop {
            let mut stack = ContextStack::take().unwrap();
            let Ok(cx) = stack.push(context) else { thread::park(); continue };
            let stream = Stream::non_blocking(&cx);
            let (Ok(stream), Ok(mut buffer)) = (stream, Buffer::<u8>::zeroed(&cx, BYTES)) else { continue };
            let mut host = vec![0u8; BYTES];
            let _ = cx.scope(&stream, |scope| {
                let lent = scope.lend(buffer.as_mut_slice());
                let _ = lent.map(|lent| scope.read(&mut host, &lent));
                let _ = sender.send(());
                Ok(())
            });
        });
        started.recv().unwrap();
        std::process::exit(18)
    }

    #[test]
    fn abort_on_another_thread_while_work_runs() -> Signal(SIGABRT); {
        let running = spinning();
        thread::spawn(|| std::process::abort());
        running.recv().unwrap_err();
    }

    #[test]
    fn the_end_of_main_while_a_kernel_runs() -> Code(0); {
        let _running = spinning();
    }

    #[test]
    fn exit_while_a_kernel_runs() -> Code(19); {
        let _running = spinning();
        std::process::exit(19)
    }

    #[test]
    fn the_end_of_main_while_a_thread_is_in_driver_calls() -> Code(0); {
        let context = context().leak();
        let (sender, started) = mpsc::channel();
        for _ in 0..2 {
            let sender = sender.clone();
            thread::spawn(move || loop {
                let mut stack = ContextStack::take().unwrap();
                let Ok(cx) = stack.push(context) else { thread::park(); continue };
                let Ok(buffer) = Buffer::from_slice(&cx, &[7u8; 4096]) else { thread::park(); continue };
                let _ = (buffer.to_vec(&cx), cx.synchronize(), Stream::new(&cx).map(drop));
                drop(buffer);
                let _ = sender.send(());
            });
        }
        for _ in 0..20 {
            started.recv().unwrap();
        }
    }

    #[test]
    fn everything_forgotten() -> Code(0); {
        let context = context();
        let mut stack = ContextStack::take().unwrap();
        let mut cx = stack.push(&context).unwrap();
        let inner = cx.push(&context).unwrap();
        let stream = Stream::non_blocking(&inner).unwrap();
        let mut buffer = Buffer::<u8>::zeroed(&inner, BYTES).unwrap();
        let mut host = vec![0u8; BYTES];
        inner
            .scope(&stream, |scope| {
                let lent = scope.lend(buffer.as_mut_slice()).unwrap();
                scope.read(&mut host, &lent).unwrap();
            Ok(())
})
            .unwrap();
        std::mem::forget((stream, buffer, host, Event::new(&inner, EventFlags::empty()).unwrap()));
        std::mem::forget((saxpy(&inner), Memory::new(&inner)));
        std::mem::forget(inner);
        std::mem::forget(cx);
        std::mem::forget(stack);
        std::mem::forget(context);
    }

    #[test]
    fn a_thread_that_ends_with_forgotten_tokens() -> Code(0); {
        let context = context().leak();
        let forget = move || {
            let mut stack = ContextStack::take().unwrap();
            let mut cx = stack.push(context).unwrap();
            std::mem::forget(cx.push(context).unwrap());
            std::mem::forget(cx);
            std::mem::forget(stack);
        };
        thread::spawn(forget).join().unwrap();
        forget();
    }

    #[test]
    fn the_context_goes_before_the_end_with_things_forgotten_in_it() -> Code(0); {
        let context = context();
        let mut stack = ContextStack::take().unwrap();
        let cx = stack.push(&context).unwrap();
        let buffer = Buffer::from_slice(&cx, &[1u8; 64]).unwrap();
        std::mem::forget((buffer, Stream::new(&cx).unwrap(), saxpy(&cx), Memory::new(&cx)));
        std::mem::forget(cx);
        drop(context);
        stack.push(&self::context()).unwrap().synchronize().unwrap();
    }

    /// A primary context that is released at the very end, after the objects made in it.
    #[test]
    fn the_context_goes_last_of_all() -> Code(0); {
        let context = PrimaryContext::retain(driver().device(0).unwrap()).unwrap();
        let mut stack = ContextStack::take().unwrap();
        drop(Buffer::from_slice(&stack.push(&context).unwrap(), &[1u8; 64]).unwrap());
        *PRIMARY.lock().unwrap() = Some(context);
    }

    #[test]
    fn a_fault_and_then_the_end() -> Code(0); {
        // The report of the fault is no word of the end.
        cuprum_emulator::set_message_hook(|_| {});
        let context = context().leak();
        let held = Held::new(context);
        let mut stack = ContextStack::take().unwrap();
        let cx = stack.push(context).unwrap();
        let module = faults(&cx);
        let kernel = module.function("oob_write").unwrap().bind::<(InOut<u32>, u64, u32)>().unwrap();
        let mut out = Buffer::<u32>::zeroed(&cx, 4).unwrap();
        // SAFETY: it is not safe: the write is outside of everything, and the device stops the
        // kernel for it.
        unsafe { kernel.launch(&cx, &held.stream, LaunchConfig::new(1, 1), (&mut out, 1u64 << 40, 1u32)) }
            .unwrap();
        assert!(cx.synchronize().unwrap_err().is_sticky());
        drop(kernel);
        drop((out, module));
        keep(held);
    }
}

/// Children that end as none may: the parent must see it.
pub(crate) const WRONG: &[Case] = &[
    Case { name: "speaks", run: || eprintln!("a word"), ends: Code(0) },
    Case { name: "ends_otherwise", run: || std::process::exit(3), ends: Code(0) },
    Case { name: "aborts", run: || std::process::abort(), ends: Code(0) },
    Case { name: "swallows_an_error", run: swallow, ends: Code(0) },
];

fn swallow() {
    let held = Held::new(context().leak());
    let mut stack = ContextStack::take().unwrap();
    let _cx = stack.push(held.buffer.context()).unwrap();
    // SAFETY: the memory is not used again; the second free by the drop is the error wanted.
    let (code, _) = unsafe { call!(driver().library().fns(), cuMemFree_v2(held.buffer.as_raw())) };
    assert_eq!(code, CUresult::CUDA_SUCCESS);
}

/// Bytes of copies that take a while.
pub(crate) const BYTES: usize = 32 << 20;

static KEPT: Mutex<Vec<Held>> = Mutex::new(Vec::new());
static AT_THE_VERY_END: Mutex<Option<Held>> = Mutex::new(None);
static PRIMARY: Mutex<Option<PrimaryContext>> = Mutex::new(None);

thread_local! {
    static LOCAL: RefCell<Option<Held>> = const { RefCell::new(None) };
}

fn keep(held: Held) {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner).push(held);
}

extern "C" fn drop_kept() {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

pub(crate) fn at_exit(handler: extern "C" fn()) {
    // SAFETY: C's own function, given one of its type that does not unwind.
    assert_eq!(unsafe { atexit(handler) }, 0);
}

/// Runs after all functions that were registered for the end: drops the rest, and ends the process
/// otherwise if one of these drops swallowed an error.
extern "C" fn at_the_very_end() {
    drop(AT_THE_VERY_END.lock().unwrap_or_else(PoisonError::into_inner).take());
    drop(PRIMARY.lock().unwrap_or_else(PoisonError::into_inner).take());
    if cuprum::swallowed::count() != 0 {
        // SAFETY: ends the process at once, which is about to end.
        unsafe { _exit(SWALLOWED) }
    }
}

#[used]
#[unsafe(link_section = ".fini_array")]
static DESTRUCTOR: extern "C" fn() = at_the_very_end;

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("in a drop");
    }
}

/// The driver under test, without a word about which it is.
fn driver() -> Driver {
    let library = if on_gpu() { cuprum::Library::open().unwrap() } else { cuprum_emulator::library() };
    Driver::init(library).unwrap()
}

pub(crate) fn context() -> Context {
    Context::create(driver().device(0).unwrap(), ContextFlags::empty()).unwrap()
}

fn panic_in_scopes(first: &Context, second: &Context) {
    let mut stack = ContextStack::take().unwrap();
    let mut outer = stack.push(first).unwrap();
    let inner = outer.push(second).unwrap();
    let stream = Stream::non_blocking(&inner).unwrap();
    let (mut one, mut two) =
        (Buffer::<u8>::zeroed(&inner, BYTES).unwrap(), Buffer::zeroed(&inner, BYTES).unwrap());
    let (input, mut output) = (vec![1u8; BYTES], vec![0u8; BYTES]);
    let _ = inner.scope(&stream, |scope| {
        scope.copy(&scope.lend(one.as_mut_slice()).unwrap(), &input).unwrap();
        let _ = inner.scope::<()>(&stream, |scope| {
            scope.read(&mut output, &scope.lend(two.as_mut_slice()).unwrap()).unwrap();
            std::panic::panic_any("in a scope");
        });
        Ok(())
    });
}

/// A thread that waits for a kernel that never ends. Receiving from it fails when it has ended.
fn spinning() -> mpsc::Receiver<()> {
    let context = context().leak();
    let (sender, started) = mpsc::channel();
    thread::spawn(move || {
        let mut stack = ContextStack::take().unwrap();
        let cx = stack.push(context).unwrap();
        let (module, stream) = (faults(&cx), Stream::new(&cx).unwrap());
        let spin = module.function("spin").unwrap().bind::<(In<u32>,)>().unwrap();
        let flag = Buffer::<u32>::zeroed(&cx, 1).unwrap();
        cx.synchronize().unwrap();
        sender.send(()).unwrap();
        // SAFETY: the kernel reads one element, which lives until the process ends.
        let _ = unsafe { spin.launch(&cx, &stream, LaunchConfig::new(1, 1), (&flag,)) };
        let _ = cx.synchronize();
        thread::park();
    });
    started.recv().unwrap();
    thread::sleep(Duration::from_millis(30));
    started
}
