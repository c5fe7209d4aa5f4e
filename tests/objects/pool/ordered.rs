//! Memory in the order of a stream.

use cuprum::pool::StreamBuffer;
use cuprum::stream::SharedStream;
use cuprum::{
    Buffer, ContextStack, Event, EventFlags, In, InOut, LaunchConfig, MemoryError, PinnedBuffer, PinnedFlags,
    PrimaryContext, Request, SharedContext, Stream,
};

use crate::common::{context, device, in_context, kernels};

#[test]
fn it_is_filled_copied_and_freed_without_a_wait_in_between() {
    in_context(|cx| {
        for stream in [Stream::new(cx).unwrap(), Stream::non_blocking(cx).unwrap(), Stream::default_in(cx)] {
            let mut sum = StreamBuffer::<u32>::zeroed(cx, &stream, 1000).unwrap();
            assert_eq!(sum.to_vec(cx).unwrap(), [0; 1000]);
            for value in 1..20 {
                let mut part = StreamBuffer::alloc(cx, &stream, 1000).unwrap();
                part.fill(cx, value).unwrap();
                sum.copy_from(cx, &part).unwrap();
            }
            assert_eq!(sum.to_vec(cx).unwrap(), [19; 1000]);
            sum.set_bytes(cx, 1).unwrap();
            let mut host = [0; 1000];
            sum.copy_to_host(cx, &mut host).unwrap();
            assert_eq!(host, [0x0101_0101; 1000]);
            host.fill(5);
            sum.copy_from_host(cx, &host).unwrap();
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
        x.fill(cx, 2.0).unwrap();
        // SAFETY: saxpy(n, alpha, x, y) touches n elements of each, which are in the order of this stream.
        unsafe { saxpy.launch(cx, &stream, config, (100, 3.0, &x, &mut y)) }.unwrap();
        let mut host = PinnedBuffer::<f32>::zeroed(cx, 100, PinnedFlags::empty()).unwrap();
        let input = [4.0; 100];
        cx.scope(&stream, |scope| -> Result<(), MemoryError> {
            let (x, y) = (scope.lend_ordered(&mut x)?, scope.lend_ordered_shared(&y)?);
            scope.lend_host(&mut host)?.copy_from(y)?;
            x.copy_from_host(&input)
        })
        .unwrap()
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
        assert_eq!(here.copy_from(cx, &there), Err(MemoryError::NotInOrder));
        cx.scope(&two, |scope| {
            assert_eq!(scope.lend_ordered(&mut here).unwrap_err(), MemoryError::NotInOrder);
        })
        .unwrap();
        let length = MemoryError::Length { destination_len: 8, source_len: 7 };
        let short = StreamBuffer::<u8>::zeroed(cx, &one, 7).unwrap();
        assert_eq!(here.copy_from(cx, &short), Err(length));
        assert_eq!(here.copy_from_host(cx, &[0; 7]), Err(length));
        assert!(matches!(here.copy_to_host(cx, &mut [0; 7]), Err(MemoryError::Length { .. })));
    });
}

#[test]
fn it_moves_to_another_stream_behind_an_event() {
    in_context(|cx| {
        let (one, two) = (Stream::non_blocking(cx).unwrap(), Stream::non_blocking(cx).unwrap());
        let mut event = Event::new(cx, EventFlags::DISABLE_TIMING).unwrap();
        let mut buffer = StreamBuffer::<u32>::alloc(cx, &one, 100_000).unwrap();
        buffer.fill(cx, 3).unwrap();
        buffer.move_to(cx, &mut event, &two).unwrap();
        assert_eq!(buffer.stream().as_raw(), two.as_raw());
        let mut copy = StreamBuffer::<u32>::alloc(cx, &two, 100_000).unwrap();
        copy.copy_from(cx, &buffer).unwrap();
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
        buffer.as_mut_slice().unwrap().fill(cx, 6).unwrap();
        let mut other = Buffer::<u32>::zeroed(cx, 4).unwrap();
        other.as_mut_slice().copy_from(cx, buffer.as_slice().unwrap()).unwrap();
        assert_eq!(other.to_vec(cx).unwrap(), [6; 4]);
    });
}

#[test]
fn of_nothing_there_is_nothing() {
    in_context(|cx| {
        let stream = Stream::new(cx).unwrap();
        let mut empty = StreamBuffer::<u32>::zeroed(cx, &stream, 0).unwrap();
        empty.fill(cx, 1).unwrap();
        empty.copy_from_host(cx, &[]).unwrap();
        assert_eq!((empty.as_raw(), empty.to_vec(cx).unwrap().len()), (0, 0));
        cx.scope(&stream, |scope| scope.lend_ordered(&mut empty).unwrap().fill(3)).unwrap().unwrap();
        let too_large = StreamBuffer::<u64>::alloc(cx, &stream, usize::MAX / 4).unwrap_err();
        assert!(matches!(too_large, MemoryError::TooLarge { element_bytes: 8, .. }), "{too_large}");
    });
}

#[test]
fn what_does_not_fit_says_so_with_the_state_of_the_pool() {
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
        assert!(buffer.fill(&upper, 1).is_err());
        assert!(buffer.copy_from_host(&upper, &[1; 4]).is_err());
        assert!(buffer.move_to(&upper, &mut event, &stream).unwrap_err().is_wrong_context());
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
            let refused = scope.lend_ordered_shared(&on_default).unwrap_err();
            assert!(matches!(refused, MemoryError::Driver(error) if error.is_wrong_context()), "{refused}");
        })
        .unwrap();
}

fn cx_scope(cx: &cuprum::Current<'_, '_>, stream: &Stream<'_>, other: &StreamBuffer<'_, u8>) {
    cx.scope(stream, |scope| {
        assert_eq!(scope.lend_ordered_shared(other).unwrap_err(), MemoryError::NotInOrder);
    })
    .unwrap();
}

struct Counted {
    buffer: StreamBuffer<'static, u32>,
    stream: SharedStream<'static>,
    context: SharedContext,
}

#[test]
fn counted_it_lies_in_a_struct_and_goes_to_threads_in_any_order() {
    let context = PrimaryContext::retain(device()).unwrap().share();
    let make = || {
        let made = context.enter(|cx| {
            let stream = Stream::new(cx).unwrap().share();
            let buffer = StreamBuffer::<u32>::zeroed(cx, &stream, 10).unwrap();
            Counted { buffer, stream, context: context.clone() }
        });
        made.unwrap()
    };
    let mut counted = make();
    let counted = std::thread::spawn(move || {
        counted.context.enter(|cx| counted.buffer.fill(cx, 4)).unwrap().unwrap();
        counted
    });
    let Counted { buffer, stream, context: kept } = counted.join().unwrap();
    assert_eq!(format!("{stream:?}"), format!("SharedStream({:?})", *stream));
    drop(stream);
    drop(context.clone());
    assert_eq!(kept.enter(|cx| buffer.to_vec(cx)).unwrap().unwrap(), [4; 10]);
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
            let device = scope.lend_ordered(device)?;
            device.fill(8)?;
            scope.lend_host(host)?.copy_from(&device)
        });
        pending.unwrap()
    });
    let (_, (_, host)) = done.unwrap().wait().unwrap().into_parts();
    assert_eq!(host[..], [8; 4]);
}
