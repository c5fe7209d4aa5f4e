//! Contexts, and which of them is current on a thread.

use std::cell::RefCell;
use std::collections::HashSet;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuprum_sys::*;

use super::call::{Answer, INVALID_CONTEXT, INVALID_VALUE, InMut, Out, calls, ensure, put_handle};
use super::device;
use super::handle::Handle;
use super::heap::Heap;
use super::leak;
use super::primary;
use super::process;
use super::state::emulator;

/// A context: what it owns dies with it.
#[derive(Debug)]
pub(super) struct Context {
    /// Its handle, by which everything it owns refers to it.
    pub(super) handle: usize,
    pub(super) device: i32,
    pub(super) is_primary: bool,
    /// Of all contexts that there ever were, which.
    id: u64,
    flags: AtomicU32,
    alive: AtomicBool,
    /// The sticky error, or success.
    poison: AtomicU32,
    config: Mutex<Config>,
    /// What kernels allocate from; made when one first does.
    heap: Mutex<Option<Arc<Heap>>>,
    /// Contexts whose memory this one may use.
    peers: Mutex<HashSet<usize>>,
}

/// Settings of a context.
#[derive(Debug, Clone)]
struct Config {
    limits: [(CUlimit, usize); 6],
    cache: CUfunc_cache,
    shared: CUsharedconfig,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            limits: [
                (CUlimit::CU_LIMIT_STACK_SIZE, 1024),
                (CUlimit::CU_LIMIT_PRINTF_FIFO_SIZE, 1 << 20),
                (CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE, 8 << 20),
                (CUlimit::CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 2048),
                (CUlimit::CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 128),
                (CUlimit::CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0),
            ],
            cache: CUfunc_cache::CU_FUNC_CACHE_PREFER_NONE,
            shared: CUsharedconfig::CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE,
        }
    }
}

/// All flags that a context can be created with.
const KNOWN_FLAGS: u32 = CUctx_flags::CU_CTX_FLAGS_MASK.0;

/// The scheduling flags, of which at most one may be set.
const SCHEDULE_FLAGS: u32 = CUctx_flags::CU_CTX_SCHED_MASK.0;

/// Fails for flags that no context can have.
pub(super) fn check_flags(flags: u32) -> Answer {
    let schedule = flags & SCHEDULE_FLAGS;
    let one_at_most = schedule == 0 || schedule.is_power_of_two();
    ensure(flags & !KNOWN_FLAGS == 0 && one_at_most, INVALID_VALUE)
}

impl Context {
    pub(super) fn create(device: i32, flags: u32, is_primary: bool) -> Arc<Self> {
        let make = |handle| Self::new(handle, device, flags, is_primary);
        emulator().contexts.insert_with(make).1
    }

    /// Makes a primary context again, under the handle that it had.
    pub(super) fn create_again(handle: usize, device: i32, flags: u32) -> Arc<Self> {
        emulator().contexts.insert_again(handle, Self::new(handle, device, flags, true))
    }

    fn new(handle: usize, device: i32, flags: u32, is_primary: bool) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self {
            handle,
            device,
            is_primary,
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            flags: AtomicU32::new(flags),
            alive: AtomicBool::new(true),
            poison: AtomicU32::new(CUresult::CUDA_SUCCESS.0),
            config: Mutex::default(),
            heap: Mutex::default(),
            peers: Mutex::default(),
        }
    }

    /// The context behind a handle.
    pub(super) fn find(handle: CUcontext) -> Answer<Arc<Self>> {
        let contexts = &emulator().contexts;
        contexts.get(handle.addr()).ok_or_else(|| {
            if contexts.was_given(handle.addr()) {
                CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED
            } else {
                INVALID_CONTEXT
            }
        })
    }

    /// The context behind a handle, to be made current: a primary context may be inactive then.
    fn find_to_be_current(handle: CUcontext) -> Answer<Arc<Self>> {
        Self::find(handle).or_else(|code| primary::inactive(handle.addr()).ok_or(code))
    }

    /// The context behind a handle, or the current one for null. Alive and not poisoned.
    pub(super) fn find_or_current(call: &super::call::Call, handle: CUcontext) -> Answer<Arc<Self>> {
        if handle.is_null() {
            return call.context();
        }
        let context = Self::find(handle)?;
        context.check()?;
        Ok(context)
    }

    /// Fails if the context was destroyed or has a sticky error.
    pub(super) fn check(&self) -> Answer {
        ensure(self.alive.load(Ordering::Acquire), CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED)?;
        match self.poison.load(Ordering::Acquire) {
            0 => Ok(()),
            code => Err(CUresult(code)),
        }
    }

    /// Whether it has a sticky error.
    pub(super) fn is_poisoned(&self) -> bool {
        self.poison.load(Ordering::Acquire) != CUresult::CUDA_SUCCESS.0
    }

    /// Sets the sticky error; the first one stays.
    pub(super) fn poison(&self, code: CUresult) {
        let clean = CUresult::CUDA_SUCCESS.0;
        let _ = self.poison.compare_exchange(clean, code.0, Ordering::AcqRel, Ordering::Acquire);
    }

    /// Waits for everything that was pushed, then answers the sticky error if there is one.
    pub(super) fn synchronize(&self) -> Answer {
        emulator().captures.forbid_in(self.handle)?;
        emulator().scheduler.wait_context(self.handle);
        self.check()
    }

    /// Ends the context and everything in it.
    pub(super) fn destroy(&self) {
        let emulator = emulator();
        // What waits for a value nobody can be sure of must not keep the context for ever: the
        // operations of a dead context are dropped.
        if emulator.scheduler.is_stalled(self.handle) {
            self.alive.store(false, Ordering::Release);
        }
        emulator.scheduler.wait_context(self.handle);
        leak::end_of_context(self);
        self.alive.store(false, Ordering::Release);
        emulator.contexts.remove(self.handle);
        let context = self.handle;
        emulator.captures.forget_context(self.handle);
        emulator.streams.remove_owned(context);
        emulator.events.remove_owned(context);
        emulator.modules.remove_owned(context);
        emulator.functions.remove_owned(context);
        emulator.arrays.remove_owned(context);
        emulator.mipmaps.remove_owned(context);
        emulator.textures.remove_owned(context);
        emulator.surfaces.remove_owned(context);
        emulator.graph_blocks.forget_context(context as u64);
        emulator.memory.free_context(context as u64);
    }

    pub(super) fn flags(&self) -> u32 {
        self.flags.load(Ordering::Relaxed)
    }

    pub(super) fn set_flags(&self, flags: u32) {
        self.flags.store(flags, Ordering::Relaxed);
    }

    /// The value of a limit, if this device has it.
    pub(super) fn limit(&self, limit: CUlimit) -> Answer<usize> {
        let config = self.config();
        let found = config.limits.iter().find(|(known, _)| *known == limit);
        found.map(|&(_, value)| value).ok_or_else(|| unknown_limit(limit))
    }

    /// The heap of this context's kernels.
    pub(super) fn heap(&self) -> Answer<Arc<Heap>> {
        let mut heap = self.heap.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(heap) = heap.as_ref() {
            return Ok(Arc::clone(heap));
        }
        let made = Arc::new(Heap::create(self)?);
        *heap = Some(Arc::clone(&made));
        Ok(made)
    }

    fn config(&self) -> MutexGuard<'_, Config> {
        self.config.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn peers(&self) -> MutexGuard<'_, HashSet<usize>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A limit that exists but not on this device is told apart from one that does not exist.
fn unknown_limit(limit: CUlimit) -> CUresult {
    match limit.name() {
        Some(_) => CUresult::CUDA_ERROR_UNSUPPORTED_LIMIT,
        None => INVALID_VALUE,
    }
}

thread_local! {
    /// The contexts pushed on this thread; the last is current. Destroyed ones stay until popped.
    ///
    /// It has no destructor, so that those of the client's own variables find it as it was; [`forget_stack`] empties it
    /// after them.
    static STACK: ManuallyDrop<RefCell<Vec<Arc<Context>>>> = const { ManuallyDrop::new(RefCell::new(Vec::new())) };
}

/// The current context, alive or not.
pub(super) fn current() -> Option<Arc<Context>> {
    let top = STACK.with(|stack| stack.borrow().last().cloned())?;
    let is_gone = top.is_primary && !top.alive.load(Ordering::Acquire);
    // A primary context may have been made again since it was pushed.
    let again = || emulator().contexts.get(top.handle);
    Some(if is_gone { again().unwrap_or(top) } else { top })
}

fn with_stack<R>(change: impl FnOnce(&mut Vec<Arc<Context>>) -> R) -> R {
    process::at_thread_end(forget_stack);
    STACK.with(|stack| change(&mut stack.borrow_mut()))
}

/// Pops all contexts of a thread that ends.
fn forget_stack() {
    // Dropped when the stack is no longer in use.
    let contexts = STACK.with(|stack| stack.take());
    drop(contexts);
}

fn create(out: Out<CUcontext>, flags: u32, device: i32) -> Answer {
    out.check()?;
    check_flags(flags)?;
    device::check(device)?;
    let context = Context::create(device, flags, false);
    put_handle(out, context.handle)?;
    with_stack(|stack| stack.push(context));
    Ok(())
}

fn destroy(handle: CUcontext) -> Answer {
    ensure(!handle.is_null(), INVALID_VALUE)?;
    let context = Context::find(handle)?;
    ensure(!context.is_primary, INVALID_CONTEXT)?;
    with_stack(|stack| {
        if stack.last().is_some_and(|top| top.handle == context.handle) {
            stack.pop();
        }
    });
    context.destroy();
    Ok(())
}

fn push(handle: CUcontext) -> Answer {
    ensure(!handle.is_null(), INVALID_VALUE)?;
    let context = Context::find_to_be_current(handle)?;
    with_stack(|stack| stack.push(context));
    Ok(())
}

fn pop(out: Out<CUcontext>) -> Answer {
    let popped = with_stack(Vec::pop).ok_or(INVALID_CONTEXT)?;
    out.set_if_wanted(CUcontext::from_addr(popped.handle));
    Ok(())
}

calls! {
    fn cuCtxCreate(_call, pctx: Out<CUcontext>, flags: u32, dev: i32) {
        create(pctx, flags, dev)
    }

    fn cuCtxCreate_v2(_call, pctx: Out<CUcontext>, flags: u32, dev: i32) {
        create(pctx, flags, dev)
    }

    fn cuCtxCreate_v3(
        _call,
        pctx: Out<CUcontext>,
        _paramsArray: InMut<CUexecAffinityParam>,
        numParams: i32,
        flags: u32,
        dev: i32,
    ) {
        ensure(numParams == 0, CUresult::CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY)?;
        create(pctx, flags, dev)
    }

    fn cuCtxCreate_v4(
        _call,
        pctx: Out<CUcontext>,
        ctxCreateParams: InMut<CUctxCreateParams>,
        flags: u32,
        dev: i32,
    ) {
        if !ctxCreateParams.input().is_null() {
            let params = ctxCreateParams.input().get()?;
            let plain = params.numExecAffinityParams == 0 && params.cigParams.is_null();
            ensure(plain, CUresult::CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY)?;
        }
        create(pctx, flags, dev)
    }

    fn cuCtxDestroy(_call, ctx: CUcontext) {
        destroy(ctx)
    }

    fn cuCtxDestroy_v2(_call, ctx: CUcontext) {
        destroy(ctx)
    }

    fn cuCtxPushCurrent(_call, ctx: CUcontext) {
        push(ctx)
    }

    fn cuCtxPushCurrent_v2(_call, ctx: CUcontext) {
        push(ctx)
    }

    fn cuCtxPopCurrent(_call, pctx: Out<CUcontext>) {
        pop(pctx)
    }

    fn cuCtxPopCurrent_v2(_call, pctx: Out<CUcontext>) {
        pop(pctx)
    }

    /// Replaces the top of the stack; null takes it away.
    fn cuCtxSetCurrent(_call, ctx: CUcontext) {
        let next = if ctx.is_null() { None } else { Some(Context::find_to_be_current(ctx)?) };
        with_stack(|stack| {
            stack.pop();
            stack.extend(next);
        });
        Ok(())
    }

    fn cuCtxGetCurrent(_call, pctx: Out<CUcontext>) {
        let handle = current().map_or(0, |context| context.handle);
        put_handle(pctx, handle)
    }

    fn cuCtxGetDevice(_call, device: Out<i32>) {
        device.check()?;
        let context = current().ok_or(INVALID_CONTEXT)?;
        device.set(context.device)
    }

    fn cuCtxGetDevice_v2(call, device: Out<i32>, ctx: CUcontext) {
        device.check()?;
        device.set(Context::find_or_current(call, ctx)?.device)
    }

    fn cuCtxGetFlags(call, flags: Out<u32>) {
        flags.check()?;
        flags.set(call.context()?.flags())
    }

    fn cuCtxSetFlags(call, flags: u32) {
        check_flags(flags)?;
        call.context()?.set_flags(flags);
        Ok(())
    }

    fn cuCtxGetId(call, ctx: CUcontext, ctxId: Out<u64>) {
        ctxId.check()?;
        ctxId.set(Context::find_or_current(call, ctx)?.id)
    }

    fn cuCtxSynchronize(call) {
        call.context_to_wait_for()?.synchronize()
    }

    fn cuCtxSynchronize_v2(call, ctx: CUcontext) {
        Context::find_or_current(call, ctx)?.synchronize()
    }

    fn cuCtxSetLimit(call, limit: CUlimit, value: usize) {
        let context = call.context()?;
        emulator().captures.forbid_unsafe()?;
        let mut config = context.config();
        let entry = config.limits.iter_mut().find(|(known, _)| *known == limit);
        entry.ok_or_else(|| unknown_limit(limit))?.1 = value;
        Ok(())
    }

    fn cuCtxGetLimit(call, pvalue: Out<usize>, limit: CUlimit) {
        pvalue.check()?;
        pvalue.set(call.context()?.limit(limit)?)
    }

    fn cuCtxGetCacheConfig(call, pconfig: Out<CUfunc_cache>) {
        pconfig.check()?;
        let cache = call.context()?.config().cache;
        pconfig.set(cache)
    }

    fn cuCtxSetCacheConfig(call, config: CUfunc_cache) {
        ensure(config.name().is_some(), INVALID_VALUE)?;
        call.context()?.config().cache = config;
        Ok(())
    }

    fn cuCtxGetSharedMemConfig(call, pConfig: Out<CUsharedconfig>) {
        pConfig.check()?;
        let shared = call.context()?.config().shared;
        pConfig.set(shared)
    }

    fn cuCtxSetSharedMemConfig(call, config: CUsharedconfig) {
        ensure(config.name().is_some(), INVALID_VALUE)?;
        call.context()?.config().shared = config;
        Ok(())
    }

    /// The version of the context's interface, not of the driver.
    fn cuCtxGetApiVersion(call, ctx: CUcontext, version: Out<u32>) {
        version.check()?;
        let destroyed = CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED;
        let found = Context::find_or_current(call, ctx).map(drop);
        found.map_err(|code| if code == destroyed { INVALID_CONTEXT } else { code })?;
        version.set(3020)
    }

    fn cuCtxGetStreamPriorityRange(call, leastPriority: Out<i32>, greatestPriority: Out<i32>) {
        call.context()?;
        leastPriority.set_if_wanted(super::stream::LEAST_PRIORITY);
        greatestPriority.set_if_wanted(super::stream::GREATEST_PRIORITY);
        Ok(())
    }

    fn cuCtxResetPersistingL2Cache(call) {
        call.context().map(drop)
    }

    fn cuCtxGetExecAffinity(
        call,
        _pExecAffinity: Out<CUexecAffinityParam>,
        _type: CUexecAffinityType,
    ) {
        call.context()?;
        Err(CUresult::CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY)
    }

    /// Takes another use of a context that is not primary.
    fn cuCtxAttach(call, pctx: Out<CUcontext>, flags: u32) {
        pctx.check()?;
        ensure(flags == 0, INVALID_VALUE)?;
        put_handle(pctx, call.context()?.handle)
    }

    fn cuCtxDetach(_call, ctx: CUcontext) {
        destroy(ctx)
    }
}
