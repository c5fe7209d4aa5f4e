//! Memory in the order of a stream.

use cuprum::context::{ContextStack, PrimaryContext};
use cuprum::memory::PinnedFlags;
use cuprum::pool::StreamBuffer;
use cuprum::stream::{Event, EventFlags, Request};
use cuprum::{Buffer, ContextRef, In, InOut, LaunchConfig, MemoryError, PinnedBuffer, Shared, Stream};

use crate::common::{context, device, in_context, kernels};

#[test]
fn it_is_filled_copied_and_freed_without_a_wait_in_between() {
    in_context(|cx| {
        for stream in [Stream::new(cx).unwrap(), Stream::non_blocking(cx).unwrap(), Stream::default_in(cx)] {
            let mut sum = StreamBuffer::<u32>::zeroed(cx, &stream, 1000).unwrap();
            assert_eq!(sum.to_vec(cx).unwrap(), [0; 1000]);
            for value in 1..20 {
                let mut part = StreamBuffer::alloc(cx, &stream, 1000).unwrap();
                cx.fill(&mut part, value).unwrap();
                cx.copy(&mut sum, &part).unwrap();
            }
            assert_eq!(sum.to_vec(cx).unwrap(), [19; 1000]);
            cx.fill_bytes(&mut sum, 1).unwrap();
            let mut host = [0; 1000];
            cx.copy(&mut host, &sum).unwrap();
            assert_eq!(host, [0x0101_0101; 1000]);
            host.fill(5);
            cx.copy(&mut sum, &host).unwrap();
            assert_eq!((sum.len(), sum.is_empty(), sum.to_vec(cx).unwrap()), (1000, false, host.to_vec()));
            assert_eq!(sum.stream().as_raw(), stream.as_raw());
            sum.close().unwrap();
        }
    });
}

#[test]
fn it_is_an_argument_and_lent_to_scopes_on_its_stream() {
    in_context(|cx| {
        let stream = Stream::non_blocking(cx).unwrap();
        let module = kernels!(cx, "saxpy");
        let saxpy = module.function("saxpy").unwrap();
        let saxpy = saxpy.bind::<(u32, f32, In<f32>, InOut<f32>)>().unwrap();
        let config = LaunchConfig::for_elements(100, 32);
        let mut x = StreamBuffer::<f32>::alloc(cx, &stream, 100).unwrap();
        let mut y = StreamBuffer::<f32>::zeroed(cx, &stream, 100).unwrap();
        cx.fill(&mut x, 2.0).unwrap();
        // SAFETY: saxpy(n, alpha, x, y) touches n elements of each, which are in the order of this
        // stream.
        unsafe { saxpy.launch(cx, &stream, config, (100, 3.0, &x, &mut y)) }.unwrap();
        let mut host = PinnedBuffer::<f32>::zeroed(cx, 100, PinnedFlags::empty()).unwrap();
        let input = [4.0; 100];
        cx.scope_as(&stream, |scope| -> Result<(), MemoryError> {
            let (x, y) = (scope.lend(&mut x)?, scope.lend(&y)?);
            scope.copy(&scope.lend(&mut host)?, &y)?;
            scope.copy(&x, &input)
        })
        .unwrap();
        assert_eq!(host[..], [6.0; 100]);
        assert_eq!(x.to_vec(cx).unwrap(), [4.0; 100]);
    });
}

#[test]
fn another_stream_is_refused() {
    in_context(|cx| {
        let (one, two) = (Stream::new(cx).unwrap(), Stream::new(cx).unwrap());
        let mut here = StreamBuffer::<u8>::zeroed(cx, &one, 8).unwrap();
        let there = StreamBuffer::<u8>::zeroed(cx, &two, 8).unwrap();
        assert_eq!(cx.copy(&mut here, &there), Err(MemoryError::NotInOrder));
        cx.scope(&two, |scope| {
            assert_eq!(scope.lend(&mut here).unwrap_err(), MemoryError::NotInOrder);
            Ok(())
        })
        .unwrap();
        let length = MemoryError::Length { destination_len: 8, source_len: 7 };
        let short = StreamBuffer::<u8>::zeroed(cx, &one, 7).unwrap();
        assert_eq!(cx.copy(&mut here, &short), Err(length));
        assert_eq!(cx.copy(&mut here, &[0; 7]), Err(length));
        assert!(matches!(cx.copy(&mut [0; 7], &here), Err(MemoryError::Length { .. })));
    });
}

#[test]
fn it_moves_to_another_stream_after_an_event() {
    in_context(|cx| {
        let (one, two) = (Stream::non_blocking(cx).unwrap(), Stream::non_blocking(cx).unwrap());
        let mut event = Event::new(cx, EventFlags::DISABLE_TIMING).unwrap();
        let mut buffer = StreamBuffer::<u32>::alloc(cx, &one, 100_000).unwrap();
        cx.fill(&mut buffer, 3).unwrap();
        buffer.move_to(cx, &mut event, &two).unwrap();
        assert_eq!(buffer.stream().as_raw(), two.as_raw());
        let mut copy = StreamBuffer::<u32>::alloc(cx, &two, 100_000).unwrap();
        cx.copy(&mut copy, &buffer).unwrap();
        drop(buffer);
        assert_eq!(copy.to_vec(cx).unwrap(), [3; 100_000]);
    });
}

#[test]
fn only_on_the_default_stream_are_there_slices() {
    in_context(|cx| {
        let (default, own) = (Stream::default_in(cx), Stream::new(cx).unwrap());
        let mut elsewhere = StreamBuffer::<u32>::zeroed(cx, &own, 4).unwrap();
        assert!(elsewhere.as_slice().is_none() && elsewhere.as_mut_slice().is_none());
        let mut buffer = StreamBuffer::<u32>::zeroed(cx, &default, 4).unwrap();
        cx.fill(&mut buffer.as_mut_slice().unwrap(), 6).unwrap();
        let mut other = Buffer::<u32>::zeroed(cx, 4).unwrap();
        cx.copy(&mut other, &buffer.as_slice().unwrap()).unwrap();
        assert_eq!(other.to_vec(cx).unwrap(), [6; 4]);
    });
}

#[test]
fn of_nothing_there_is_nothing() {
    in_context(|cx| {
        let stream = Stream::new(cx).unwrap();
        let mut empty = StreamBuffer::<u32>::zeroed(cx, &stream, 0).unwrap();
        cx.fill(&mut empty, 1).unwrap();
        cx.copy(&mut empty, &[]).unwrap();
        assert_eq!((empty.as_raw(), empty.to_vec(cx).unwrap().len()), (0, 0));
        cx.scope(&stream, |scope| Ok(scope.fill(&scope.lend(&mut empty).unwrap(), 3)?)).unwrap();
        let too_large = StreamBuffer::<u64>::alloc(cx, &stream, usize::MAX / 4).unwrap_err();
        assert!(matches!(too_large, MemoryError::TooLarge { element_bytes: 8, .. }), "{too_large}");
    });
}

#[test]
fn an_allocation_that_does_not_fit_reports_the_state_of_the_pool() {
    in_context(|cx| {
        let stream = Stream::new(cx).unwrap();
        let _held = StreamBuffer::<u8>::alloc(cx, &stream, 1 << 20).unwrap();
        let refused = StreamBuffer::<u8>::alloc(cx, &stream, 1 << 50).unwrap_err();
        let MemoryError::NoRoom { bytes, used, .. } = refused else { panic!("{refused}") };
        assert_eq!(bytes, 1 << 50);
        assert!(used >= 1 << 20);
        let text = refused.to_string();
        assert!(text.contains("no room for 1125899906842624 bytes"), "{text}");
        assert!(text.contains("cuMemAllocAsync failed: CUDA_ERROR_OUT_OF_MEMORY"), "{text}");
    });
}

#[test]
fn contexts_are_not_mixed_up() {
    let (one, two) = (context(), context());
    let mut stack = ContextStack::take().unwrap();
    let mut cx = stack.push(&one).unwrap();
    let (stream, mut event) = (Stream::new(&cx).unwrap(), Event::new(&cx, EventFlags::empty()).unwrap());
    let mut buffer = StreamBuffer::<u8>::zeroed(&cx, &stream, 4).unwrap();
    {
        let upper = cx.push(&two).unwrap();
        let theirs = Stream::new(&upper).unwrap();
        let default = Stream::default_in(&upper);
        assert!(StreamBuffer::<u8>::alloc(&upper, &stream, 4).is_err());
        assert!(buffer.to_vec(&upper).is_err());
        assert!(upper.fill(&mut buffer, 1).is_err());
        assert!(upper.copy(&mut buffer, &[1; 4]).is_err());
        assert!(
            buffer.move_to(&upper, &mut event, &stream).unwrap_err().code() == cuprum::Error::WRONG_CONTEXT
        );
        let other = StreamBuffer::<u8>::zeroed(&upper, &default, 4).unwrap();
        cx_scope(&upper, &theirs, &other);
    }
    let default = Stream::default_in(&cx);
    let on_default = StreamBuffer::<u8>::zeroed(&cx, &default, 4).unwrap();
    let upper = cx.push(&two).unwrap();
    // The same handle means another queue in another context.
    let theirs = Stream::default_in(&upper);
    upper
        .scope(&theirs, |scope| {
            let refused = scope.lend(&on_default).unwrap_err();
            assert!(
                matches!(refused, MemoryError::Driver(error) if error.code() == cuprum::Error::WRONG_CONTEXT),
                "{refused}"
            );
            Ok(())
        })
        .unwrap();
}

fn cx_scope(cx: &cuprum::Current<'_, '_>, stream: &Stream<'_>, other: &StreamBuffer<'_, u8>) {
    cx.scope(stream, |scope| {
        assert_eq!(scope.lend(other).unwrap_err(), MemoryError::NotInOrder);
        Ok(())
    })
    .unwrap();
}

struct Counted {
    buffer: StreamBuffer<'static, u32>,
    stream: Shared<Stream<'static>>,
    context: Shared<ContextRef>,
}

#[test]
fn counted_it_fits_into_a_struct_and_goes_to_threads_in_any_order() {
    let context = PrimaryContext::retain(device()).unwrap().share();
    let make = || {
        let made = context.enter(|cx| {
            let stream = Stream::new(cx).unwrap().share();
            let buffer = StreamBuffer::<u32>::zeroed(cx, &stream, 10).unwrap();
            Ok(Counted { buffer, stream, context: context.clone() })
        });
        made.unwrap()
    };
    let mut counted = make();
    let counted = std::thread::spawn(move || {
        counted.context.enter(|cx| Ok(cx.fill(&mut counted.buffer, 4)?)).unwrap();
        counted
    });
    let Counted { buffer, stream, context: kept } = counted.join().unwrap();
    assert_eq!(format!("{stream:?}"), format!("Shared({:?})", *stream));
    drop(stream);
    drop(context.clone());
    assert_eq!(kept.enter_as(|cx| buffer.to_vec(cx)).unwrap(), [4; 10]);
    drop(kept);
    // The last one to know the stream, and on a thread without a context.
    std::thread::spawn(move || drop(buffer)).join().unwrap();
    let Counted { buffer, .. } = make();
    drop(context);
    drop(buffer);
}

#[test]
fn a_request_owns_it() {
    let context = PrimaryContext::retain(device()).unwrap().share();
    let done = context.enter(|cx| {
        let stream = Stream::non_blocking(cx).unwrap().share();
        let device = StreamBuffer::<u32>::zeroed(cx, &stream, 4).unwrap();
        let host = PinnedBuffer::<u32>::zeroed(cx, 4, PinnedFlags::empty()).unwrap();
        let event = Event::new(cx, EventFlags::DISABLE_TIMING).unwrap();
        let pending = Request::new(event, (device, host)).submit(cx, &stream, |scope, (device, host)| {
            let device = scope.lend(device)?;
            scope.fill(&device, 8)?;
            scope.copy(&scope.lend(host)?, &device)
        });
        Ok(pending.unwrap())
    });
    let (_, (_, host)) = done.unwrap().wait().unwrap().into_parts();
    assert_eq!(host[..], [8; 4]);
}
