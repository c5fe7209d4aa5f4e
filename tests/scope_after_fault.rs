//! A scope whose context is lost by another thread ends only when the device has stopped touching its memory.
//!
//! In a program of its own: the emulator runs work asynchronously here, and on hardware the fault is the process's.

mod common;

use std::time::Duration;

use common::{context, kernels};
use cuprum::{Buffer, ContextStack, In, LaunchConfig, Stream};

/// Bytes of the copy: it takes longer than the fault.
const BYTES: usize = 256 << 20;

#[test]
fn nothing_is_written_after_the_scope() {
    cuprum_emulator::Settings::default().mode(cuprum_emulator::Mode::Async).install().expect("the first use");
    let context = context();
    let mut stack = ContextStack::take().unwrap();
    let cx = stack.push(&context).unwrap();
    let module = kernels!(&cx, "faults");
    let trap = module.function("trap_if").unwrap().bind::<(In<u32>,)>().unwrap();
    let flag = Buffer::from_slice(&cx, &[1u32]).unwrap();
    let mut buffer = Buffer::<u8>::alloc(&cx, BYTES).unwrap();
    buffer.as_mut_slice().fill(&cx, 1).unwrap();
    cx.synchronize().unwrap();
    let stream = Stream::non_blocking(&cx).unwrap();
    let mut host = vec![0u8; BYTES];

    let ended = cx.scope(&stream, |scope| {
        scope.lend(buffer.as_mut_slice()).unwrap().copy_to_host(&mut host).unwrap();
        std::thread::scope(|threads| {
            threads.spawn(|| {
                let mut stack = ContextStack::take().unwrap();
                let cx = stack.push(&context).unwrap();
                let beside = Stream::non_blocking(&cx).unwrap();
                // SAFETY: the kernel reads one element, and traps.
                unsafe { trap.launch(&cx, &beside, LaunchConfig::new(1, 1), (&flag,)) }.unwrap();
                assert!(beside.synchronize(&cx).unwrap_err().is_sticky());
            });
        });
    });
    let at_the_end = std::hint::black_box(&host).iter().rposition(|&byte| byte == 1);
    std::thread::sleep(Duration::from_millis(300));
    let later = std::hint::black_box(&host).iter().rposition(|&byte| byte == 1);
    assert_eq!(at_the_end, later, "the host's memory was written after the scope had ended: {ended:?}");
    assert!(ended.unwrap_err().is_sticky());
}
