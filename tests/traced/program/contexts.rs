//! Contexts, tokens, and drops where another context is current.

use cuprum::context::{Context, ContextFlags, ContextStack, ForeignContext, Limit, PrimaryContext};
use cuprum::stream::{Event, EventFlags};
use cuprum::sys::{CUflushGPUDirectRDMAWritesScope, CUflushGPUDirectRDMAWritesTarget, CUresult};
use cuprum::{Buffer, ContextRef, Current, Device, Error};

use super::{
    Steps, arrays, captures, code, foreign as foreign_handles, graphs, libraries, memory, numbers, pools,
    processes, requests, scopes, streams, textures, virtual_memory,
};

/// A use of a token above which another was forgotten. A failure while the stack is restored need
/// not be reported.
pub(crate) const AFTER_FORGOTTEN: &str = "use of a token under a forgotten one";

/// Contexts of the program's own, and all that is done in them.
pub(super) fn created(steps: &Steps, device: Device) {
    let create = || Context::create(device, ContextFlags::empty());
    let Some(context) = steps.attempt("Context::create", create) else { return };
    let Some(other) = steps.attempt("Context::create", create) else { return };
    let mut stack = ContextStack::take().expect("the stack of a fresh thread");
    if let Some(mut cx) = steps.attempt("ContextStack::push", || stack.push(&context)) {
        steps.expect(&context);
        steps.room("queries", || queries(steps, &cx));
        steps.room("settings", || settings(steps, &cx));
        steps.room("nested", || nested(steps, &mut cx, &other));
        steps.room("forgotten", || forgotten(steps, &mut cx, &other));
        steps.room("memory", || memory::all(steps, &cx));
        steps.room("virtual memory", || virtual_memory::all(steps, &cx));
        steps.room("arrays", || arrays::all(steps, &cx));
        steps.room("textures", || textures::all(steps, &cx));
        steps.room("pools", || pools::all(steps, &cx));
        steps.room("tools", || super::tools::all(steps, &cx));
        steps.room("peers", || memory::peers(steps, &mut cx));
        steps.room("streams", || streams::all(steps, &cx));
        steps.room("processes", || processes::all(steps, &cx));
        #[cfg(unix)]
        steps.room("external", || super::external::all(steps, &cx));
        steps.room("opengl", || super::opengl::all(steps, &cx));
        steps.room("code", || code::all(steps, &cx));
        steps.room("libraries", || libraries::all(steps, &cx));
        steps.room("scopes", || scopes::all(steps, &mut cx, &other));
        steps.room("numbers", || numbers::all(steps, &cx));
        steps.room("graphs", || graphs::all(steps, &cx));
        steps.room("captures", || captures::all(steps, &cx));
        steps.room("foreign", || foreign(steps, &mut cx, &other));
        steps.room("entered", || entered(steps, &cx, &other));
        steps.room("foreign handles", || foreign_handles::all(steps, &cx, &other));
        steps.expect(&context);
        // That the first context is current again, whatever happened above it.
        steps.attempt("Current::synchronize", || cx.synchronize());
        steps.attempt("Current::pop", || cx.pop());
        steps.expect_nothing();
    }
    steps.room("elsewhere", || elsewhere(steps, &mut stack, &context));
    steps.attempt("Context::close", || other.close());
    steps.done("Context::drop", || drop(context));
}

fn queries(steps: &Steps, cx: &Current<'_, '_>) {
    steps.attempt("Current::synchronize", || cx.synchronize());
    steps.attempt("Current::memory_info", || cx.memory_info());
    let limit = Limit::CU_LIMIT_STACK_SIZE;
    let value = steps.attempt("Current::limit", || cx.limit(limit));
    steps.attempt("Current::set_limit", || cx.set_limit(limit, value.unwrap_or(1024)));
    steps.attempt("Current::stream_priorities", || cx.stream_priorities());
}

fn settings(steps: &Steps, cx: &Current<'_, '_>) {
    let flags = steps.attempt("Current::flags", || cx.flags());
    steps.attempt("Current::set_flags", || cx.set_flags(flags.unwrap_or_default()));
    steps.attempt("Current::id", || cx.id());
    steps.attempt("Current::reset_persisting_l2_cache", || cx.reset_persisting_l2_cache());
    steps.attempt("Current::multiprocessor_affinity", || cx.multiprocessor_affinity());
    let target = CUflushGPUDirectRDMAWritesTarget::CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX;
    let scope = CUflushGPUDirectRDMAWritesScope::CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER;
    let flush = || cx.flush_gpu_direct_rdma_writes(target, scope);
    steps.attempt("Current::flush_gpu_direct_rdma_writes", flush);
    if let Some(event) = steps.attempt("Event::new", || Event::new(cx, EventFlags::empty())) {
        steps.attempt("Current::record", || cx.record(&event));
        steps.attempt("Current::wait_for", || cx.wait_for(&event));
        steps.done("Event::drop", || drop(event));
    }
    if let Some(profile) = steps.attempt("Current::profile", || cx.profile()) {
        steps.attempt("Profile::close", || profile.close());
    }
    let profile = steps.attempt("Current::profile", || cx.profile());
    steps.done("Profile::drop", || drop(profile));
}

/// A second context on top of the first, and the same one twice in a row.
fn nested(steps: &Steps, cx: &mut Current<'_, '_>, other: &ContextRef) {
    let context = cx.context().as_raw();
    let mut theirs = None;
    // The driver makes a new context current, so the current context differs from the token below.
    let device = other.device();
    let third = steps.attempt("Context::create", || Context::create(device, ContextFlags::empty()));
    steps.attempt("Current::memory_info", || cx.memory_info());
    steps.done("Context::drop", || drop(third));
    steps.attempt("Current::memory_info", || cx.memory_info());
    if let Some(upper) = steps.attempt("Current::push", || cx.push(other)) {
        steps.expect(other);
        theirs = steps.attempt("Buffer::alloc", || Buffer::<u8>::alloc(&upper, 16));
        steps.done("Current::drop", || drop(upper));
    }
    steps.session().expect(Some(context));
    steps.attempt("Current::memory_info", || cx.memory_info());
    steps.done("Buffer::drop in another context", || drop(theirs));
    steps.attempt("Current::memory_info", || cx.memory_info());
    if let Some(upper) = steps.attempt("Current::push", || cx.push(other)) {
        steps.expect(other);
        let mut upper = upper;
        let again = steps.attempt("Current::push", || upper.push(other));
        again.map(|again| steps.attempt("Current::pop", || again.pop()));
        steps.attempt("Current::memory_info", || upper.memory_info());
        steps.attempt("Current::pop", || upper.pop());
    }
    steps.session().expect(Some(context));
    steps.attempt("Current::memory_info", || cx.memory_info());
}

/// Tokens that are never dropped: their contexts are popped by the next use of a token below, or
/// when that token ends.
fn forgotten(steps: &Steps, cx: &mut Current<'_, '_>, other: &ContextRef) {
    std::mem::forget(steps.attempt("Current::push", || cx.push(other)));
    steps.attempt(AFTER_FORGOTTEN, || cx.memory_info());
    let device = other.device();
    let third = steps.attempt("Context::create", || Context::create(device, ContextFlags::empty()));
    if let Some(third) = third {
        std::mem::forget(steps.attempt("Current::push", || cx.push(&third)));
        steps.done("Context::drop under a forgotten token", || drop(third));
    }
    steps.attempt(AFTER_FORGOTTEN, || cx.memory_info());
    steps.attempt("Current::memory_info", || cx.memory_info());
}

/// Contexts by their handle.
fn foreign(steps: &Steps, cx: &mut Current<'_, '_>, other: &ContextRef) {
    let (context, driver) = (cx.context().as_raw(), other.driver());
    // SAFETY: whatever is current was made by `created`, which outlives the value.
    steps.attempt("ForeignContext::current", || unsafe { ForeignContext::current(driver) });
    steps.expect(other);
    // SAFETY: `other` is live and outlives the value.
    let foreign = steps
        .attempt("ForeignContext::from_raw", || unsafe { ForeignContext::from_raw(driver, other.as_raw()) });
    steps.session().expect(Some(context));
    steps.attempt("Current::memory_info", || cx.memory_info());
    let Some(foreign) = foreign else { return };
    if let Some(upper) = steps.attempt("Current::push", || cx.push(&foreign)) {
        steps.expect(&foreign);
        let buffer = steps.attempt("Buffer::alloc", || Buffer::<u8>::alloc(&upper, 16));
        steps.done("Buffer::drop", || drop(buffer));
        steps.attempt("Current::pop", || upper.pop());
    }
    steps.session().expect(Some(context));
}

/// Drops where nothing is current: on this thread, and on another.
fn elsewhere(steps: &Steps, stack: &mut ContextStack, context: &ContextRef) {
    let Some(cx) = steps.attempt("ContextStack::push", || stack.push(context)) else { return };
    steps.expect(context);
    let here = steps.attempt("Buffer::alloc", || Buffer::<u8>::alloc(&cx, 16));
    let there = steps.attempt("Buffer::alloc", || Buffer::<u8>::alloc(&cx, 16));
    steps.done("Current::drop", || drop(cx));
    steps.expect_nothing();
    steps.done("Buffer::drop with nothing current", || drop(here));
    let session = steps.session().clone();
    steps.done("Buffer::drop on another thread", || {
        std::thread::scope(|scope| {
            scope.spawn(move || session.enter(|| drop(there))).join().expect("a drop does not panic");
        });
    });
    let Some(cx) = steps.attempt("ContextStack::push", || stack.push(context)) else { return };
    steps.expect(context);
    steps.attempt("Current::memory_info", || cx.memory_info());
    steps.done("Current::drop", || drop(cx));
    steps.expect_nothing();
}

/// Contexts entered by code that knows no token: under one, and where nothing is current.
fn entered(steps: &Steps, cx: &Current<'_, '_>, other: &ContextRef) {
    let outside = cx.context().as_raw();
    let theirs = steps.attempt("ContextRef::enter", || {
        other.enter(|inner| {
            steps.expect(other);
            let theirs = steps.attempt("Buffer::alloc", || Buffer::<u8>::alloc(inner, 16));
            steps.attempt("Current::memory_info", || inner.memory_info());
            steps.session().expect(Some(outside));
            Ok(theirs)
        })
    });
    steps.session().expect(Some(outside));
    steps.attempt("Current::memory_info", || cx.memory_info());
    steps.done("Buffer::drop in another context", || drop(theirs));
    steps.attempt("Current::memory_info", || cx.memory_info());
}

/// A context that is destroyed with the last object made in it.
pub(super) fn shared(steps: &Steps, device: Device) {
    let create = || Context::create(device, ContextFlags::empty());
    let Some(context) = steps.attempt("Context::create", create) else { return };
    let context = context.share();
    let buffer = steps.attempt("Shared::enter", || {
        context.enter(|cx| {
            steps.expect(&context);
            let buffer = steps.attempt("Buffer::zeroed", || Buffer::<u8>::zeroed(cx, 16));
            steps.expect_nothing();
            Ok(buffer)
        })
    });
    let Some(Some(buffer)) = buffer else { return };
    steps.attempt("Shared::enter_as", || context.enter_as::<Error, _>(|_| Ok(())));
    steps.attempt("Shared::enter", || {
        context.enter(|cx| {
            drop(steps.attempt("Buffer::to_vec", || buffer.to_vec(cx)));
            Ok(())
        })
    });
    steps.attempt("Shared::enter", || {
        context.enter(|cx| {
            steps.expect(&context);
            requests::all(steps, cx);
            steps.expect_nothing();
            Ok(())
        })
    });
    if let Some(cx) = steps.attempt("Shared::attach", || context.attach()) {
        steps.expect(&context);
        steps.attempt("Current::memory_info", || cx.memory_info());
        steps.expect_nothing();
        // From the knowledge of the thread, without a call.
        steps.attempt("ContextRef::enter", || ContextRef::enter(&context, |_| Ok(())));
        steps.done("Attached::drop", || drop(cx));
    }
    steps.done("Shared<ContextRef>::drop", || drop(context));
    steps.done("Buffer::drop of the last share", || drop(buffer));
}

/// The device's primary context.
pub(super) fn primary(steps: &Steps, device: Device) {
    let state = steps.attempt("Device::primary_context_state", || device.primary_context_state());
    let flags = state.map(|(flags, _)| flags).unwrap_or_default();
    // Old drivers accept this only until the context is retained.
    let active = CUresult::CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE;
    steps.may_refuse("Device::set_primary_context_flags", active, || device.set_primary_context_flags(flags));
    if let Some(context) = steps.attempt("PrimaryContext::retain", || PrimaryContext::retain(device)) {
        let mut stack = ContextStack::take().expect("the stack was given back");
        if let Some(cx) = steps.attempt("ContextStack::push", || stack.push(&context)) {
            steps.expect(&context);
            let buffer = steps.attempt("Buffer::zeroed", || Buffer::<u8>::zeroed(&cx, 16));
            if let Some(buffer) = buffer {
                steps.attempt("Buffer::to_vec", || buffer.to_vec(&cx));
                steps.done("Buffer::drop", || drop(buffer));
            }
            steps.done("Current::drop", || drop(cx));
            steps.expect_nothing();
        }
        steps.attempt("PrimaryContext::close", || context.close());
    }
    let again = steps.attempt("PrimaryContext::retain", || PrimaryContext::retain(device));
    steps.done("PrimaryContext::drop", || drop(again));
    // SAFETY: nothing made in the primary context is left, and it is current nowhere.
    steps.attempt("Device::reset_primary_context", || unsafe { device.reset_primary_context() });
}
