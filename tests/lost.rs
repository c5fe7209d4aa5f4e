//! A fault of a kernel during copies to page-locked memory: the memory that they write is out of
//! the host's reach, for good.
//!
//! A program of its own, one test: the emulator runs work asynchronously here, and on hardware the
//! fault is the process's.

use cuprum_testing::{common, executors};
use std::sync::atomic::Ordering;
use std::time::Duration;

use common::{context, kernels, on_gpu};
use cuprum::memory::{PinnedFlags, RegisterFlags, Registered};
use cuprum::stream::{Event, EventFlags, Pending, PendingFuture, Reached, Request, Signals};
use cuprum::{
    Buffer, ContextRef, Current, In, LaunchConfig, MemoryError, Module, PinnedBuffer, Shared, Stream,
    swallowed,
};
use executors::block_on;

/// Bytes of a copy: several take longer than the fault.
const BYTES: usize = 64 << 20;

/// Memory of the host that the device may go on writing, by its address.
struct Watched(*mut u8);

impl Watched {
    /// Puts a mark into every page, to see which ones are written later.
    fn mark(&self) {
        // SAFETY: lost memory is never freed as long as its context is there; the device may write
        // a byte at the same time.
        (0..BYTES).step_by(4096).for_each(|at| unsafe { self.0.wrapping_add(at).write_volatile(2) });
    }

    /// Pages without a mark.
    fn written(&self) -> usize {
        let page = |&at: &usize| {
            // SAFETY: lost memory is never freed as long as its context is there; the device may
            // write the byte.
            let byte = unsafe { self.0.wrapping_add(at).read_volatile() };
            byte != 2
        };
        (0..BYTES).step_by(4096).filter(page).count()
    }
}

/// Queues a trap on a stream of its own, and waits until it is known.
fn trap(context: &Shared<ContextRef>, module: &Module<'_>, flag: &Buffer<'_, u32>) {
    let trapped = context.enter_as(|cx| {
        let trap = module.function("trap_if").unwrap().bind::<(In<u32>,)>().unwrap();
        let beside = Stream::non_blocking(cx).unwrap();
        // SAFETY: the kernel reads one element, and traps.
        unsafe { trap.launch(cx, &beside, LaunchConfig::new(1, 1), (flag,)) }.unwrap();
        beside.synchronize(cx)
    });
    assert!(trapped.unwrap_err().is_sticky());
}

type Slot = (PinnedBuffer<'static, u8>, Buffer<'static, u8>);

fn request(cx: &Current<'_, 'static>) -> Request<Slot> {
    let host = PinnedBuffer::zeroed(cx, BYTES, PinnedFlags::empty()).unwrap();
    let mut buffer = Buffer::alloc(cx, BYTES).unwrap();
    cx.fill(&mut buffer, 1).unwrap();
    Request::new(Event::new(cx, EventFlags::DISABLE_TIMING).unwrap(), (host, buffer))
}

/// Submits copies of the whole memory to the host.
fn submit(cx: &Current<'_, '_>, stream: &Stream<'_>, request: Request<Slot>, copies: usize) -> Pending<Slot> {
    let pending = request.submit(cx, stream, |scope, (host, buffer)| -> Result<(), MemoryError> {
        let (host, device) = (scope.lend(host)?, scope.lend(buffer.as_mut_slice())?);
        (0..copies).try_for_each(|_| scope.copy(&host, &device))
    });
    pending.unwrap()
}

#[test]
fn memory_that_the_device_may_still_write_is_out_of_reach() {
    cuprum_emulator::Settings::default().mode(cuprum_emulator::Mode::Async).install().expect("the first use");
    // A fault is known after 0.15 s on hardware, and at once in software.
    let copies = if on_gpu() { 200 } else { 4 };
    let context = context().share();
    context
        .enter(|cx| {
            faults_during_copies(cx, &context, copies);
            Ok(())
        })
        .unwrap();
    assert_eq!(swallowed::count(), 0, "all of it was told");
}

/// Futures of a lane on which work was queued before the fault end, and tell it. On a GPU the work
/// may have been done before the fault: the callback was called in time, and says so.
fn tell_the_fault(awaited: PendingFuture<Slot>, reached: Reached<'_>) {
    match block_on(awaited) {
        Ok(request) if on_gpu() => std::mem::forget(request),
        awaited => {
            let error = awaited.unwrap_err();
            assert!(error.error.is_sticky() && error.request.is_none(), "{error:?}");
        }
    }
    match block_on(reached) {
        Ok(()) => assert!(on_gpu()),
        Err(error) => assert!(error.is_sticky()),
    }
}

fn faults_during_copies(cx: &Current<'_, 'static>, context: &Shared<ContextRef>, copies: usize) {
    let module = kernels!(cx, "faults");
    let flag = Buffer::from_slice(cx, &[1u32]).unwrap();
    let (stream, lane) = (Stream::non_blocking(cx).unwrap(), Stream::non_blocking(cx).unwrap());
    let requests = [request(cx), request(cx), request(cx)];
    let mut pinned = PinnedBuffer::<u8>::zeroed(cx, BYTES, PinnedFlags::empty()).unwrap();
    let mut registered = Registered::new(cx, vec![0u8; BYTES], RegisterFlags::empty()).unwrap();
    let mut before = PinnedBuffer::<u8>::zeroed(cx, 64, PinnedFlags::empty()).unwrap();
    let [signals, idle] = [(); 2].map(|()| Signals::<u32>::new(cx, 1).unwrap());
    let read = PinnedBuffer::<u8>::from_slice(cx, &[3; 64], PinnedFlags::empty()).unwrap();
    let mut buffer = Buffer::<u8>::alloc(cx, BYTES).unwrap();
    cx.fill(&mut buffer, 1).unwrap();
    cx.synchronize().unwrap();
    let [one, two, three] = requests.each_ref().map(|request| request.0.as_raw());
    let watched = [pinned.as_raw(), registered.as_raw(), one, two, three].map(Watched);
    // A scope that is over before the fault leaves its memory as it is.
    cx.scope(&stream, |scope| {
        let device = scope.lend(buffer.slice_mut(..64).unwrap()).unwrap();
        scope.copy(&scope.lend(&mut before).unwrap(), &device).unwrap();
        scope.write_value(&scope.lend(&idle).unwrap(), 0, 1).unwrap();
        Ok(())
    })
    .unwrap();

    let [waited, awaited, dropped] = requests.map(|request| submit(cx, &lane, request, copies));
    let (awaited, reached) = (awaited.notify(cx, &lane).unwrap(), lane.reached(cx).unwrap());
    let ended = cx.scope(&stream, |scope| {
        let device = scope.lend(buffer.as_mut_slice()).unwrap();
        scope.copy(&device.slice(..64).unwrap(), &read).unwrap();
        let (pinned, registered) = (scope.lend(&mut pinned).unwrap(), scope.lend(&mut registered).unwrap());
        for _ in 0..copies {
            scope.copy(&pinned, &device).unwrap();
            scope.copy(&registered, &device).unwrap();
        }
        scope.write_value(&scope.lend(&signals).unwrap(), 0, 1).unwrap();
        trap(context, &module, &flag);
        Ok(())
    });
    assert!(ended.unwrap_err().is_sticky());

    assert!(waited.is_done().unwrap_err().is_sticky());
    let error = waited.wait().unwrap_err();
    assert!(error.error.is_sticky() && error.request.is_none(), "{error:?}");
    assert!(
        error.to_string().ends_with("(the request is leaked, since the device may still use its memory)")
    );
    tell_the_fault(awaited, reached);
    assert!(lane.reached(cx).unwrap_err().is_sticky());
    drop(dropped);
    watched.iter().for_each(Watched::mark);
    std::thread::sleep(Duration::from_millis(500));
    let written = watched.each_ref().map(Watched::written);
    // Otherwise this test proves nothing.
    assert!(written.iter().sum::<usize>() > 0 || on_gpu(), "the device has stopped its copies: {written:?}");

    are_lost(cx, &stream, pinned, registered);
    signals_are_lost(cx, &stream, signals, &idle);
    assert!(!before.is_lost() && !read.is_lost());
    assert_eq!((&before[..], &read[..]), (&[1; 64][..], &[3; 64][..]));
}

/// Owners that return nothing any more, cannot be lent, and free nothing.
fn are_lost(
    cx: &Current<'_, '_>,
    stream: &Stream<'_>,
    mut pinned: PinnedBuffer<'_, u8>,
    mut registered: Registered<'_, Vec<u8>>,
) {
    assert!(pinned.is_lost() && registered.is_lost());
    assert!(pinned.is_empty() && registered.is_empty() && pinned.first_mut().is_none());
    let lent_again = cx.scope(stream, |scope| {
        assert_eq!(scope.lend(&mut pinned).unwrap_err(), MemoryError::Lost);
        assert_eq!(scope.lend(&mut registered).unwrap_err(), MemoryError::Lost);
        Ok(())
    });
    assert!(lent_again.unwrap_err().is_sticky());
    assert_eq!(registered.unregister().unwrap_err(), MemoryError::Lost);
    pinned.close().expect("nothing is called");
}

/// Signals that the host still has, that cannot be lent, and that free nothing.
fn signals_are_lost(
    cx: &Current<'_, '_>,
    stream: &Stream<'_>,
    signals: Signals<'_, u32>,
    idle: &Signals<'_, u32>,
) {
    assert!(signals.is_lost() && !idle.is_lost());
    assert_eq!(idle[0].load(Ordering::Acquire), 1);
    signals[0].store(2, Ordering::Release);
    assert_eq!(signals[0].load(Ordering::Acquire), 2);
    let lent_again = cx.scope(stream, |scope| {
        assert_eq!(scope.lend(&signals).unwrap_err(), MemoryError::Lost);
        Ok(())
    });
    assert!(lent_again.unwrap_err().is_sticky());
    signals.close().expect("nothing is called");
}
