//! Semaphores of other APIs: signals and waits in streams and graphs.

use std::sync::Arc;

use cuprum_sys::*;

use crate::memory::{ExternalMemory, ExternalSemaphore};
use crate::report::LeakKind;

use crate::driver::answer::{Answer, INVALID_HANDLE, INVALID_VALUE, ensure};
use crate::driver::call::{Call, In, Kind, Leaked, Out, Table, calls, not_supported, put_handle};
use crate::driver::context::Context;
use crate::driver::handle::Handle;
use crate::driver::state::{Act, Operation, Turn, note, scheduler};

use super::refused::NOT_A_DESCRIPTOR;

static SEMAPHORES: Table<Imported> = Table::new(Kind::ExternalSemaphore)
    .owned_by(|imported: &Imported| imported.context.handle)
    .leak(LeakKind::ExternalSemaphore, |_, _| Leaked::Yes);

#[derive(Debug)]
struct Imported {
    context: Arc<Context>,
    semaphore: ExternalSemaphore,
    /// True if it is a counter that only grows; otherwise it is binary.
    is_timeline: bool,
}

impl Imported {
    fn find(handle: CUexternalSemaphore) -> Answer<Arc<Self>> {
        SEMAPHORES.get(handle.addr()).ok_or(INVALID_VALUE)
    }

    /// Imports the semaphore. Takes over the descriptor if it succeeds.
    fn new(context: Arc<Context>, desc: &CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC) -> Answer<Self> {
        use CUexternalSemaphoreHandleType as T;

        let is_timeline = match desc.type_ {
            T::CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD => false,
            T::CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD => true,
            known if known.name().is_some() => return Err(not_supported(NOT_A_DESCRIPTOR)),
            _ => return Err(INVALID_VALUE),
        };
        ensure(desc.flags == 0, INVALID_VALUE)?;
        // SAFETY: the type says that the client set this member, which is a number.
        let descriptor = unsafe { desc.handle.fd };
        ensure(descriptor >= 0 || !is_timeline, INVALID_VALUE)?;
        let semaphore = ExternalSemaphore::import(descriptor).ok_or(CUresult::CUDA_ERROR_UNKNOWN)?;
        ExternalMemory::close(descriptor);
        Ok(Self { context, semaphore, is_timeline })
    }

    fn signal(&self, value: u64) {
        self.semaphore.signal(if self.is_timeline { value } else { 1 });
    }

    /// True if a wait may end now. Resets a binary semaphore.
    fn pass(&self, value: u64) -> bool {
        if self.is_timeline { self.semaphore.value() >= value } else { self.semaphore.take() }
    }

    fn is_passable(&self, value: u64) -> bool {
        self.semaphore.value() >= if self.is_timeline { value } else { 1 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Signal,
    Wait,
}

/// Signals of several semaphores, or waits for them, with the values that the client passed.
#[derive(Debug, Clone)]
pub(crate) struct Semaphores {
    pub(crate) step: Step,
    each: Vec<(Arc<Imported>, u64)>,
    /// The client's arguments, which a node returns on request.
    pub(crate) handles: Arc<[CUexternalSemaphore]>,
    pub(crate) params: Params,
}

#[derive(Debug, Clone)]
pub(crate) enum Params {
    Signals(Arc<[CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS]>),
    Waits(Arc<[CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS]>),
}

// SAFETY: pointers in handles and parameters are only returned to the client.
unsafe impl Send for Semaphores {}
// SAFETY: as above.
unsafe impl Sync for Semaphores {}

impl Semaphores {
    pub(crate) fn signals(
        handles: In<CUexternalSemaphore>,
        params: In<CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS>,
        count: usize,
    ) -> Answer<Self> {
        let (handles, all) = (handles.get_all(count)?, params.get_all(count)?);
        let mut each = Vec::new();
        for (&handle, params) in handles.iter().zip(&all) {
            let skip = CUDA_EXTERNAL_SEMAPHORE_SIGNAL_SKIP_NVSCIBUF_MEMSYNC;
            ensure(params.flags & !skip == 0, INVALID_VALUE)?;
            each.push((Imported::find(handle)?, params.params.fence.value));
        }
        Ok(Self { step: Step::Signal, each, handles: handles.into(), params: Params::Signals(all.into()) })
    }

    pub(crate) fn waits(
        handles: In<CUexternalSemaphore>,
        params: In<CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS>,
        count: usize,
    ) -> Answer<Self> {
        let (handles, all) = (handles.get_all(count)?, params.get_all(count)?);
        let mut each = Vec::new();
        for (&handle, params) in handles.iter().zip(&all) {
            let skip = CUDA_EXTERNAL_SEMAPHORE_WAIT_SKIP_NVSCIBUF_MEMSYNC;
            ensure(params.flags & !skip == 0, INVALID_VALUE)?;
            each.push((Imported::find(handle)?, params.params.fence.value));
        }
        Ok(Self { step: Step::Wait, each, handles: handles.into(), params: Params::Waits(all.into()) })
    }

    /// Runs the steps within an operation. Other operations run while it waits.
    pub(crate) fn run_inside(&self) {
        // Another process may signal or wait.
        note(|| Act { tells_host: true, awaits_host: true, ..Act::default() });
        for (semaphore, value) in &self.each {
            match self.step {
                Step::Signal => semaphore.signal(*value),
                Step::Wait => scheduler().run_others_until(|| semaphore.pass(*value)),
            }
        }
    }
}

impl Operation for Semaphores {
    fn is_ready(&self) -> bool {
        self.step == Step::Signal || self.each.iter().all(|(semaphore, value)| semaphore.is_passable(*value))
    }

    fn is_awaited_outside(&self) -> bool {
        true
    }

    fn run(&self, _turn: Turn<'_>) -> Answer {
        self.run_inside();
        Ok(())
    }
}

fn push(call: &Call, stream: CUstream, semaphores: Semaphores) -> Answer {
    ensure(!semaphores.each.is_empty(), INVALID_VALUE)?;
    let stream = call.stream(stream)?;
    let context = stream.context().handle;
    let own = semaphores.each.iter().all(|(semaphore, _)| semaphore.context.handle == context);
    ensure(own, INVALID_HANDLE)?;
    stream.push(semaphores).map(drop)
}

calls! {
    objects SEMAPHORES;

    fn cuImportExternalSemaphore(
        call,
        extSem_out: Out<CUexternalSemaphore>,
        semHandleDesc: In<CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC>,
    ) {
        extSem_out.check()?;
        let desc = semHandleDesc.get()?;
        put_handle(extSem_out, SEMAPHORES.insert(Imported::new(call.context()?, &desc)?))
    }

    fn cuDestroyExternalSemaphore(_call, extSem: CUexternalSemaphore) {
        SEMAPHORES.remove(extSem.addr()).ok_or(INVALID_VALUE)?.context.check()
    }

    fn cuSignalExternalSemaphoresAsync(
        call,
        extSemArray: In<CUexternalSemaphore>,
        paramsArray: In<CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS>,
        numExtSems: u32,
        stream: CUstream,
    ) {
        push(call, stream, Semaphores::signals(extSemArray, paramsArray, numExtSems as usize)?)
    }

    fn cuWaitExternalSemaphoresAsync(
        call,
        extSemArray: In<CUexternalSemaphore>,
        paramsArray: In<CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS>,
        numExtSems: u32,
        stream: CUstream,
    ) {
        push(call, stream, Semaphores::waits(extSemArray, paramsArray, numExtSems as usize)?)
    }
}
