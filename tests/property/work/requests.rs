//! A slot with a request, and the expected contents of its memory.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;

use cuprum::memory::PinnedFlags;
use cuprum::stream::{Event, EventFlags, Pending, PendingFuture, Request};
use cuprum::{Buffer, Current, MemoryError, PinnedBuffer, Stream};

use super::act::{End, Op, Ops, RequestAct, STREAMS};
use super::run::Asked;
use super::{Cell, Failed, LEN, holds};
use crate::executors::block_on;
use crate::tracer::Session;

/// Memory of a request.
struct Memory {
    host: PinnedBuffer<'static, u32>,
    device: Buffer<'static, u32>,
}

#[derive(Default)]
enum State {
    #[default]
    None,
    Idle(Request<Memory>),
    Busy(Pending<Memory>),
    Awaited(PendingFuture<Memory>, usize),
}

/// A request.
#[derive(Default)]
pub(super) struct Slot {
    state: State,
    host: Cell,
    device: Cell,
}

/// Error that a body returns if it is to fail.
const REFUSED: MemoryError = MemoryError::Length { destination_len: 7, source_len: 77 };

impl Slot {
    /// Its contents are in doubt from now on.
    pub(super) fn doubt(&mut self) {
        (self.host, self.device) = (None, None);
    }

    /// Does a step; false if it makes no sense here.
    pub(super) fn step(
        &mut self,
        act: RequestAct,
        cx: &Current<'_, 'static>,
        streams: &[Stream<'static>; STREAMS],
    ) -> Result<bool, Failed> {
        match (act, std::mem::take(&mut self.state)) {
            (RequestAct::Make, State::None) => self.make(cx)?,
            (RequestAct::Write(value), State::Idle(mut request)) => {
                request.host.fill(value);
                self.host = Some(value);
                self.state = State::Idle(request);
            }
            (RequestAct::Read, State::Idle(request)) => {
                let read = request.device.to_vec(cx);
                holds("host memory of a request", &request.host, self.host)?;
                self.state = State::Idle(request);
                holds("device memory of a request", &read?, self.device)?;
            }
            (RequestAct::Submit { stream, ops, end }, State::Idle(request)) => {
                self.submit(request, cx, &streams[stream], ops, end)?;
            }
            (RequestAct::IsDone, State::Busy(pending)) => {
                let done = pending.is_done();
                self.state = State::Busy(pending);
                done?;
            }
            (RequestAct::Before(stream), State::Busy(pending)) => {
                let before = pending.before(cx, &streams[stream]);
                self.state = State::Busy(pending);
                before?;
            }
            (RequestAct::Notify(stream), State::Busy(pending)) => {
                match pending.notify(cx, &streams[stream]) {
                    Ok(future) => self.state = State::Awaited(future, stream),
                    Err(failed) => return Err(self.back(failed.request, failed.error)),
                }
            }
            (RequestAct::Wait { away }, State::Busy(pending)) => {
                let wait = move || pending.wait();
                match if away { elsewhere(wait) } else { wait() } {
                    Ok(request) => self.state = State::Idle(request),
                    Err(failed) => return Err(self.back(failed.request, failed.error)),
                }
            }
            (RequestAct::Wait { .. }, State::Awaited(future, stream)) => {
                self.wait_for(future, cx, &streams[stream])?;
            }
            (RequestAct::Drop { .. } | RequestAct::Forget, State::None) => return Ok(false),
            (RequestAct::Drop { away: true }, state) => elsewhere(move || drop(state)),
            (RequestAct::Drop { away: false }, state) => drop(state),
            (RequestAct::Forget, state) => std::mem::forget(state),
            (_, state) => {
                self.state = state;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Makes a request.
    fn make(&mut self, cx: &Current<'_, 'static>) -> Result<(), Failed> {
        let event = Event::new(cx, EventFlags::DISABLE_TIMING)?;
        let host = PinnedBuffer::from_slice(cx, &[3; LEN], PinnedFlags::empty())?;
        let device = Buffer::from_slice(cx, &[5; LEN])?;
        (self.host, self.device) = (Some(3), Some(5));
        self.state = State::Idle(Request::new(event, Memory { host, device }));
        Ok(())
    }

    /// Waits for a request that has a future.
    fn wait_for(
        &mut self,
        future: PendingFuture<Memory>,
        cx: &Current<'_, 'static>,
        stream: &Stream<'static>,
    ) -> Result<(), Failed> {
        // The emulator may do work when it is waited for, and calls then.
        stream.synchronize(cx)?;
        match block_on(future) {
            Ok(request) => {
                // The driver's callback has reported it, which the watcher does not see.
                Session::current().unwrap_or_default().lost(request.host.as_raw());
                self.state = State::Idle(request);
            }
            Err(failed) => return Err(self.back(failed.request, failed.error)),
        }
        Ok(())
    }

    /// Takes a request back that an error brought.
    fn back(&mut self, request: Option<Request<Memory>>, error: impl std::fmt::Display) -> Failed {
        self.state = request.map_or(State::None, State::Idle);
        Failed::Said(error.to_string())
    }

    fn submit(
        &mut self,
        request: Request<Memory>,
        cx: &Current<'_, 'static>,
        stream: &Stream<'static>,
        ops: Ops,
        end: End,
    ) -> Result<(), Failed> {
        let (mut host_cell, mut device_cell) = (self.host, self.device);
        let submitted = catch_unwind(AssertUnwindSafe(|| {
            request.submit(cx, stream, |scope, Memory { host, device }| {
                let (host, device) = (scope.lend(host)?, scope.lend(device.as_mut_slice())?);
                for op in ops {
                    match op {
                        Op::Fill(_, value) => (scope.fill(&device, value)?, device_cell = Some(value)).1,
                        Op::Copy(_) | Op::FromHost(..) => {
                            (scope.copy(&device, &host)?, device_cell = host_cell).1
                        }
                        Op::ToHost(_) => (scope.copy(&host, &device)?, host_cell = device_cell).1,
                        Op::Host => {}
                    }
                }
                match end {
                    End::Well => Ok(()),
                    End::Error => Err(REFUSED),
                    End::Panic => resume_unwind(Box::new(Asked)),
                }
            })
        }));
        (self.host, self.device) = (host_cell, device_cell);
        match submitted {
            Ok(Ok(pending)) => self.state = State::Busy(pending),
            // The body's own error is none of a call.
            Ok(Err(failed)) if failed.error == REFUSED => {
                let given_back = failed.request.is_some();
                self.state = failed.request.map_or(State::None, State::Idle);
                return if given_back { Ok(()) } else { Err(Failed::Said("the wait failed".into())) };
            }
            Ok(Err(failed)) => return Err(self.back(failed.request, failed.error)),
            Err(panic) if panic.is::<Asked>() => {}
            Err(panic) => resume_unwind(panic),
        }
        Ok(())
    }
}

/// Runs something on another thread, which the session hears.
pub(super) fn elsewhere<R: Send>(body: impl FnOnce() -> R + Send) -> R {
    let session = Session::current().unwrap_or_default();
    thread::scope(|scope| match scope.spawn(|| session.enter(body)).join() {
        Ok(result) => result,
        Err(panic) => resume_unwind(panic),
    })
}
