//! The state of a context after a kernel faults.
//!
//! A program of its own, with one test: on hardware a fault ends CUDA for the whole process,
//! whatever the context (measured, `tests/data/goldens/driver.json`).

use common::{context, kernels, on_gpu};
use cuprum::context::{Context, ContextFlags, ContextStack};
use cuprum::sys::{CUresult, FnId};
use cuprum::{Buffer, InOut, LaunchConfig, MemoryError, Stream};
use cuprum_testing::common;

#[test]
fn a_fault_is_sticky_named_by_its_first_report_and_dropped_in_silence() {
    let context = context();
    let bystander = common::context();
    let mut stack = ContextStack::take().unwrap();
    let cx = stack.push(&context).unwrap();
    let survivor = Buffer::from_slice(&cx, &[1u32, 2, 3]).unwrap();
    let stream = Stream::new(&cx).unwrap();
    assert_eq!(context.poisoned_by(), None);

    let module = kernels!(&cx, "faults");
    let kernel = module.function("oob_write").unwrap().bind::<(InOut<u32>, u64, u32)>().unwrap();
    let mut out = Buffer::<u32>::zeroed(&cx, 4).unwrap();
    let one = LaunchConfig::new(1, 1);
    // SAFETY: it is not safe: the device stops the kernel for a write outside of everything.
    unsafe { kernel.launch(&cx, &stream, one, (&mut out, 1u64 << 40, 1u32)) }
        .expect("the launch itself succeeds");

    let first = cx.synchronize().unwrap_err();
    assert_eq!((first.code(), first.call()), (CUresult::CUDA_ERROR_ILLEGAL_ADDRESS, FnId::cuCtxSynchronize));
    assert!(first.is_sticky());
    assert_eq!(first.first_reported_by(), None);
    assert_eq!(context.poisoned_by(), Some(first));

    let MemoryError::Driver(later) = Buffer::<u8>::alloc(&cx, 16).unwrap_err() else {
        panic!("another error")
    };
    assert_eq!((later.code(), later.call()), (CUresult::CUDA_ERROR_ILLEGAL_ADDRESS, FnId::cuMemAlloc_v2));
    assert_eq!(later.first_reported_by(), Some(FnId::cuCtxSynchronize));
    assert!(later.to_string().contains("cuCtxSynchronize"), "{later}");

    // The remaining objects are dropped in silence.
    let swallowed = cuprum::swallowed::count();
    drop((survivor, stream, out, kernel));
    drop((module, cx));
    drop(context);
    assert_eq!(cuprum::swallowed::count(), swallowed);

    if !on_gpu() {
        let report = cuprum_emulator::last_fault().expect("the emulator knows what happened");
        assert_eq!((report.kernel.as_str(), report.block, report.thread), ("oob_write", [0; 3], [0; 3]));
        let text = report.to_string();
        let line = include_str!("../kernels/faults.ptx")
            .lines()
            .position(|line| line.contains("st.global.u32"))
            .unwrap()
            + 1;
        for part in [&format!("line {line}"), "st.global.u32", "faults.cu", "4 bytes", "no allocation"] {
            assert!(text.contains(part), "no {part:?} in\n{text}");
        }
    }

    let another = Context::create(common::device(), ContextFlags::empty());
    if on_gpu() {
        let error = another.expect_err("on hardware nothing but a new process recovers");
        assert_eq!(error.code(), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    } else {
        // The emulator keeps faults to their context.
        for context in [bystander, another.unwrap()] {
            let cx = stack.push(&context).unwrap();
            assert_eq!(Buffer::from_slice(&cx, &[5u8]).unwrap().to_vec(&cx).unwrap(), [5]);
        }
    }
}
