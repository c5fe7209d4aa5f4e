//! Processes that end while another thread works in a context.

use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use cuprum::memory::ForeignBuffer;
use cuprum::{Buffer, In, LaunchConfig, Stream};

use crate::Case;
use crate::Ends::Code;
use crate::cases::{PANICKED, at_exit, cases, context, faults};

/// Starts a thread that allocates, copies and frees until the process ends, and returns when it has
/// begun.
fn busy() {
    let (sender, started) = mpsc::channel();
    let context = context().share();
    thread::spawn(move || {
        loop {
            let read = context.enter_as(|cx| Buffer::from_slice(cx, &[1u8; 4096])?.to_vec(cx));
            let _ = sender.send(read.is_ok());
        }
    });
    assert!(started.recv().unwrap());
}

cases! { THREADS:
    /// The thread has the last share of its context, and ends while the process ends.
    #[test]
    fn the_end_of_main_while_a_thread_ends_its_context() -> Code(0); {
        let context = context().share();
        thread::spawn(move || {
            for _ in 0..100 {
                let _ = context.enter_as(|cx| Buffer::from_slice(cx, &[1u8; 4096])?.to_vec(cx));
            }
        });
    }

    #[test]
    fn the_end_of_main_while_a_thread_works() -> Code(0); {
        busy();
    }

    #[test]
    fn exit_while_a_thread_works() -> Code(21); {
        busy();
        std::process::exit(21)
    }

    #[test]
    fn exit_inside_of_a_context_on_a_thread() -> Code(22); {
        let context = context().share();
        let _ = thread::spawn(move || context.enter::<()>(|_| std::process::exit(22)).is_ok()).join();
    }

    #[test]
    fn the_end_of_main_while_a_thread_waits_for_a_kernel() -> Code(0); {
        let (context, (sender, started)) = (context().share(), mpsc::channel());
        thread::spawn(move || {
            context.enter(|cx| {
                let (module, stream) = (faults(cx), Stream::new(cx).unwrap());
                let spin = module.function("spin").unwrap().bind::<(In<u32>,)>().unwrap();
                let flag = Buffer::<u32>::zeroed(cx, 1).unwrap();
                cx.synchronize().unwrap();
                sender.send(()).unwrap();
                // SAFETY: the kernel reads one element, which lives until the process ends.
                let _ = unsafe { spin.launch(cx, &stream, LaunchConfig::new(1, 1), (&flag,)) };
                let _ = cx.synchronize();
                thread::park();
                Ok(())
            })
        });
        started.recv().unwrap();
        thread::sleep(Duration::from_millis(30));
    }

    #[test]
    fn a_panic_of_main_while_a_thread_works() -> Code(PANICKED); {
        busy();
        panic!("in main");
    }

    /// Memory of other code that is returned while the driver ends, or never.
    #[test]
    fn foreign_memory_in_a_static() -> Code(0); {
        static FOREIGN: Mutex<Option<ForeignBuffer<'static, u8>>> = Mutex::new(None);
        extern "C" fn give_back() {
            drop(FOREIGN.lock().unwrap_or_else(PoisonError::into_inner).take());
        }
        at_exit(give_back);
        let context = context().share();
        // SAFETY: no elements.
        let foreign = context.enter_as(|cx| unsafe { ForeignBuffer::with_release(cx, 0, 0, |_, _| Ok(())) });
        *FOREIGN.lock().unwrap() = Some(foreign.unwrap());
    }
}
