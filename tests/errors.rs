//! What errors say, and what happens to a context after a fault.

mod common;

use std::mem::size_of;

use common::{context, driver, in_context, kernels, on_gpu};
use cuprum::sys::{CUresult, FnId};
use cuprum::{
    Buffer, ContextStack, Driver, Error, In, InOut, LaunchConfig, LaunchError, MemoryError, Stream,
};

#[test]
fn an_error_is_eight_bytes() {
    assert_eq!(size_of::<Error>(), 8);
    assert_eq!(size_of::<Result<(), Error>>(), 8);
}

#[test]
fn an_error_names_call_and_code() {
    let error = driver().device(1 << 20).unwrap_err();
    assert_eq!((error.call(), error.code()), (FnId::cuDeviceGet, CUresult::CUDA_ERROR_INVALID_DEVICE));
    let text = error.to_string();
    assert!(
        text.contains("cuDeviceGet") && text.contains("CUDA_ERROR_INVALID_DEVICE") && text.contains("101"),
        "{text}"
    );
    assert_eq!(driver().device(u32::MAX).unwrap_err().code(), CUresult::CUDA_ERROR_INVALID_DEVICE);
}

#[test]
fn a_code_of_tomorrow_is_kept() {
    let error = Error::new(CUresult(31_337), FnId::cuMemAlloc_v2).expect("not success");
    assert_eq!(error.code(), CUresult(31_337));
    assert_eq!(error.name(), None);
    assert!(error.to_string().contains("31337"), "{error}");
    assert_eq!(Error::new(CUresult::CUDA_SUCCESS, FnId::cuMemAlloc_v2), None);
}

/// Makes a kernel write far outside of its buffer, and gives what the next synchronization answers.
fn fault(cx: &cuprum::Current<'_, '_>) -> Error {
    let module = kernels!(cx, "faults");
    let kernel = module.function("oob_write").unwrap().bind::<(InOut<u32>, u64, u32)>().unwrap();
    let mut out = Buffer::<u32>::zeroed(cx, 4).unwrap();
    // SAFETY: it is not: the write is outside of everything, and the device stops the kernel for it.
    unsafe {
        kernel.launch(cx, &Stream::default_in(cx), LaunchConfig::new(1, 1), (&mut out, 1u64 << 40, 1u32))
    }
    .expect("the launch itself succeeds");
    cx.synchronize().unwrap_err()
}

#[test]
fn a_fault_is_sticky_and_later_errors_name_the_first() {
    let context = context();
    let mut stack = ContextStack::take().unwrap();
    let cx = stack.push(&context).unwrap();
    let survivor = Buffer::from_slice(&cx, &[1u32, 2, 3]).unwrap();
    let stream = Stream::new(&cx).unwrap();
    assert_eq!(context.poisoned_by(), None);

    let first = fault(&cx);
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

    // What is left is dropped in silence.
    let swallowed = cuprum::swallowed::count();
    drop((survivor, stream));
    drop(cx);
    drop(context);
    assert_eq!(cuprum::swallowed::count(), swallowed);
}

#[test]
fn a_fault_in_one_context_leaves_another_alone() {
    if on_gpu() {
        // Measured: on hardware the fault is the process's, see `tests/gpu`; the emulator isolates contexts.
        eprintln!("a fault on a GPU ends all contexts of the process: isolation is not asserted there");
        return;
    }
    let lost = context();
    let mut stack = ContextStack::take().unwrap();
    {
        let cx = stack.push(&lost).unwrap();
        assert!(fault(&cx).is_sticky());
    }
    drop(stack);
    in_context(|cx| assert_eq!(Buffer::from_slice(cx, &[5u8]).unwrap().to_vec(cx).unwrap(), [5]));
}

#[test]
fn launch_errors_are_typed() {
    in_context(|cx| {
        let module = kernels!(cx, "saxpy");
        let kernel = module.function("saxpy").unwrap().bind::<(u32, f32, In<f32>, InOut<f32>)>().unwrap();
        let x = Buffer::<f32>::zeroed(cx, 1).unwrap();
        let mut y = Buffer::<f32>::zeroed(cx, 1).unwrap();
        // SAFETY: no element is asked for, so nothing is accessed, if it runs at all.
        let refused = unsafe {
            kernel.launch(cx, &Stream::default_in(cx), LaunchConfig::new(1, 4096), (0u32, 1f32, &x, &mut y))
        };
        let text = refused.unwrap_err().to_string();
        assert!(text.contains("4096x1x1") && text.contains("1024"), "{text}");
        assert!(matches!(refused, Err(LaunchError::Block { .. })));
    });
}

#[test]
fn a_driver_is_initialized_once_and_again() {
    let first = driver();
    assert_eq!(Driver::init(first.library()).unwrap(), first);
    assert!(first.version() >= cuprum::Version::from_raw(2000));
    assert!(first.device_count().unwrap() > 0);
    let device = first.device(0).unwrap();
    assert!(!device.name().unwrap().is_empty());
    assert!(device.total_memory().unwrap() > 0);
    assert_eq!(first.devices().unwrap().len() as u32, first.device_count().unwrap());
    assert_ne!(device.uuid().unwrap(), [0; 16]);
    let bus = device.pci_bus_id().unwrap();
    assert!(bus.contains(':'), "{bus}");
}
