//! Managed memory on devices that do not share it with the host, as drivers before CUDA 8.0 know
//! all of them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use cuprum::context::{Context, ContextFlags, ContextStack};
use cuprum::memory::ManagedBuffer;
use cuprum::sys::{CUresult, FnId, Version};
use cuprum::{Current, MemoryError};

use crate::tracer::{Backing, Build, calls_of, failing};

const ATTACH: FnId = FnId::cuStreamAttachMemAsync;
const WAIT: FnId = FnId::cuCtxSynchronize;
/// A code that a driver returns for many reasons.
const CODE: CUresult = CUresult::CUDA_ERROR_UNKNOWN;

/// Runs `test` on a device that does not share.
fn apart(test: impl FnOnce(&Current<'_, '_>, ManagedBuffer<'_, u32>)) {
    let driver = Build { version: Some(Version::new(7, 0)), ..Build::of(Backing::Emulator) }.driver();
    let context = Context::create(driver.device(0).unwrap(), ContextFlags::empty()).unwrap();
    let mut stack = ContextStack::take().unwrap();
    let cx = stack.push(&context).unwrap();
    let buffer = ManagedBuffer::from_slice(&cx, &[1, 2, 3]).unwrap();
    assert!(!buffer.is_concurrent());
    test(&cx, buffer);
}

#[test]
fn a_device_that_does_not_share_lends_it_in_a_closure_only() {
    apart(|cx, mut buffer| {
        let (calls, refused) = calls_of(|| buffer.host(cx).map(<[u32]>::len));
        assert_eq!((calls, refused), (vec![], Err(MemoryError::NotConcurrent)));
        assert_eq!(buffer.host_mut(cx).map(|host| host.len()), Err(MemoryError::NotConcurrent));
        let (calls, sum) = calls_of(|| {
            buffer.on_host(cx, |host| {
                host[0] = 10;
                host.iter().sum::<u32>()
            })
        });
        // To the host, and back to all streams.
        assert_eq!(calls, [WAIT, ATTACH, WAIT, ATTACH, WAIT]);
        assert_eq!(sum.unwrap(), 15);
        assert_eq!(buffer.as_slice().to_vec(cx).unwrap(), [10, 2, 3]);
    });
}

#[test]
fn it_is_given_back_when_the_closure_panics_and_when_it_does_not_begin() {
    apart(|cx, mut buffer| {
        let mut panicking = || buffer.on_host(cx, |_| -> () { panic!("in the closure") });
        let (calls, panicked) = calls_of(|| catch_unwind(AssertUnwindSafe(&mut panicking)).is_err());
        assert!(panicked);
        assert_eq!(calls, [WAIT, ATTACH, WAIT, ATTACH, WAIT]);
        assert!(!buffer.is_lost());
        let mut ran = false;
        let failed = failing(ATTACH, CODE, || buffer.on_host(cx, |_| ran = true)).unwrap_err();
        assert!(matches!(failed, MemoryError::Driver(error) if error.call() == ATTACH));
        assert!(!ran, "the host must not touch it");
        // Both calls failed: it may be the host's alone.
        assert!(buffer.is_lost());
    });
}

#[test]
fn memory_that_cannot_be_returned_is_out_of_reach_for_devices() {
    apart(|cx, mut buffer| {
        failing(ATTACH, CODE, || buffer.on_host(cx, |_| ()).unwrap_err());
        assert_eq!((buffer.is_lost(), buffer.as_slice().len(), buffer.len()), (true, 0, 3));
        assert!(buffer.slice_mut(..1).is_none() && buffer.range(..1).is_none());
        let (calls, refused) = calls_of(|| buffer.on_host(cx, |_| ()));
        assert_eq!((calls, refused), (vec![], Err(MemoryError::Lost)));
        let (calls, ()) = calls_of(|| drop(buffer));
        assert_eq!(calls, [FnId::cuMemFree_v2]);
    });
}
