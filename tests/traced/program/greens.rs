//! Parts of a device, and contexts on them.

use cuprum::context::GreenContext;
use cuprum::device::{GroupFlags, ResourceKind, SmGroup, SplitFlags};
use cuprum::stream::{Event, EventFlags};
use cuprum::sys::CUresult;
use cuprum::{Buffer, Current, Driver, Stream};

use super::Steps;

const SM: ResourceKind = ResourceKind::CU_DEV_RESOURCE_TYPE_SM;

/// On the second device, since the primary context of the first is reset, which is not to be where
/// a green context is left that could not be destroyed.
pub(super) fn all(steps: &Steps, driver: Driver) {
    let Some(device) = steps.attempt("Driver::device", || driver.device(1)) else { return };
    let Some(all) = steps.attempt("Device::resource", || device.resource(SM)) else { return };
    let none = SplitFlags::empty();
    let mut groups =
        [SmGroup { flags: GroupFlags::CU_DEV_SM_RESOURCE_GROUP_BACKFILL.0, ..SmGroup::zeroed() }];
    steps.attempt("DeviceResource::split", || all.split(&mut groups));
    let split = steps.attempt("DeviceResource::split_by_count", || all.split_by_count(1, 1, none));
    let Some((groups, _)) = split else { return };
    let create = || GreenContext::create(&groups);
    let Some(green) = steps.attempt("GreenContext::create", create) else { return };
    steps.attempt("GreenContext::id", || green.id());
    steps.attempt("GreenContext::resource", || green.resource(SM));
    steps.attempt("ContextRef::enter", || {
        green.enter(|cx| {
            steps.expect(&green);
            inside(steps, cx);
            steps.expect_nothing();
            Ok(())
        })
    });
    steps.attempt("GreenContext::close", || green.close());
    let again = steps.attempt("GreenContext::create", create);
    steps.done("GreenContext::drop", || drop(again));
}

fn inside(steps: &Steps, cx: &Current<'_, '_>) {
    steps.attempt("Current::resource", || cx.resource(SM));
    let stream = steps.attempt("Stream::in_green_context", || Stream::in_green_context(cx, 0));
    if let Some(stream) = stream {
        steps.attempt("Stream::green_context", || stream.green_context(cx));
        steps.attempt("Stream::resource", || stream.resource(cx, SM));
        steps.done("Stream::drop", || drop(stream));
    }
    if let Some(event) = steps.attempt("Event::new", || Event::new(cx, EventFlags::empty())) {
        steps.attempt("Current::record", || cx.record(&event));
        steps.attempt("Current::wait_for", || cx.wait_for(&event));
        steps.done("Event::drop", || drop(event));
    }
    let buffer = steps.attempt("Buffer::alloc", || Buffer::<u8>::alloc(cx, 16));
    if let Some(mut buffer) = buffer {
        // There is no default stream per thread.
        let none = CUresult::CUDA_ERROR_INVALID_HANDLE;
        steps.may_refuse("Current::fill_bytes", none, || cx.fill_bytes(&mut buffer, 1));
        steps.done("Buffer::drop", || drop(buffer));
    }
    steps.attempt("Current::synchronize", || cx.synchronize());
}
