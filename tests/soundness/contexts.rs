//! Memory of one context and work of another.

use cuprum::context::{Context, ContextFlags, ContextStack};
use cuprum::memory::{Array, ArrayFlags, ArrayShape, ManagedBuffer, Peer, Pitched, PitchedMut};
use cuprum::{Buffer, Current, Device, Stream};

use crate::common::{self, device};
use crate::{alone, in_context};

/// Contexts on two devices, and on one where there is but one.
fn two() -> (Context, Context) {
    let devices = common::driver().devices().unwrap();
    let create = |device: &Device| Context::create(*device, ContextFlags::empty()).unwrap();
    (create(&devices[0]), create(devices.last().unwrap()))
}

/// Work on the default stream of the other context completes first: work that it had queued, such
/// as a fill, and memory in the order of that stream that may still have another user.
#[test]
fn a_copy_from_another_context_sees_the_work_done_there() {
    in_context(|cx| {
        let other = Context::create(device(), ContextFlags::empty()).unwrap();
        let (stream, mut mine) = (Stream::new(cx).unwrap(), Buffer::<u32>::zeroed(cx, 4).unwrap());
        let mut theirs = Buffer::from_slice(&cx.push(&other).unwrap(), &[1u32; 4]).unwrap();
        let fill = |cx: &mut Current<'_, '_>, theirs: &mut Buffer<'_, u32>, value| {
            cx.push(&other).unwrap().fill(theirs, value).unwrap();
        };
        fill(cx, &mut theirs, 2);
        cx.scope(&stream, |scope| {
            Ok(scope.copy(&scope.lend(mine.as_mut_slice())?, &scope.lend(Peer(theirs.as_slice()))?)?)
        })
        .unwrap();
        assert_eq!(mine.to_vec(cx).unwrap(), [2; 4]);
        fill(cx, &mut theirs, 3);
        cx.scope(&stream, |scope| {
            Ok(scope.copy(&scope.lend(Peer(theirs.as_mut_slice()))?, &scope.lend(mine.as_slice())?)?)
        })
        .unwrap();
        assert_eq!(theirs.to_vec(&cx.push(&other).unwrap()).unwrap(), [2; 4]);
        fill(cx, &mut theirs, 4);
        let rows = PitchedMut::over(mine.as_mut_slice(), (2, 2)).unwrap();
        let source = Pitched::over(theirs.as_slice(), (2, 2)).unwrap();
        cx.scope(&stream, |scope| Ok(scope.copy(&scope.lend(rows)?, &scope.lend(Peer(source))?)?)).unwrap();
        assert_eq!(mine.to_vec(cx).unwrap(), [4; 4]);
    });
}

/// The driver frees memory when the work of its own context is done, and a copy between two devices
/// is work of one of them: the copy has to be waited for before either side can be freed (two H200s
/// answer 719 otherwise).
#[test]
fn a_source_in_another_context_that_is_freed_at_once_was_copied() {
    const SIDE: usize = 64;
    let _alone = alone();
    let (here, there) = two();
    let mut stack = ContextStack::take().unwrap();
    let mut cx = stack.push(&here).unwrap();
    let mut to = Buffer::<u32>::zeroed(&cx, SIDE * SIDE).unwrap();
    let takes_its_place = |cx: &mut Current<'_, '_>| {
        let above = cx.push(&there).unwrap();
        let mut next = Buffer::<u32>::alloc(&above, SIDE * SIDE).unwrap();
        above.fill(&mut next, 99).unwrap();
        above.synchronize().unwrap();
    };
    for round in 1..4 {
        let values = vec![round; SIDE * SIDE];
        let from = Buffer::from_slice(&cx.push(&there).unwrap(), &values).unwrap();
        cx.copy(&mut to, &Peer(&from)).unwrap();
        drop(from);
        takes_its_place(&mut cx);
        assert_eq!(to.to_vec(&cx).unwrap(), values);

        let values = vec![10 * round; SIDE * SIDE];
        let from = Buffer::from_slice(&cx.push(&there).unwrap(), &values).unwrap();
        let rows = Pitched::over(from.as_slice(), (SIDE, SIDE)).unwrap();
        cx.copy(&mut PitchedMut::over(to.as_mut_slice(), (SIDE, SIDE)).unwrap(), &Peer(&rows)).unwrap();
        from.close().unwrap();
        takes_its_place(&mut cx);
        assert_eq!(to.to_vec(&cx).unwrap(), values);

        let values = vec![100 * round; SIDE * SIDE];
        let shape = ArrayShape::TwoD { width: SIDE, height: SIDE };
        let above = cx.push(&there).unwrap();
        let array = Array::from_slice(&above, shape, ArrayFlags::empty(), &values).unwrap();
        drop(above);
        let mut rows = PitchedMut::over(to.as_mut_slice(), (SIDE, SIDE)).unwrap();
        cx.copy(&mut rows, &Peer(&array)).unwrap();
        drop(array);
        takes_its_place(&mut cx);
        assert_eq!(to.to_vec(&cx).unwrap(), values);

        let from = Buffer::from_slice(&cx.push(&there).unwrap(), &values).unwrap();
        let mut target = Buffer::<u32>::alloc(&cx, SIDE * SIDE).unwrap();
        cx.copy(&mut target, &Peer(&from)).unwrap();
        target.close().unwrap();
        cx.synchronize().unwrap();
        assert_eq!(from.to_vec(&cx.push(&there).unwrap()).unwrap(), values);
    }
}

/// The host waits for the context of managed memory, when it takes it, and copies of another
/// context are over by then.
#[test]
fn the_host_gets_managed_memory_when_copies_of_other_contexts_are_over() {
    const LEN: usize = 4096;
    let _alone = alone();
    let (here, there) = two();
    let mut stack = ContextStack::take().unwrap();
    let mut cx = stack.push(&here).unwrap();
    let (stream, mut mine) = (Stream::non_blocking(&cx).unwrap(), Buffer::<u32>::zeroed(&cx, LEN).unwrap());
    let mut shared = ManagedBuffer::<u32>::zeroed(&cx.push(&there).unwrap(), LEN).unwrap();
    for value in 1..4 {
        shared.on_host(&cx.push(&there).unwrap(), |host| host.fill(value)).unwrap();
        cx.copy(&mut mine, &Peer(&shared)).unwrap();
        shared.on_host(&cx.push(&there).unwrap(), |host| host.fill(99)).unwrap();
        assert_eq!(mine.to_vec(&cx).unwrap(), [value; LEN], "the host wrote under the copy");

        let mut rows = PitchedMut::over(mine.as_mut_slice(), (LEN / 2, 2)).unwrap();
        cx.copy(&mut rows, &Peer(&Pitched::over(shared.as_slice(), (LEN / 2, 2)).unwrap())).unwrap();
        shared.on_host(&cx.push(&there).unwrap(), |host| host.fill(0)).unwrap();
        assert_eq!(mine.to_vec(&cx).unwrap(), [99; LEN], "the host wrote under the copy");

        cx.fill(&mut mine, value).unwrap();
        cx.scope(&stream, |scope| {
            let to = scope.lend(Peer(shared.as_mut_slice()))?;
            Ok(scope.copy(&to, &scope.lend(mine.as_slice())?)?)
        })
        .unwrap();
        let seen = shared.on_host(&cx.push(&there).unwrap(), |host| host.to_vec()).unwrap();
        assert_eq!(seen, [value; LEN], "the host looked before the copy was over");
    }
}
