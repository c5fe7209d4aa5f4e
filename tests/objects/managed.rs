//! Managed memory: reached by the host and by the device at one address, advised, prefetched,
//! forgotten.

use cuprum::context::PrimaryContext;
use cuprum::memory::{Advice, ManagedBuffer, MemoryLocation};
use cuprum::stream::Request;
use cuprum::sys::CUresult;
use cuprum::{In, InOut, LaunchConfig, MemoryError, Stream};

use crate::common::{context, in_context, load};

/// More than one page.
const LEN: usize = 3 << 10;

#[test]
fn host_and_device_reach_the_same_elements() {
    in_context(|cx| {
        let mut numbers = ManagedBuffer::from_slice(cx, &[1u32, 2, 3]).unwrap();
        assert_eq!(numbers.on_host(cx, |host| host.to_vec()).unwrap(), [1, 2, 3]);
        numbers.on_host(cx, |host| host[0] = 10).unwrap();
        cx.fill(&mut numbers.slice_mut(2..).unwrap(), 30).unwrap();
        assert_eq!(numbers.as_slice().to_vec(cx).unwrap(), [10, 2, 30]);
        if numbers.is_concurrent() {
            assert_eq!(numbers.host(cx).unwrap(), [10, 2, 30]);
            numbers.host_mut(cx).unwrap()[1] = 20;
            let host = numbers.host(cx).unwrap();
            // Both may read it at once.
            assert_eq!(numbers.as_slice().to_vec(cx).unwrap(), host);
            assert_eq!(host.as_ptr() as u64, numbers.as_raw());
        }
        numbers.close().unwrap();
    });
}

#[test]
fn the_host_gets_it_when_all_work_is_done() {
    in_context(|cx| {
        let mut numbers = ManagedBuffer::<u32>::zeroed(cx, 1 << 16).unwrap();
        assert!(numbers.on_host(cx, |host| host.iter().all(|&number| number == 0)).unwrap());
        let other = Stream::non_blocking(cx).unwrap();
        for round in 1..20u32 {
            cx.synchronize().unwrap();
            // Queued on the default stream; the host goes on.
            cx.fill(&mut numbers, round).unwrap();
            assert!(numbers.on_host(cx, |host| host.iter().all(|&number| number == round)).unwrap());
            cx.scope(&other, |scope| {
                Ok(scope.fill(&scope.lend(numbers.as_mut_slice()).unwrap(), round + 100)?)
            })
            .unwrap();
            assert!(numbers.on_host(cx, |host| host.iter().all(|&number| number == round + 100)).unwrap());
        }
    });
}

#[test]
fn kernels_take_it_as_they_take_a_buffer() {
    in_context(|cx| {
        let module = load(cx, include_str!("../../kernels/saxpy.ptx"));
        let saxpy = module.function("saxpy").unwrap().bind::<(u32, f32, In<f32>, InOut<f32>)>().unwrap();
        let stream = Stream::new(cx).unwrap();
        let x = ManagedBuffer::from_slice(cx, &[1.0f32; 100]).unwrap();
        let mut y = ManagedBuffer::from_slice(cx, &[2.0f32; 100]).unwrap();
        let config = LaunchConfig::for_elements(100, 64);
        // SAFETY: a hundred elements on both sides, and the host waits below.
        unsafe { saxpy.launch(cx, &stream, config, (100, 3.0, &x, &mut y)) }.unwrap();
        assert_eq!(y.on_host(cx, |y| y.to_vec()).unwrap(), [5.0; 100]);
    });
}

#[test]
fn it_is_moved_into_requests() {
    let context = context().share();
    context
        .enter(|cx| {
            let stream = Stream::new(cx).unwrap();
            let done = cuprum::stream::Event::new(cx, cuprum::stream::EventFlags::DISABLE_TIMING).unwrap();
            let request = Request::new(done, ManagedBuffer::<u32>::alloc(cx, 1000).unwrap());
            let pending = request
                .submit(cx, &stream, |scope, numbers| -> Result<(), MemoryError> {
                    scope.fill(&scope.lend(numbers.as_mut_slice())?, 7)
                })
                .unwrap();
            let (_, mut numbers) = pending.wait().unwrap().into_parts();
            assert!(numbers.on_host(cx, |numbers| numbers.iter().all(|&number| number == 7)).unwrap());
            Ok(())
        })
        .unwrap();
}

#[test]
fn nothing_is_allocated_for_nothing() {
    in_context(|cx| {
        let mut none = ManagedBuffer::<u32>::zeroed(cx, 0).unwrap();
        let mut unit = ManagedBuffer::<[u8; 0]>::alloc(cx, 9).unwrap();
        assert_eq!((none.as_raw(), none.is_empty(), unit.len()), (0, true, 9));
        assert_eq!(none.on_host(cx, |host| host.len()).unwrap(), 0);
        assert_eq!(unit.on_host(cx, |host| host.len()).unwrap(), 9);
        let all = none.range(..).unwrap();
        all.advise(cx, Advice::ReadMostly).unwrap();
        assert!(!all.info(cx).unwrap().is_read_mostly);
        assert_eq!(all.accessed_by(cx).unwrap(), []);
        let stream = Stream::new(cx).unwrap();
        stream.prefetch(cx, all, MemoryLocation::Host).unwrap();
        stream.prefetch_batch(cx, &[(all, MemoryLocation::Host)]).unwrap();
        stream.discard(cx, &mut [none.range_mut(..).unwrap()]).unwrap();
        stream.discard_and_prefetch(cx, &mut []).unwrap();
        assert!(none.range(1..).is_none());
        let too_large = ManagedBuffer::<u64>::alloc(cx, usize::MAX).unwrap_err();
        assert!(matches!(too_large, MemoryError::TooLarge { .. }));
    });
}

#[test]
fn advice_is_reported_if_it_holds_for_all_of_a_range() {
    in_context(|cx| {
        let here = MemoryLocation::Device(cx.context().device());
        let numbers = ManagedBuffer::<u32>::zeroed(cx, LEN).unwrap();
        let (all, half) = (numbers.range(..).unwrap(), numbers.range(..LEN / 3).unwrap());
        let info = all.info(cx).unwrap();
        assert_eq!((info.is_read_mostly, info.preferred, info.last_prefetch), (false, None, None));
        all.advise(cx, Advice::ReadMostly).unwrap();
        all.advise(cx, Advice::Preferred(MemoryLocation::Host)).unwrap();
        all.advise(cx, Advice::AccessedBy(here)).unwrap();
        let info = all.info(cx).unwrap();
        assert_eq!((info.is_read_mostly, info.preferred), (true, Some(MemoryLocation::Host)));
        assert_eq!(all.accessed_by(cx).unwrap(), [here]);
        all.advise(cx, Advice::AccessedBy(MemoryLocation::Host)).unwrap();
        assert_eq!(all.accessed_by(cx).unwrap(), [here, MemoryLocation::Host]);
        half.advise(cx, Advice::NotReadMostly).unwrap();
        half.advise(cx, Advice::Preferred(here)).unwrap();
        half.advise(cx, Advice::NotAccessedBy(here)).unwrap();
        assert_eq!(half.info(cx).unwrap().preferred, Some(here));
        let info = all.info(cx).unwrap();
        assert_eq!((info.is_read_mostly, info.preferred), (false, None), "it differs");
        assert_eq!(all.accessed_by(cx).unwrap(), [MemoryLocation::Host]);
        all.advise(cx, Advice::NoPreferred).unwrap();
        assert_eq!(half.info(cx).unwrap().preferred, None);
        let refused = all.advise(cx, Advice::AccessedBy(MemoryLocation::HostNuma(0))).unwrap_err();
        assert_eq!(refused.code(), CUresult::CUDA_ERROR_INVALID_VALUE);
    });
}

#[test]
fn prefetching_changes_places_and_not_contents() {
    in_context(|cx| {
        let here = MemoryLocation::Device(cx.context().device());
        let stream = Stream::new(cx).unwrap();
        let mut numbers = ManagedBuffer::from_slice(cx, &[5u32; LEN]).unwrap();
        let all = numbers.range(..).unwrap();
        let (first, rest) = (numbers.range(..LEN / 3).unwrap(), numbers.range(LEN / 3..).unwrap());
        stream.prefetch(cx, all, here).unwrap();
        stream.synchronize(cx).unwrap();
        assert_eq!(all.info(cx).unwrap().last_prefetch, Some(here));
        stream.prefetch_batch(cx, &[(first, here), (rest, MemoryLocation::Host)]).unwrap();
        stream.synchronize(cx).unwrap();
        assert_eq!(first.info(cx).unwrap().last_prefetch, Some(here));
        assert_eq!(rest.info(cx).unwrap().last_prefetch, Some(MemoryLocation::Host));
        assert_eq!(all.info(cx).unwrap().last_prefetch, None);
        // Reported by drivers of CUDA 13.4.
        match rest.locations(cx, 4096, 4096) {
            Ok(places) => assert_eq!(places.len(), 2),
            Err(error) => assert!(error.code() == cuprum::Error::UNRESOLVED, "{error}"),
        }
        assert_eq!(numbers.on_host(cx, |numbers| numbers.to_vec()).unwrap(), [5; LEN]);
        // The default stream takes no batches.
        let default = Stream::default_in(cx);
        let refused = default.prefetch_batch(cx, &[(numbers.range(..).unwrap(), here)]).unwrap_err();
        assert_eq!(refused.code(), CUresult::CUDA_ERROR_INVALID_VALUE);
    });
}

#[test]
fn discarded_memory_can_be_written_again() {
    in_context(|cx| {
        let here = MemoryLocation::Device(cx.context().device());
        let stream = Stream::new(cx).unwrap();
        let mut numbers = ManagedBuffer::from_slice(cx, &[5u32; LEN]).unwrap();
        stream.discard(cx, &mut [numbers.range_mut(..).unwrap()]).unwrap();
        stream.discard_and_prefetch(cx, &mut [(numbers.range_mut(..).unwrap(), here)]).unwrap();
        cx.scope(&stream, |scope| Ok(scope.fill(&scope.lend(numbers.as_mut_slice()).unwrap(), 6)?)).unwrap();
        assert_eq!(numbers.on_host(cx, |numbers| numbers.to_vec()).unwrap(), [6; LEN]);
    });
}

#[test]
fn streams_and_memory_of_other_contexts_are_refused() {
    in_context(|cx| {
        let stream = Stream::new(cx).unwrap();
        let numbers = ManagedBuffer::<u32>::zeroed(cx, 4).unwrap();
        let other = context();
        let cx = cx.push(&other).unwrap();
        assert!(
            numbers.range(..).unwrap().advise(&cx, Advice::ReadMostly).unwrap_err().code()
                == cuprum::Error::WRONG_CONTEXT
        );
        let refused = stream.prefetch(&cx, numbers.range(..).unwrap(), MemoryLocation::Host).unwrap_err();
        assert!(refused.code() == cuprum::Error::WRONG_CONTEXT);
        let theirs = Stream::new(&cx).unwrap();
        let moves = [(numbers.range(..).unwrap(), MemoryLocation::Host)];
        assert!(theirs.prefetch_batch(&cx, &moves).unwrap_err().code() == cuprum::Error::WRONG_CONTEXT);
        if numbers.is_concurrent() {
            let refused = numbers.host(&cx).unwrap_err();
            assert!(
                matches!(refused, MemoryError::Driver(error) if error.code() == cuprum::Error::WRONG_CONTEXT)
            );
        }
    });
}

#[test]
fn it_outlives_its_function_in_a_shared_context() {
    let device = crate::common::driver().device(0).unwrap();
    let context = PrimaryContext::retain(device).unwrap().share();
    let mut kept = context.enter(|cx| Ok(ManagedBuffer::from_slice(cx, &[9u8; 10]).unwrap())).unwrap();
    let there = std::thread::spawn(move || {
        context.enter(|cx| Ok(kept.on_host(cx, |host| host.to_vec()).unwrap())).unwrap()
    });
    assert_eq!(there.join().unwrap(), [9; 10]);
}
