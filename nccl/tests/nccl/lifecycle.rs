//! Communicators: made, split, shrunk and ended.

use std::task::{Context, Poll, Wake};
use std::time::Duration;

use cuprum::context::ContextFlags;
use cuprum::{Buffer, Driver, Stream};
use cuprum_nccl::{Communicator, Config, NcclError, Reduction, RegisteredBuffer, Watch};

use crate::support::{Any, Failure, SOON, device, join, nccl, on_threads, one_group};

#[test]
fn splits_by_color_and_key() -> Result<(), Failure> {
    let all = on_threads(4, Config::default(), |member, cx| {
        let rank = member.rank();
        let color = (rank != 3).then_some((rank % 2) as u16);
        // The greater rank first.
        let part = member.split(color, 10 - rank, Config::default())?;
        let Some(part) = part else { return Ok((u32::MAX, 0, 0)) };
        let (stream, mut sum) = (Stream::new(cx)?, Buffer::from_slice(cx, &[rank + 1])?);
        cx.scope(&stream, |scope| {
            let sum = scope.lend(&mut sum)?;
            Ok(part.all_reduce(scope, &sum, &sum, Reduction::Sum)?)
        })?;
        Ok((part.rank(), part.size(), sum.to_vec(cx)?[0]))
    })?;
    assert_eq!(all, [(1, 2, 4), (0, 1, 2), (0, 2, 4), (u32::MAX, 0, 0)]);
    Ok(())
}

#[test]
fn shrinks_without_a_member() -> Result<(), Failure> {
    let all = on_threads(3, Config::default(), |member, cx| {
        let itself = member.shrink(&[member.rank()], false, Config::default());
        assert_eq!(itself.unwrap_err(), NcclError::NoMember { rank: member.rank(), size: 3 });
        if member.rank() == 1 {
            return Ok(None);
        }
        let rest = member.shrink(&[1, 1], false, Config::default())?;
        let (stream, mut sum) = (Stream::new(cx)?, Buffer::from_slice(cx, &[member.rank() + 1])?);
        cx.scope(&stream, |scope| {
            let sum = scope.lend(&mut sum)?;
            Ok(rest.all_reduce(scope, &sum, &sum, Reduction::Sum)?)
        })?;
        Ok(Some((rest.rank(), rest.size(), sum.to_vec(cx)?[0])))
    })?;
    assert_eq!(all, [Some((0, 2, 4)), None, Some((1, 2, 4))]);
    Ok(())
}

#[test]
fn works_without_blocking() -> Result<(), Failure> {
    let all = on_threads(3, Config::default().non_blocking(true), |member, cx| {
        let (stream, mut sum) = (Stream::new(cx)?, Buffer::from_slice(cx, &[1u64])?);
        for _ in 0..3 {
            cx.scope(&stream, |scope| {
                let sum = scope.lend(&mut sum)?;
                Ok(member.all_reduce(scope, &sum, &sum, Reduction::Sum)?)
            })?;
        }
        Ok(sum.to_vec(cx)?[0])
    })?;
    assert_eq!(all, [27; 3]);
    Ok(())
}

#[test]
fn refuses_calls_while_it_is_made() -> Result<(), Failure> {
    let _one = one_group();
    let nccl = nccl()?;
    device(0)?
        .enter_as::<Any, _>(|cx| {
            let config = Config::default().non_blocking(true);
            let member = Communicator::init_rank(nccl, cx, nccl.unique_id()?, 0, 2, config)?;
            let (stream, mut sum) = (Stream::new(cx)?, Buffer::from_slice(cx, &[1u64])?);
            cx.scope(&stream, |scope| {
                let sum = scope.lend(&mut sum)?;
                let refused = member.all_reduce(scope, &sum, &sum, Reduction::Sum);
                assert_eq!(refused, Err(NcclError::InProgress));
                Ok(())
            })?;
            member.check()?;
            Ok(member.abort("no second member comes")?)
        })
        .map_err(|error| error.0)
}

#[test]
fn needs_the_primary_context_of_its_own_device() -> Result<(), Failure> {
    let _one = one_group();
    let nccl = nccl()?;
    let own = cuprum::context::Context::create(
        Driver::init(cuprum_emulator::library())?.device(0)?,
        ContextFlags::empty(),
    )?;
    let refused = own.share().enter_as::<Any, _>(|cx| {
        Ok(Communicator::init_rank(nccl, cx, nccl.unique_id()?, 0, 1, Config::default()).map(drop))
    });
    assert_eq!(refused.map_err(|error| error.0)?, Err(NcclError::NotPrimary));

    // A stream of another device is refused.
    let (here, there) = (device(0)?, device(1)?);
    let member = here
        .enter_as::<Any, _>(|cx| join(nccl, cx, nccl.unique_id()?, (0, 1), Config::default()).map_err(Any));
    let member = member.map_err(|error| error.0)?;
    there.enter(|cx| {
        let (stream, mut sum) = (Stream::new(cx)?, Buffer::from_slice(cx, &[1u64])?);
        let refused = cx.scope(&stream, |scope| {
            let sum = scope.lend(&mut sum)?;
            Ok(member.all_reduce(scope, &sum, &sum, Reduction::Sum))
        })?;
        assert!(matches!(refused, Err(NcclError::Elsewhere(_))), "{refused:?}");
        assert!(matches!(RegisteredBuffer::new(&member, sum), Err(NcclError::Elsewhere(_))));
        Ok(())
    })?;
    Ok(())
}

#[test]
fn a_member_that_comes_twice_or_too_high_is_refused() -> Result<(), Failure> {
    let _one = one_group();
    let nccl = nccl()?;
    device(0)?
        .enter_as::<Any, _>(|cx| {
            let id = nccl.unique_id()?;
            let too_high = Communicator::init_rank(nccl, cx, id, 2, 2, Config::default());
            assert_eq!(too_high.unwrap_err(), NcclError::NoMember { rank: 2, size: 2 });
            let config = Config::default().non_blocking(true);
            let first = Communicator::init_rank(nccl, cx, id, 0, 2, config)?;
            // The same device, and so the same as the first.
            let second = Communicator::init_rank(nccl, cx, id, 1, 2, config)?;
            let refused = loop {
                let states = [first.wait(Duration::from_millis(10)), second.wait(Duration::from_millis(10))];
                let call = states.into_iter().find_map(|state| match state {
                    Err(NcclError::Call(call)) => Some(call),
                    _ => None,
                });
                if let Some(call) = call {
                    break call;
                }
            };
            assert!(refused.to_string().contains("one device per member"), "{refused}");
            first.abort("refused")?;
            Ok(second.abort("refused")?)
        })
        .map_err(|error| error.0)
}

#[test]
fn a_registration_outlives_nothing() -> Result<(), Failure> {
    on_threads(1, Config::default(), |member, cx| {
        let mut kept = RegisteredBuffer::new(member, Buffer::from_slice(cx, &[1.5f32; 8])?)?;
        let stream = Stream::new(cx)?;
        cx.scope(&stream, |scope| {
            let numbers = scope.lend(kept.as_mut_slice())?;
            Ok(member.all_reduce(scope, &numbers, &numbers, Reduction::Sum)?)
        })?;
        assert_eq!(kept.into_buffer()?.to_vec(cx)?, [1.5; 8]);
        // With the communicator, the registration has ended.
        let lost = RegisteredBuffer::new(member, Buffer::from_slice(cx, &[1u8; 8])?)?;
        let none = RegisteredBuffer::new(member, Buffer::<u8>::alloc(cx, 0)?);
        assert!(matches!(none, Err(NcclError::Call(_))), "no bytes: {none:?}");
        std::mem::forget(RegisteredBuffer::new(member, Buffer::from_slice(cx, &[1u8; 8])?)?);
        drop(lost);
        Ok(())
    })?;
    Ok(())
}

struct Bell(std::sync::mpsc::Sender<()>);

impl Wake for Bell {
    fn wake(self: std::sync::Arc<Self>) {
        let _ = self.0.send(());
    }
}

/// A member that ends without a word: the other one's scope waits until its watch aborts, and its
/// future is woken.
#[test]
fn a_watch_frees_a_scope_whose_peer_died() -> Result<(), Failure> {
    let _one = one_group();
    let nccl = nccl()?;
    let (id, (tell, told)) = (nccl.unique_id()?, std::sync::mpsc::channel::<()>());
    std::thread::scope(|threads| {
        let first = threads.spawn(move || -> Result<String, Failure> {
            device(0)?
                .enter_as::<Any, _>(|cx| {
                    let member = join(nccl, cx, id, (0, 2), Config::default()).map_err(Any)?;
                    let mut watch = Watch::start(&member, Duration::from_millis(1))?;
                    let (ring, rung) = std::sync::mpsc::channel();
                    let waker = std::sync::Arc::new(Bell(ring)).into();
                    let mut future = std::pin::pin!(&mut watch);
                    let mut poll = || future.as_mut().poll(&mut Context::from_waker(&waker));
                    assert!(poll().is_pending());
                    let (stream, mut sum) = (Stream::new(cx)?, Buffer::from_slice(cx, &[1u64])?);
                    cx.scope(&stream, |scope| {
                        let sum = scope.lend(&mut sum)?;
                        member.all_reduce(scope, &sum, &sum, Reduction::Sum)?;
                        drop(tell);
                        Ok(())
                    })?;
                    rung.recv_timeout(SOON)?;
                    let Poll::Ready(error) = poll() else { return Err("no error".into()) };
                    assert!(matches!(member.check(), Err(NcclError::Aborted { .. })));
                    Ok(error.to_string())
                })
                .map_err(|error| error.0)
        });
        let second = threads.spawn(move || -> Result<(), Failure> {
            device(1)?
                .enter_as::<Any, _>(|cx| {
                    let member = join(nccl, cx, id, (1, 2), Config::default()).map_err(Any)?;
                    // Not before the other one waits.
                    let _ = told.recv();
                    Ok(member.abort("a test")?)
                })
                .map_err(|error| error.0)
        });
        second.join().map_err(|_| "a panic")??;
        let error = first.join().map_err(|_| "a panic")??;
        assert!(error.contains("ncclRemoteError") && error.contains("another member failed"), "{error}");
        Ok(())
    })
}
