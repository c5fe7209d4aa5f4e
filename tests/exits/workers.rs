//! Processes that end with workers alive: idle, at work, kept in statics, and dropped at any time.

use std::cell::RefCell;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

use cuprum::{Buffer, ForeignBuffer, In, Job, LaunchConfig, SharedContext, Stream, Worker};

use crate::Case;
use crate::Ends::Code;
use crate::cases::{PANICKED, at_exit, cases, context, faults};

static KEPT: Mutex<Vec<Worker>> = Mutex::new(Vec::new());

thread_local! {
    static LOCAL: RefCell<Option<Worker>> = const { RefCell::new(None) };
}

fn keep(worker: Worker) {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
}

extern "C" fn drop_kept() {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

extern "C" fn close_kept() {
    for worker in KEPT.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        let _answer = worker.close();
    }
}

/// A worker on a context of its own, which has done something.
fn worker() -> Worker {
    let context: SharedContext = context().share();
    let worker = Worker::spawn(&context).unwrap();
    worker.run(|cx| Buffer::from_slice(cx, &[1u8; 64]).unwrap().to_vec(cx).unwrap()).unwrap();
    worker
}

cases! { WORKERS:
    #[test]
    fn a_worker_in_a_static() -> Code(0); {
        keep(worker());
    }

    /// Its thread ends the context, while the process ends.
    #[test]
    fn a_worker_dropped_at_the_end_of_main() -> Code(0); {
        let worker = worker();
        for _ in 0..100 {
            drop(worker.submit(|cx| Buffer::from_slice(cx, &[1u8; 4096]).unwrap().to_vec(cx).unwrap()).unwrap());
        }
    }

    #[test]
    fn a_worker_dropped_after_the_end_of_main() -> Code(0); {
        at_exit(drop_kept);
        keep(worker());
    }

    #[test]
    fn a_worker_closed_after_the_end_of_main() -> Code(0); {
        at_exit(close_kept);
        keep(worker());
    }

    #[test]
    fn a_worker_in_a_thread_local() -> Code(0); {
        let hold = || LOCAL.with(|local| local.replace(Some(worker()))).is_none();
        assert!(thread::spawn(hold).join().unwrap());
        assert!(hold());
    }

    #[test]
    fn a_worker_forgotten() -> Code(0); {
        let worker = worker();
        std::mem::forget(worker.submit(|_| ()).unwrap());
        std::mem::forget(worker);
    }

    #[test]
    fn exit_while_a_worker_works() -> Code(21); {
        let (worker, (sender, started)) = (worker(), mpsc::channel());
        drop(worker.submit(move |cx| {
            loop {
                let read = Buffer::from_slice(cx, &[1u8; 4096]).and_then(|buffer| buffer.to_vec(cx));
                let _ = sender.send(read.is_ok());
            }
        }).map(|job: Job<()>| job).unwrap());
        started.recv().unwrap();
        std::process::exit(21)
    }

    #[test]
    fn exit_within_a_closure_of_a_worker() -> Code(22); {
        worker().run(|_| std::process::exit(22)).unwrap()
    }

    #[test]
    fn the_end_of_main_while_a_worker_waits_for_a_kernel() -> Code(0); {
        let (worker, (sender, started)) = (worker(), mpsc::channel());
        drop(worker.submit(move |cx| {
            let (module, stream) = (faults(cx), Stream::new(cx).unwrap());
            let spin = module.function("spin").unwrap().bind::<(In<u32>,)>().unwrap();
            let flag = Buffer::<u32>::zeroed(cx, 1).unwrap();
            cx.synchronize().unwrap();
            sender.send(()).unwrap();
            // SAFETY: the kernel reads one element, which lives until the process ends.
            let _ = unsafe { spin.launch(cx, &stream, LaunchConfig::new(1, 1), (&flag,)) };
            let _ = cx.synchronize();
            thread::park();
        }).unwrap());
        started.recv().unwrap();
        thread::sleep(std::time::Duration::from_millis(30));
    }

    #[test]
    fn a_panic_of_main_while_a_worker_works() -> Code(PANICKED); {
        let worker = worker();
        drop(worker.submit(|cx| Buffer::from_slice(cx, &[1u8; 1 << 20]).unwrap().to_vec(cx).unwrap()).unwrap());
        panic!("in main");
    }

    /// Memory of other code that is given back while the driver ends, or not at all.
    #[test]
    fn foreign_memory_in_a_static() -> Code(0); {
        static FOREIGN: Mutex<Option<ForeignBuffer<'static, u8>>> = Mutex::new(None);
        extern "C" fn give_back() {
            drop(FOREIGN.lock().unwrap_or_else(PoisonError::into_inner).take());
        }
        at_exit(give_back);
        let context = context().share();
        // SAFETY: no elements.
        let foreign = context.enter(|cx| unsafe { ForeignBuffer::with_release(cx, 0, 0, |_, _| Ok(())) });
        *FOREIGN.lock().unwrap() = Some(foreign.unwrap().unwrap());
    }
}
