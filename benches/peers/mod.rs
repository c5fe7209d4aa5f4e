//! Copies between two devices; between two contexts of one where there are no two.

use cuprum::context::{Context, ContextFlags};
use cuprum::memory::Peer;
use cuprum::{Buffer, ContextRef, Current, Driver, Stream};

use crate::{Answer, COPIED_BYTES, Measurement, operation};

/// Measures in contexts of its own. With access if the devices have it, as a program would.
pub(crate) fn measure(measurement: &mut Measurement<'_>, driver: Driver, cx: &mut Current<'_, '_>) {
    let last = driver.devices().expect("a list").len().min(2) as u32 - 1;
    let [first, last] = [0, last].map(|ordinal| driver.device(ordinal).expect("a device"));
    let [here, there] =
        [first, last].map(|device| Context::create(device, ContextFlags::empty()).expect("a context"));
    let mut cx = cx.push(&here).expect("a push");
    let theirs = {
        let cx = cx.push(&there).expect("a push");
        Buffer::<u8>::zeroed(&cx, COPIED_BYTES).expect("a buffer")
    };
    let reachable = first != last && first.can_access_peer(last).expect("an answer");
    let _access = reachable.then(|| cx.enable_peer_access(&there).expect("access"));
    let names = match (first == last, reachable) {
        (true, _) => ["copy 4 KiB between contexts", "copy 4 KiB between contexts, queued"],
        (_, false) => ["peer copy 4 KiB, no access", "peer copy 4 KiB, no access, queued"],
        (_, true) => ["peer copy 4 KiB", "peer copy 4 KiB, queued"],
    };
    copies(measurement, driver, &cx, (&there, &theirs), names);
}

// SAFETY of the raw calls: as in `wrappers.rs`; the other context is live.
fn copies(
    measurement: &mut Measurement<'_>,
    driver: Driver,
    cx: &Current<'_, '_>,
    (there, theirs): (&ContextRef, &Buffer<'_, u8>),
    [copy, queued]: [&'static str; 2],
) {
    let stream = Stream::new(cx).expect("a stream");
    let mut mine = Buffer::<u8>::zeroed(cx, COPIED_BYTES).expect("a buffer");
    let (to, here, from, there) = (mine.as_raw(), cx.context().as_raw(), theirs.as_raw(), there.as_raw());
    let (raw_stream, settle) = (stream.as_raw(), || cx.synchronize().must_succeed());
    operation! {
        measurement, copy, driver, settle,
        raw [cuMemcpyPeer] { unsafe { cuMemcpyPeer(to, here, from, there, COPIED_BYTES) } }
        wrapper { cx.copy(&mut mine, &Peer(&theirs)) }
    }
    let measured = cx.scope(&stream, |scope| {
        let lent = scope.lend(mine.as_mut_slice()).expect("a loan");
        let lent_from = scope.lend(Peer(theirs.as_slice())).expect("a loan");
        operation! {
            measurement, queued, driver, settle,
            raw [cuMemcpyPeerAsync] {
                unsafe { cuMemcpyPeerAsync(to, here, from, there, COPIED_BYTES, raw_stream) }
            }
            wrapper { scope.copy(&lent, &lent_from) }
        };
        Ok(())
    });
    measured.expect("a wait");
}
