//! Green contexts: parts of a device, and the work that runs on them.

use cuprum::context::{ForeignContext, GreenContext, PrimaryContext};
use cuprum::device::{DeviceResource, GroupFlags, ResourceKind, SmGroup, SplitFlags};
use cuprum::module::CodeLibrary;
use cuprum::stream::{Event, EventFlags, ForeignStream, StreamKind};
use cuprum::sys::{CUdevWorkqueueConfigScope, CUresult};
use cuprum::{Buffer, ContextRef, In, InOut, LaunchConfig, Shared, Stream};

use crate::common::{device, driver, in_context};

const SM: ResourceKind = ResourceKind::CU_DEV_RESOURCE_TYPE_SM;

fn all() -> DeviceResource {
    device().resource(SM).unwrap()
}

fn count(resource: &DeviceResource) -> u32 {
    resource.sm().unwrap().smCount
}

/// A green context on a group of the fewest multiprocessors.
fn green() -> GreenContext {
    let (groups, _) = all().split_by_count(1, 1, SplitFlags::empty()).unwrap();
    GreenContext::create(&groups).unwrap()
}

#[test]
fn multiprocessors_are_divided_without_loss() {
    let (all, any) = (all(), SplitFlags::IGNORE_SM_COSCHEDULING);
    let (groups, remainder) = all.split_by_count(u32::MAX, 1, any).unwrap();
    let left = remainder.as_ref().map_or(0, count);
    assert_eq!(groups.iter().map(count).sum::<u32>() + left, count(&all));
    assert!(groups.iter().all(|group| group.device() == device() && group.kind() == SM));
}

#[test]
fn resources_that_cannot_be_divided_are_refused() {
    let all = all();
    let code = |groups, min| all.split_by_count(groups, min, SplitFlags::empty()).unwrap_err().code();
    assert_eq!(code(1, count(&all) + 1), CUresult::CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
    assert_eq!(code(0, 1), CUresult::CUDA_ERROR_INVALID_VALUE);
    let part = all.split_by_count(1, 1, SplitFlags::empty()).unwrap().0[0];
    let again = part.split_by_count(1, 1, SplitFlags::empty()).unwrap_err().code();
    assert_eq!(again, CUresult::CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
    let none = GreenContext::create(&[]).unwrap_err().code();
    assert_eq!(none, CUresult::CUDA_ERROR_INVALID_VALUE);
    let no_kind = device().resource(ResourceKind::CU_DEV_RESOURCE_TYPE_INVALID).unwrap_err().code();
    assert_eq!(no_kind, CUresult::CUDA_ERROR_INVALID_RESOURCE_TYPE);
    assert_eq!(
        (all.work_queues(), count(&all.with_work_queues(1, CUdevWorkqueueConfigScope(0)))),
        (None, count(&all))
    );
}

#[test]
fn groups_have_sizes_of_their_own_where_the_driver_can() {
    let all = all();
    let mut groups =
        [SmGroup { flags: GroupFlags::CU_DEV_SM_RESOURCE_GROUP_BACKFILL.0, ..SmGroup::zeroed() }];
    match all.split(&mut groups) {
        Ok((found, remainder)) => {
            assert_eq!((groups[0].smCount, count(&found[0])), (count(&all), count(&all)));
            assert!(remainder.is_none());
        }
        Err(error) => assert!(error.code() == cuprum::Error::UNRESOLVED, "{error}"),
    }
}

#[test]
fn a_green_context_has_its_part() {
    let green = green();
    let part = count(&green.resource(SM).unwrap());
    assert!((1..=count(&all())).contains(&part));
    assert!(green.is_green() && !green.as_raw_green().is_null());
    let id = green.id().unwrap();
    green
        .enter(|cx| {
            assert_eq!(cx.id().unwrap(), id);
            assert_eq!(count(&cx.resource(SM).unwrap()), part);
            let stream = Stream::in_green_context(cx, 0).unwrap();
            let plain = Stream::new(cx).unwrap();
            for stream in [&stream, &plain] {
                assert_eq!(stream.green_context(cx).unwrap(), Some(green.as_raw_green()));
                match stream.resource(cx, SM) {
                    Ok(of_stream) => assert_eq!(count(&of_stream), part),
                    Err(error) => assert!(error.code() == cuprum::Error::UNRESOLVED, "{error}"),
                }
            }
            Ok(())
        })
        .unwrap();
    assert_ne!(green.id().unwrap(), self::green().id().unwrap());
    green.close().unwrap();
}

#[test]
fn kernels_run_in_several_green_contexts_from_one_library() {
    let code = CodeLibrary::load_ptx(driver(), include_str!("../../kernels/saxpy.ptx")).unwrap();
    for green in [green(), green()] {
        green
            .enter(|cx| {
                let module = code.module(cx).unwrap();
                let saxpy =
                    module.function("saxpy").unwrap().bind::<(u32, f32, In<f32>, InOut<f32>)>().unwrap();
                let x = Buffer::from_slice(cx, &[1.0f32; 8]).unwrap();
                let mut y = Buffer::from_slice(cx, &[2.0f32; 8]).unwrap();
                cx.synchronize().unwrap();
                let stream = Stream::in_green_context(cx, 0).unwrap();
                let config = LaunchConfig::for_elements(8, 8);
                // SAFETY: saxpy(n, alpha, x, y) touches n elements of each, and the wait comes
                // before the copy.
                unsafe { saxpy.launch(cx, &stream, config, (8u32, 3.0f32, &x, &mut y)) }.unwrap();
                stream.synchronize(cx).unwrap();
                assert_eq!(y.to_vec(cx).unwrap(), [5.0; 8]);
                Ok(())
            })
            .unwrap();
    }
}

#[test]
fn events_stand_for_the_work_of_a_green_context() {
    let green = green();
    green
        .enter(|cx| {
            let event = Event::new(cx, EventFlags::empty()).unwrap();
            cx.record(&event).unwrap();
            cx.wait_for(&event).unwrap();
            event.synchronize().unwrap();
            assert!(event.is_done().unwrap());
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_context_that_is_not_green_has_no_such_streams() {
    in_context(|cx| {
        assert!(!cx.context().is_green());
        let refused = Stream::in_green_context(cx, 0).unwrap_err();
        assert_eq!(refused.code(), CUresult::CUDA_ERROR_INVALID_CONTEXT);
        let stream = Stream::new(cx).unwrap();
        assert_eq!(stream.green_context(cx).unwrap(), None);
        assert_eq!(count(&cx.resource(SM).unwrap()), count(&all()));
    });
}

/// Measured on an H100: no flag makes them such. Of a context of other code, the driver knows if it
/// is green.
#[test]
fn streams_of_a_green_context_are_not_in_order_with_the_default_stream() {
    fn assert_beside(cx: &cuprum::Current<'_, '_>) {
        let streams =
            [Stream::new(cx), Stream::with_priority(cx, StreamKind::Blocking, 0), Stream::non_blocking(cx)];
        for stream in streams {
            let stream = stream.unwrap();
            assert_eq!(stream.kind(), StreamKind::NonBlocking);
            // SAFETY: the stream is of this context, and was just given up.
            let again = unsafe { Stream::from_raw(cx, stream.into_raw()) }.unwrap();
            assert_eq!(again.kind(), StreamKind::NonBlocking);
        }
        assert_eq!(Stream::default_in(cx).kind(), StreamKind::Blocking);
    }
    let green = green();
    green
        .enter(|cx| {
            assert_beside(cx);
            Ok(())
        })
        .unwrap();
    // SAFETY: the context is live, and outlives the value.
    let foreign = unsafe { ForeignContext::from_raw(driver(), green.as_raw()) }.unwrap();
    assert!(foreign.is_green());
    foreign
        .enter(|cx| {
            assert_beside(cx);
            Ok(())
        })
        .unwrap();
    green
        .enter(|cx| {
            // SAFETY: as above.
            let foreign = unsafe { ForeignContext::current(driver()) }.unwrap().unwrap();
            assert!(foreign.is_green() && *foreign == *cx.context());
            Ok(())
        })
        .unwrap();
    let other = PrimaryContext::retain(device()).unwrap();
    // SAFETY: as above.
    assert!(!unsafe { ForeignContext::from_raw(driver(), other.as_raw()) }.unwrap().is_green());
}

/// Objects made in one context are used in it, though the device would accept others.
#[test]
fn objects_made_in_a_green_context_are_used_in_it() {
    let (green, primary) = (green(), PrimaryContext::retain(device()).unwrap());
    let buffer = green.enter(|cx| Ok(Buffer::from_slice(cx, &[1u32]).unwrap())).unwrap();
    let refused = primary.enter(|cx| Ok(buffer.to_vec(cx).unwrap_err())).unwrap();
    let cuprum::MemoryError::Driver(error) = refused else { panic!("another error") };
    assert!(error.code() == cuprum::Error::WRONG_CONTEXT);
}

/// As with any context, the last of its users ends it, on whichever thread.
#[test]
fn a_green_context_is_shared() {
    let context: Shared<ContextRef> = green().share();
    let (stream, buffer) = context
        .enter(|cx| {
            Ok((Stream::in_green_context(cx, -1).unwrap(), Buffer::from_slice(cx, &[3u32; 4]).unwrap()))
        })
        .unwrap();
    assert!(context.is_green());
    drop(context);
    std::thread::spawn(move || {
        assert_eq!(stream.kind(), StreamKind::NonBlocking);
        drop(stream);
        drop(buffer);
    })
    .join()
    .unwrap();
}

/// A token that was forgotten leaves it current, and destroyed; the next one puts that right.
#[test]
fn a_green_context_that_is_left_current_does_no_harm() {
    std::thread::spawn(|| {
        let mut stack = cuprum::context::ContextStack::take().unwrap();
        let green = green();
        std::mem::forget(stack.push(&green).unwrap());
        drop(green);
        let primary = PrimaryContext::retain(device()).unwrap();
        let cx = stack.push(&primary).unwrap();
        cx.synchronize().unwrap();
        cx.pop().unwrap();
    })
    .join()
    .unwrap();
}

/// A stream of other code in a green context is not ordered with synchronous copies, just as a
/// stream made here, regardless of the flags that the driver reports.
#[test]
fn a_foreign_stream_of_a_green_context_is_not_in_order_with_the_default_stream() {
    let green = green();
    green
        .enter(|cx| {
            let stream = Stream::new(cx).unwrap();
            // SAFETY: the stream is live, outlives the value, and is not captured.
            let foreign = unsafe { ForeignStream::from_raw(cx, stream.as_raw()) }.unwrap();
            assert_eq!(foreign.kind(), StreamKind::NonBlocking);
            // SAFETY: it is given up by its owner, and not captured.
            let taken = unsafe { Stream::from_raw(cx, stream.into_raw()) }.unwrap();
            assert_eq!(taken.kind(), StreamKind::NonBlocking);
            Ok(())
        })
        .unwrap();
}
