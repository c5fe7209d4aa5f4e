//! Steps that break other layers, on a device that does its work as late as it may.
//!
//! `tests/holes.md` lists the layer that each of them breaks. The emulator defers all work here
//! until a wait for it. Therefore a missing wait shows every time, but on a GPU only now and then.
//!
//! A program of its own: that the emulator works late, and on two devices, is set up for the
//! process.

mod contexts;

use cuprum_testing::{common, executors};
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use common::{context, device, kernels, on_gpu, raw_current};
use cuprum::context::{Context, ContextFlags, ContextStack, PrimaryContext};
use cuprum::graphics::{self, RegisteredBuffer};
use cuprum::memory::{PinnedFlags, RegisterFlags, Registered};
use cuprum::stream::{Event, EventFlags, Request};
use cuprum::sys::{CUcontext, CUpointer_attribute, CUresult, StreamMode, call};
use cuprum::{Buffer, Current, Device, Driver, In, InOut, LaunchConfig, MemoryError, PinnedBuffer, Stream};
use executors::block_on;

/// Sets up the device that works late, and lets one test at a time have it: one of them counts free
/// bytes.
fn alone() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    static SETUP: Once = Once::new();
    let guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    SETUP.call_once(|| {
        if !on_gpu() {
            let settings = cuprum_emulator::Settings::default().mode(cuprum_emulator::Mode::Deferred);
            settings.devices(2).install().expect("the first use");
        }
    });
    guard
}

fn in_context(test: impl FnOnce(&mut Current<'_, '_>)) {
    let _alone = alone();
    let context = context();
    let mut stack = ContextStack::take().unwrap();
    test(&mut stack.push(&context).unwrap());
}

/// Pinned host memory, which the driver copies without staging: a copy that does not wait shows.
struct Pinned {
    driver: Driver,
    at: *mut c_void,
}

impl Pinned {
    const LEN: usize = 1 << 20;

    fn new(cx: &Current<'_, '_>) -> Self {
        let driver = cx.context().driver();
        let mut at = std::ptr::null_mut();
        // SAFETY: a context is current, and the out-parameter outlives the call.
        let (code, _) = unsafe { call!(driver.library().fns(), cuMemHostAlloc(&raw mut at, Self::LEN, 0)) };
        assert_eq!(code, CUresult::CUDA_SUCCESS);
        // SAFETY: the allocation has so many bytes, and is ours alone.
        unsafe { at.cast::<u8>().write_bytes(0, Self::LEN) };
        Self { driver, at }
    }

    fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: the bytes were set when they were allocated, and live as long as this.
        unsafe { std::slice::from_raw_parts_mut(self.at.cast(), Self::LEN) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // SAFETY: allocated by `new`, and freed once.
        let (code, _) = unsafe { call!(self.driver.library().fns(), cuMemFreeHost(self.at)) };
        assert_eq!(code, CUresult::CUDA_SUCCESS);
    }
}

#[test]
fn a_copy_into_pinned_memory_has_arrived_when_it_returns() {
    in_context(|cx| {
        let mut pinned = Pinned::new(cx);
        let mut buffer = Buffer::<u8>::alloc(cx, Pinned::LEN).unwrap();
        cx.fill(&mut buffer, 3).unwrap();
        cx.copy(pinned.as_mut_slice(), &buffer).unwrap();
        assert!(pinned.as_mut_slice().iter().all(|&byte| byte == 3));
    });
}

#[test]
fn a_copy_from_pinned_memory_has_left_when_it_returns() {
    in_context(|cx| {
        let mut pinned = Pinned::new(cx);
        let mut buffer = Buffer::<u8>::alloc(cx, Pinned::LEN).unwrap();
        pinned.as_mut_slice().fill(5);
        cx.copy(&mut buffer, pinned.as_mut_slice()).unwrap();
        pinned.as_mut_slice().fill(6);
        assert_eq!(buffer.to_vec(cx).unwrap(), [5; Pinned::LEN]);
    });
}

#[test]
fn a_scope_waits_for_pinned_memory_too() {
    in_context(|cx| {
        let mut pinned = Pinned::new(cx);
        let mut buffer = Buffer::<u8>::zeroed(cx, Pinned::LEN).unwrap();
        cx.fill(&mut buffer, 7).unwrap();
        let stream = Stream::non_blocking(cx).unwrap();
        cx.scope(&stream, |scope| {
            scope.read(pinned.as_mut_slice(), &scope.lend(buffer.as_mut_slice()).unwrap()).unwrap();
            Ok(())
        })
        .unwrap();
        assert!(pinned.as_mut_slice().iter().all(|&byte| byte == 7));
    });
}

#[test]
fn copies_to_lent_host_memory_are_over_when_the_scope_is() {
    in_context(|cx| {
        let mut pinned = PinnedBuffer::<u8>::zeroed(cx, Pinned::LEN, PinnedFlags::empty()).unwrap();
        let mut registered = Registered::new(cx, vec![0u8; Pinned::LEN], RegisterFlags::empty()).unwrap();
        let mut buffer = Buffer::<u8>::zeroed(cx, Pinned::LEN).unwrap();
        for stream in [Stream::new(cx).unwrap(), Stream::non_blocking(cx).unwrap()] {
            let panics = std::panic::AssertUnwindSafe(|| {
                cx.scope_as(&stream, |scope| -> Result<(), MemoryError> {
                    let device = scope.lend(buffer.as_mut_slice())?;
                    scope.fill(&device, 9)?;
                    scope.copy(&scope.lend(&mut pinned)?, &device)?;
                    scope.copy(&scope.lend(&mut registered)?, &device)?;
                    std::panic::resume_unwind(Box::new(()))
                })
            });
            assert!(std::panic::catch_unwind(panics).is_err());
            assert!(pinned.iter().chain(registered.iter()).all(|&byte| byte == 9));
            pinned.fill(0);
            registered.fill(0);
        }
        let host: Vec<u8> = registered.unregister().unwrap();
        assert!(host.iter().all(|&byte| byte == 0), "it was written late");
    });
}

/// A request that fills device memory with `value` and copies it to the host.
fn request(
    cx: &Current<'_, 'static>,
    value: u8,
) -> cuprum::stream::Pending<(PinnedBuffer<'static, u8>, Buffer<'static, u8>)> {
    let host = PinnedBuffer::<u8>::zeroed(cx, Pinned::LEN, PinnedFlags::empty()).unwrap();
    let value_and_copy = |stream: &Stream<'_>| {
        let event = Event::new(cx, EventFlags::DISABLE_TIMING).unwrap();
        let request = Request::new(event, (host, Buffer::<u8>::alloc(cx, Pinned::LEN).unwrap()));
        request.submit(cx, stream, |scope, (host, buffer)| -> Result<(), MemoryError> {
            let device = scope.lend(buffer.as_mut_slice())?;
            scope.fill(&device, value)?;
            scope.copy(&scope.lend(host)?, &device)
        })
    };
    // The stream is dropped, and the work stays.
    value_and_copy(&Stream::non_blocking(cx).unwrap()).unwrap()
}

#[test]
fn what_comes_back_from_a_request_is_done() {
    let _alone = alone();
    let context = context().share();
    context
        .enter(|cx| {
            let (waited, dropped, forgotten) = (request(cx, 1), request(cx, 2), request(cx, 3));
            assert!(!waited.is_done().unwrap() || on_gpu(), "a device that works at once proves nothing");
            assert!(waited.wait().unwrap().0.iter().all(|&byte| byte == 1));
            // The next allocation may get the addresses of these two.
            drop(dropped);
            std::mem::forget(forgotten);
            let next = PinnedBuffer::<u8>::zeroed(cx, Pinned::LEN, PinnedFlags::empty()).unwrap();
            let device = Buffer::<u8>::zeroed(cx, Pinned::LEN).unwrap();
            cx.synchronize().unwrap();
            assert!(next.iter().chain(&device.to_vec(cx).unwrap()).all(|&byte| byte == 0));
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_future_is_woken_without_a_wait() {
    let _alone = alone();
    let context = context().share();
    context
        .enter(|cx| {
            let lane = Stream::new(cx).unwrap();
            let pending = request(cx, 4).notify(cx, &lane).unwrap();
            assert!(block_on(pending).unwrap().0.iter().all(|&byte| byte == 4));
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_source_that_is_freed_at_once_was_copied() {
    in_context(|cx| {
        let mut to = Buffer::<u32>::zeroed(cx, 1 << 16).unwrap();
        for round in 1..8 {
            let mut from = Buffer::<u32>::alloc(cx, 1 << 16).unwrap();
            cx.fill(&mut from, round).unwrap();
            cx.copy(&mut to, &from).unwrap();
            drop(from);
            // Reuses the freed memory, if it is handed out again before the copy has read it.
            let mut next = Buffer::<u32>::alloc(cx, 1 << 16).unwrap();
            cx.fill(&mut next, 99).unwrap();
            assert_eq!(to.to_vec(cx).unwrap(), vec![round; 1 << 16]);
        }
    });
}

#[test]
fn dropping_a_stream_loses_no_work_of_it() {
    in_context(|cx| {
        let module = kernels!(cx, "saxpy");
        let saxpy = module.function("saxpy").unwrap().bind::<(u32, f32, In<f32>, InOut<f32>)>().unwrap();
        let x = Buffer::from_slice(cx, &[1f32; 1000]).unwrap();
        let mut y = Buffer::from_slice(cx, &[2f32; 1000]).unwrap();
        let stream = Stream::new(cx).unwrap();
        let config = LaunchConfig::for_elements(1000, 256);
        // SAFETY: saxpy touches 1000 elements of each; the copy below is ordered after it, as the
        // stream is a blocking one.
        unsafe { saxpy.launch(cx, &stream, config, (1000, 3.0, &x, &mut y)) }.unwrap();
        drop(stream);
        assert_eq!(y.to_vec(cx).unwrap(), [5.0; 1000]);
    });
}

#[test]
fn memory_lies_in_the_context_of_the_token_whatever_was_current_before() {
    let _alone = alone();
    let (first, second) = (context(), context());
    let mut stack = ContextStack::take().unwrap();
    let mut outer = stack.push(&first).unwrap();
    let elsewhere = Buffer::<u8>::alloc(&outer.push(&second).unwrap(), 64).unwrap();
    let here = Buffer::<u8>::alloc(&outer, 64).unwrap();
    for (buffer, owner) in [(&elsewhere, &second), (&here, &first)] {
        let mut raw = CUcontext::null();
        let attribute = CUpointer_attribute::CU_POINTER_ATTRIBUTE_CONTEXT;
        let to = (&raw mut raw).cast();
        // SAFETY: the attribute is a context, for which there is room.
        let (code, _) = unsafe {
            call!(first.driver().library().fns(), cuPointerGetAttribute(to, attribute, buffer.as_raw()))
        };
        assert_eq!((code, raw), (CUresult::CUDA_SUCCESS, owner.as_raw()));
    }
}

#[test]
fn a_drop_beside_another_device_frees_where_the_memory_is() {
    let _alone = alone();
    // The emulator has two devices here; on a machine with one GPU, both contexts are on it.
    let devices = common::driver().devices().unwrap();
    let create = |device: &Device| Context::create(*device, ContextFlags::empty()).unwrap();
    let (first, second) = (create(&devices[0]), create(devices.last().unwrap()));
    let mut stack = ContextStack::take().unwrap();
    let bytes = 64 << 20;
    let free = |stack: &mut ContextStack, context: &Context| {
        stack.push(context).unwrap().memory_info().unwrap().free
    };
    let before = [free(&mut stack, &first), free(&mut stack, &second)];
    let buffer = Buffer::<u8>::zeroed(&stack.push(&first).unwrap(), bytes).unwrap();
    let swallowed = cuprum::swallowed::count();
    let cx = stack.push(&second).unwrap();
    drop(buffer);
    assert_eq!(raw_current(), second.as_raw());
    drop(cx);
    assert_eq!([free(&mut stack, &first), free(&mut stack, &second)], before);
    assert_eq!(cuprum::swallowed::count(), swallowed);
}

#[test]
fn a_forgotten_token_of_a_released_primary_context_harms_nobody() {
    let _alone = alone();
    let ours = context();
    let mut stack = ContextStack::take().unwrap();
    let primary = PrimaryContext::retain(device()).unwrap();
    std::mem::forget(stack.push(&primary).unwrap());
    drop(primary);
    let again = PrimaryContext::retain(device()).unwrap();
    {
        let cx = stack.push(&again).unwrap();
        assert_eq!(raw_current(), again.as_raw());
        let buffer = Buffer::from_slice(&cx, &[1u8, 2]).unwrap();
        assert_eq!(buffer.to_vec(&cx).unwrap(), [1, 2]);
    }
    let cx = stack.push(&ours).unwrap();
    assert_eq!(raw_current(), ours.as_raw());
    let buffer = Buffer::from_slice(&cx, &[3u8]).unwrap();
    drop(again);
    assert_eq!(buffer.to_vec(&cx).unwrap(), [3]);
    drop((buffer, cx));
    assert_eq!(raw_current(), CUcontext::null());
}

/// Bytes at the end of the filled memory, which the test checks.
const LAST: usize = 1 << 20;

/// Bytes to fill: a GPU takes some milliseconds for them, the emulator defers them anyhow.
fn filled_bytes() -> usize {
    if on_gpu() { 8 << 30 } else { 2 << 20 }
}

/// A copy on a stream of its own that follows a fill within the same scope. An H100 with driver
/// 580.159 copies zeros.
#[test]
fn a_fill_within_a_scope_is_seen_by_the_copy_after_it() {
    in_context(|cx| {
        let stream = Stream::non_blocking(cx).unwrap();
        let mut buffer = Buffer::<u8>::zeroed(cx, filled_bytes()).unwrap();
        let mut host = vec![0u8; LAST];
        let mut slice = buffer.as_mut_slice();
        cx.scope(&stream, |scope| {
            cx.fill(&mut slice, 9).unwrap();
            let last = slice.into_slice(filled_bytes() - LAST..).unwrap();
            scope.read(&mut host, &scope.lend(last).unwrap()).unwrap();
            Ok(())
        })
        .unwrap();
        assert!(host.iter().all(|&byte| byte == 9), "the copy did not wait for the fill");
    });
}

/// A copy of memory that another thread has filled, when each thread has its own default stream. An
/// H100 with driver 580.159 copies zeros, whether or not the other thread has ended.
#[test]
fn what_one_thread_fills_another_reads() {
    let _alone = alone();
    let library = if on_gpu() {
        cuprum::sys::Library::options().per_thread_default_stream(true).open().expect("the driver")
    } else {
        cuprum_emulator::library_in(StreamMode::PerThread)
    };
    let device = Driver::init(library).unwrap().device(0).unwrap();
    let context = Context::create(device, ContextFlags::empty()).unwrap();
    let filled = std::thread::scope(|threads| {
        let filling = threads.spawn(|| {
            let mut stack = ContextStack::take().unwrap();
            let cx = stack.push(&context).unwrap();
            let mut buffer = Buffer::<u8>::zeroed(&cx, filled_bytes()).unwrap();
            cx.fill(&mut buffer, 9).unwrap();
            buffer
        });
        filling.join().unwrap()
    });
    let mut stack = ContextStack::take().unwrap();
    let last = filled.slice(filled_bytes() - LAST..).unwrap();
    let host = last.to_vec(&stack.push(&context).unwrap()).unwrap();
    assert!(host.iter().all(|&byte| byte == 9), "the copy did not wait for the other thread's fill");
}

/// The stream of the mapping is not in order with the default stream, on which the slices of the
/// mapping are filled and copied. Only the software device has a stand-in for OpenGL, and so this
/// is its own.
#[test]
fn what_was_filled_while_it_was_mapped_is_there_when_opengl_gets_it_back() {
    let _alone = alone();
    let device = Driver::init(cuprum_emulator::library()).unwrap().device(0).unwrap();
    let context = Context::create(device, ContextFlags::empty()).unwrap();
    let gl = cuprum_emulator::opengl::StandIn::make_current();
    let name = gl.buffer(&[0; 4096]);
    let mut stack = ContextStack::take().unwrap();
    let cx = stack.push(&context).unwrap();
    // SAFETY: a stand-in for OpenGL keeps its buffers, and does nothing meanwhile.
    let mut buffer = unsafe { RegisteredBuffer::new(&cx, name, graphics::RegisterFlags::empty()) }.unwrap();
    let (blocking, apart) = (Stream::new(&cx).unwrap(), Stream::non_blocking(&cx).unwrap());
    for (value, stream) in (1..).zip([&Stream::default_in(&cx), &blocking, &apart]) {
        let mut mapped = graphics::map(&cx, stream, &mut buffer).unwrap();
        cx.fill(&mut mapped.views().as_mut_slice::<u8>(&cx).unwrap(), value).unwrap();
        mapped.unmap(&cx).unwrap();
        assert_eq!(gl.read_buffer(name).unwrap(), [value; 4096], "{stream:?}");
        let mut dropped = graphics::map(&cx, stream, &mut buffer).unwrap();
        cx.fill(&mut dropped.views().as_mut_slice::<u8>(&cx).unwrap(), 10 * value).unwrap();
        drop(dropped);
        assert_eq!(gl.read_buffer(name).unwrap(), [10 * value; 4096], "{stream:?}");
        let mut forgotten = graphics::map(&cx, stream, &mut buffer).unwrap();
        cx.fill(&mut forgotten.views().as_mut_slice::<u8>(&cx).unwrap(), 20 * value).unwrap();
        std::mem::forget(forgotten);
        let mut again = graphics::map(&cx, stream, &mut buffer).unwrap();
        assert_eq!(again.views().as_slice::<u8>(&cx).unwrap().to_vec(&cx).unwrap(), [20 * value; 4096]);
    }
}
