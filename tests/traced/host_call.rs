//! Calls of kernels with memory of the host: the driver calls, their streams, and the state after
//! one of them fails.

use cuprum::context::{Context, ContextFlags, ContextStack};
use cuprum::launch::{HostIn, HostInOut, HostOut};
use cuprum::memory::PinnedFlags;
use cuprum::sys::{CUresult, FnId};
use cuprum::{AnyError, Current, In, InOut, LaunchConfig, MemoryError, Module, PinnedBuffer, Stream};

use crate::tracer::{Backing, Session, calls_of, failing};

const SAXPY: &str = include_str!("../../kernels/saxpy.ptx");

type Saxpy = (u32, f32, In<f32>, InOut<f32>);

fn in_emulator(test: impl FnOnce(&mut Current<'_, '_>)) {
    let context =
        Context::create(Backing::Emulator.driver().device(0).unwrap(), ContextFlags::empty()).unwrap();
    let mut stack = ContextStack::take().unwrap();
    test(&mut stack.push(&context).unwrap());
}

#[test]
fn a_call_waits_for_its_own_stream_and_frees_its_memory() {
    use FnId::*;
    in_emulator(|cx| {
        let module = Module::load_ptx(cx, SAXPY).unwrap();
        let saxpy = module.function("saxpy").unwrap().bind::<Saxpy>().unwrap();
        let (x, mut y) = ([1f32; 64], [1f32; 64]);
        let config = LaunchConfig::new(1, 64);
        for stream in [Stream::new(cx).unwrap(), Stream::non_blocking(cx).unwrap()] {
            let arguments = (64, 2.0, HostIn(&x), HostInOut(&mut y));
            // SAFETY: saxpy touches 64 elements of each.
            let (calls, result) = calls_of(|| unsafe { saxpy.call(cx, &stream, config, arguments) });
            result.unwrap();
            let expected = [
                cuMemAlloc_v2,
                cuMemAlloc_v2,
                cuMemcpyHtoDAsync_v2,
                cuMemcpyHtoDAsync_v2,
                cuLaunchKernel,
                cuStreamSynchronize,
                cuMemcpyDtoH_v2,
                cuStreamSynchronize,
                cuMemFree_v2,
                cuMemFree_v2,
            ];
            assert_eq!(calls, expected);
        }
        assert_eq!(y, [5.0; 64]);
        // Page-locked memory is copied by the stream, and waited for once.
        let mut locked = PinnedBuffer::from_slice(cx, &y, PinnedFlags::empty()).unwrap();
        let stream = Stream::non_blocking(cx).unwrap();
        let arguments = (64, 2.0, HostIn(&x), HostOut(&mut locked));
        // SAFETY: as above.
        let (calls, result) = calls_of(|| unsafe { saxpy.call(cx, &stream, config, arguments) });
        result.unwrap();
        let copies: Vec<_> =
            calls.into_iter().filter(|&call| call != cuMemAlloc_v2 && call != cuMemFree_v2).collect();
        assert_eq!(copies, [cuMemcpyHtoDAsync_v2, cuLaunchKernel, cuMemcpyDtoHAsync_v2, cuStreamSynchronize]);
    });
}

#[test]
fn after_any_failure_nothing_is_in_flight_and_nothing_is_left() {
    let session = Session::watched();
    session.enter(|| {
        in_emulator(|cx| {
            let module = Module::load_ptx(cx, SAXPY).unwrap();
            let saxpy = module.function("saxpy").unwrap().bind::<Saxpy>().unwrap();
            let stream = Stream::new(cx).unwrap();
            let (x, mut y) = ([1f32; 64], [1f32; 64]);
            let mut locked = PinnedBuffer::from_slice(cx, &y, PinnedFlags::empty()).unwrap();
            let alive = session.alive();
            for function in [
                FnId::cuMemAlloc_v2,
                FnId::cuMemcpyHtoDAsync_v2,
                FnId::cuLaunchKernel,
                FnId::cuStreamSynchronize,
                FnId::cuMemcpyDtoH_v2,
            ] {
                let arguments = (64, 2.0, HostIn(&x), HostInOut(&mut y));
                let config = LaunchConfig::new(1, 64);
                // SAFETY: saxpy touches 64 elements of each.
                let call = || unsafe { saxpy.call(cx, &stream, config, arguments) };
                let error = failing(function, CUresult::CUDA_ERROR_OUT_OF_MEMORY, call).unwrap_err();
                assert!(error.to_string().contains(&function.to_string()), "{function}: {error}");
                session.scope_ended();
                assert_eq!(session.alive(), alive, "{function}");
            }
            let code = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
            let arguments = (64, 2.0, HostIn(&x), HostOut(&mut locked));
            // SAFETY: as above.
            let call = || unsafe { saxpy.call(cx, &stream, LaunchConfig::new(1, 64), arguments) };
            let error = failing(FnId::cuMemcpyDtoHAsync_v2, code, call).unwrap_err();
            assert!(error.to_string().contains("cuMemcpyDtoHAsync_v2"), "{error}");
            assert!(!locked.is_lost());
            session.scope_ended();
            assert_eq!(session.alive(), alive);
        });
    });
    assert!(session.violations().is_empty(), "{:?}", session.violations());
}

#[test]
fn page_locked_memory_is_lost_if_the_stream_cannot_be_waited_for() {
    in_emulator(|cx| {
        let module = Module::load_ptx(cx, SAXPY).unwrap();
        let saxpy = module.function("saxpy").unwrap().bind::<Saxpy>().unwrap();
        let stream = Stream::new(cx).unwrap();
        let x = [1f32; 64];
        let mut locked = PinnedBuffer::from_slice(cx, &x, PinnedFlags::empty()).unwrap();
        let config = LaunchConfig::new(1, 64);
        // SAFETY: saxpy touches 64 elements of each.
        let call = || unsafe { saxpy.call(cx, &stream, config, (64, 2.0, HostIn(&x), HostOut(&mut locked))) };
        let error =
            failing(FnId::cuStreamSynchronize, CUresult::CUDA_ERROR_ILLEGAL_ADDRESS, call).unwrap_err();
        assert!(error.to_string().contains("cuStreamSynchronize"), "{error}");
        assert!(locked.is_lost() && locked.is_empty());
        // Lost memory is passed to no kernel any more, and no call is made for it.
        let (calls, result) = calls_of(|| {
            // SAFETY: as above.
            unsafe { saxpy.call(cx, &stream, config, (64, 2.0, HostIn(&locked), HostOut(&mut [0f32; 64]))) }
        });
        assert!(matches!(result, Err(AnyError::Memory(MemoryError::Lost))), "{result:?}");
        assert_eq!(calls, []);
    });
}
