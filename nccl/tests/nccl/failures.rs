//! Calls of NCCL that fail, panics, and other programs that go wrong.

use std::panic::{AssertUnwindSafe, catch_unwind};

use cuprum::{Buffer, Current, LaunchConfig, Module, Stream};
use cuprum_nccl::raw::{FnId, ncclResult_t};
use cuprum_nccl::{Communicator, Config, Nccl, NcclError, Reduction, RegisteredBuffer};
use cuprum_nccl_stand_in::fail_next;

use crate::support::{Any, Failure, device, join, nccl};

fn alone<R>(
    body: impl FnOnce(Communicator, &mut Current<'_, 'static>) -> Result<R, Any>,
) -> Result<R, Failure> {
    let nccl = nccl()?;
    let entered = device(0)?.enter_as::<Any, _>(|cx| {
        let member = join(nccl, cx, nccl.unique_id()?, (0, 1), Config::default()).map_err(Any)?;
        body(member, cx)
    });
    entered.map_err(|error| error.0)
}

/// A call that uses one function.
type Call = fn(&Communicator, &Current<'_, 'static>) -> Result<(), NcclError>;

/// One call after the other, each of which uses one function of NCCL.
fn calls() -> Vec<(&'static str, Call)> {
    fn collective(
        member: &Communicator,
        cx: &Current<'_, 'static>,
        call: impl for<'s> FnOnce(
            &'s Communicator,
            &cuprum::stream::Scope<'s, '_>,
            &cuprum::stream::Lent<'s, cuprum::memory::SliceMut<'_, f32>>,
        ) -> Result<(), NcclError>,
    ) -> Result<(), NcclError> {
        let stream = Stream::new(cx)?;
        let mut buffer = Buffer::<f32>::zeroed(cx, 4)?;
        let mut result = Ok(());
        cx.scope_as::<NcclError, _>(&stream, |scope| {
            let lent = scope.lend(&mut buffer)?;
            result = call(member, scope, &lent);
            Ok(())
        })?;
        result
    }
    vec![
        ("ncclAllReduce", |m, cx| collective(m, cx, |m, s, b| m.all_reduce(s, b, b, Reduction::Sum))),
        ("ncclReduce", |m, cx| collective(m, cx, |m, s, b| m.reduce(s, b, b, Reduction::Sum, 0))),
        ("ncclBroadcast", |m, cx| collective(m, cx, |m, s, b| m.broadcast(s, b, b, 0))),
        ("ncclAllGather", |m, cx| collective(m, cx, |m, s, b| m.all_gather(s, b, b))),
        ("ncclReduceScatter", |m, cx| collective(m, cx, |m, s, b| m.reduce_scatter(s, b, b, Reduction::Sum))),
        ("ncclGroupStart", |m, cx| collective(m, cx, |m, s, b| m.all_to_all(s, b, b))),
        ("ncclSend", |m, cx| collective(m, cx, |m, s, b| m.all_to_all(s, b, b))),
        ("ncclRecv", |m, cx| collective(m, cx, |m, s, b| m.all_to_all(s, b, b))),
        ("ncclRedOpCreatePreMulSum", |m, _| m.premultiplied_sum(2.0f32).map(drop)),
        ("ncclCommSplit", |m, _| m.split(Some(0), 0, Config::default()).map(drop)),
        ("ncclCommShrink", |m, _| m.shrink(&[], false, Config::default()).map(drop)),
        ("ncclCommGetAsyncError", |m, _| m.check()),
        ("ncclGetUniqueId", |m, _| m.nccl().unique_id().map(drop)),
        ("ncclCommInitRankConfig", |m, cx| {
            Communicator::init_rank(m.nccl(), cx, m.nccl().unique_id()?, 0, 1, Config::default()).map(drop)
        }),
        ("ncclCommInitAll", |m, _| {
            Communicator::init_all(m.nccl(), &[device(0).expect("a device")]).map(drop)
        }),
        ("ncclCommUserRank", |m, _| m.split(Some(0), 0, Config::default()).map(drop)),
        ("ncclCommCount", |m, _| m.split(Some(0), 0, Config::default()).map(drop)),
        ("ncclCommRegister", |m, cx| RegisteredBuffer::new(m, Buffer::<u8>::zeroed(cx, 4)?).map(drop)),
    ]
}

/// Each function fails in turn; the error names it, and afterwards the communicator works.
#[test]
fn each_call_that_fails_is_named_and_leaves_a_working_member() -> Result<(), Failure> {
    alone(|member, cx| {
        for (function, call) in calls() {
            fail_next(function, ncclResult_t::ncclInternalError.0);
            let error = call(&member, cx).err().ok_or(format!("{function} did not fail"))?;
            let NcclError::Call(error) = error else { return Err(format!("{function}: {error}").into()) };
            assert_eq!((error.call.name(), error.code), (function, ncclResult_t::ncclInternalError));
            assert!(error.detail.contains("was told to fail"), "{error}");
            call(&member, cx).map_err(|error| format!("{function} afterwards: {error}"))?;
        }
        Ok(member.finalize()?)
    })
}

/// A failing end is not reported by a drop, and nothing hangs.
#[test]
fn failing_ends_are_reported_by_the_method_and_not_by_the_drop() -> Result<(), Failure> {
    for function in ["ncclCommFinalize", "ncclCommDestroy", "ncclCommGetAsyncError", "ncclRedOpDestroy"] {
        alone(|member, _| {
            let sum = member.premultiplied_sum(1u8)?;
            fail_next(function, ncclResult_t::ncclSystemError.0);
            drop(sum);
            if function == "ncclCommFinalize" {
                let error = member.finalize().unwrap_err();
                assert!(error.to_string().starts_with("ncclCommFinalize: ncclSystemError (2)"), "{error}");
            } else {
                drop(member);
            }
            // If nothing has asked for it.
            fail_next("", 0);
            Ok(())
        })?;
    }
    alone(|member, cx| {
        let kept = RegisteredBuffer::new(&member, Buffer::<u8>::zeroed(cx, 4)?)?;
        fail_next("ncclCommDeregister", ncclResult_t::ncclSystemError.0);
        assert!(matches!(kept.into_buffer(), Err(NcclError::Call(_))));
        fail_next("ncclCommAbort", ncclResult_t::ncclSystemError.0);
        assert!(matches!(member.abort("a test"), Err(NcclError::Call(_))));
        // It has ended all the same.
        assert!(matches!(member.check(), Err(NcclError::Aborted { .. })));
        Ok(member.abort("again")?)
    })
}

/// A closure that panics or fails leaves no group open: the next collective is made at once.
#[test]
fn a_group_that_panics_has_called_nothing() -> Result<(), Failure> {
    alone(|member, cx| {
        let (stream, mut numbers) = (Stream::new(cx)?, Buffer::from_slice(cx, &[7u32; 4])?);
        cx.scope(&stream, |scope| {
            let numbers = scope.lend(&mut numbers)?;
            let nccl = member.nccl();
            let panics = catch_unwind(AssertUnwindSafe(|| {
                nccl.group(|group| -> Result<(), NcclError> {
                    // Alone, this would wait for a receive forever.
                    member.send(&group.on(scope), &numbers, 0)?;
                    panic!("in a group");
                })
            }));
            assert!(panics.is_err());
            let fails: Result<(), _> = nccl.group(|group| {
                member.send(&group.on(scope), &numbers, 0)?;
                Err(NcclError::InProgress)
            });
            assert_eq!(fails, Err(NcclError::InProgress));
            Ok(member.all_reduce(scope, &numbers, &numbers, Reduction::Sum)?)
        })?;
        assert_eq!(numbers.to_vec(cx)?, [7; 4]);
        Ok(())
    })
}

/// A second library has groups of its own.
#[test]
fn a_group_is_of_one_library() -> Result<(), Failure> {
    alone(|member, cx| {
        let address = cuprum_nccl_stand_in::functions(cuprum_emulator::library());
        let part = |function: FnId| {
            if function == FnId::ncclCommShrink { std::ptr::null() } else { address(function.name()) }
        };
        // SAFETY: the addresses belong to the stand-in.
        let other = unsafe { Nccl::from_resolver("a part", part) }?;
        let (stream, mut numbers) = (Stream::new(cx)?, Buffer::from_slice(cx, &[7u32; 4])?);
        cx.scope(&stream, |scope| {
            let numbers = scope.lend(&mut numbers)?;
            let refused =
                other.group(|group| member.all_reduce(&group.on(scope), &numbers, &numbers, Reduction::Sum));
            assert!(matches!(refused, Err(NcclError::Elsewhere(_))), "{refused:?}");
            Ok(())
        })?;
        Ok(member.finalize()?)
    })
}

#[test]
fn a_group_whose_end_fails_says_so() -> Result<(), Failure> {
    alone(|member, cx| {
        let (stream, mut numbers) = (Stream::new(cx)?, Buffer::from_slice(cx, &[7u32; 4])?);
        cx.scope(&stream, |scope| {
            let numbers = scope.lend(&mut numbers)?;
            fail_next("ncclGroupEnd", ncclResult_t::ncclUnhandledCudaError.0);
            let failed = member
                .nccl()
                .group(|group| member.all_reduce(&group.on(scope), &numbers, &numbers, Reduction::Sum));
            assert!(matches!(failed, Err(NcclError::Call(error)) if error.call.name() == "ncclGroupEnd"));
            Ok(())
        })?;
        Ok(member.finalize()?)
    })
}

#[test]
fn members_that_call_different_things_get_an_error() -> Result<(), Failure> {
    use crate::support::on_threads;
    let all = on_threads(2, Config::default(), |member, cx| {
        let watch = cuprum_nccl::Watch::start(member, std::time::Duration::from_millis(1))?;
        let (stream, mut numbers) = (Stream::new(cx)?, Buffer::from_slice(cx, &[7u32; 4])?);
        cx.scope(&stream, |scope| {
            let numbers = scope.lend(&mut numbers)?;
            let by = if member.rank() == 0 { Reduction::Sum } else { Reduction::Max };
            Ok(member.all_reduce(scope, &numbers, &numbers, by)?)
        })?;
        assert!(member.check().is_err());
        drop(watch);
        Err::<(), _>("as it should".into())
    });
    assert_eq!(all.map_err(|error| error.to_string()), Err("as it should".into()));
    Ok(())
}

/// After a fault the context is lost, and the member is aborted when it is dropped.
#[test]
fn a_dead_context_leaves_nothing_hanging() -> Result<(), Failure> {
    let child = crate::support::rerun("failures::child_with_a_dead_context", &[])?;
    let output = child.wait_with_output()?;
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("ended well"), "{text}");
    Ok(())
}

#[test]
#[ignore = "started by another test"]
fn child_with_a_dead_context() -> Result<(), Failure> {
    if !crate::support::is_child() {
        return Ok(());
    }
    let ended = alone(|member, cx| {
        let ptx = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../kernels/faults.ptx"))?;
        let module = Module::load_ptx(cx, &ptx)?;
        let kernel = module.function("null_write")?.bind::<()>()?;
        let (stream, mut numbers) = (Stream::new(cx)?, Buffer::from_slice(cx, &[7u32; 4])?);
        let failed = cx.scope(&stream, |scope| {
            let numbers = scope.lend(&mut numbers)?;
            // SAFETY: it writes where there is no memory, on purpose and in a process of its own.
            unsafe { kernel.launch(cx, &stream, LaunchConfig::new(1, 1), ()) }?;
            member.all_reduce(scope, &numbers, &numbers, Reduction::Sum)?;
            Ok(())
        });
        assert!(failed.is_err_and(|error| error.is_sticky()));
        drop(member);
        Ok(())
    });
    assert!(ended.is_ok(), "{ended:?}");
    println!("ended well");
    Ok(())
}
