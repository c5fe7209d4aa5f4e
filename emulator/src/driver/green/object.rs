//! Green contexts, and descriptions of their resources.

use super::share::{Share, equal_groups, group_of};
use crate::driver::answer::{Answer, INVALID_CONTEXT, INVALID_HANDLE, INVALID_VALUE, ensure};
use crate::driver::call::{In, InMut, Kind, Out, Table, calls, put_handle};
use crate::driver::context::{self, Context, GreenPart};
use crate::driver::handle::Handle;
use crate::driver::{device, stream};
use cuprum_sys::*;
use std::sync::Arc;

static GREENS: Table<Green> = Table::new(Kind::Green);

static DESCRIPTIONS: Table<Description> = Table::new(Kind::Description);

/// Resources from which a green context can be created.
#[derive(Debug)]
pub(crate) struct Description {
    multiprocessors: u32,
}

#[derive(Debug)]
pub(crate) struct Green {
    /// Its context, for pushing and popping.
    pub(crate) part: Arc<Context>,
    multiprocessors: u32,
}

impl Green {
    pub(crate) fn find(handle: CUgreenCtx) -> Answer<Arc<Self>> {
        ensure(!handle.is_null(), INVALID_CONTEXT)?;
        GREENS.get(handle.addr()).ok_or_else(|| {
            let destroyed = GREENS.was_given(handle.addr());
            if destroyed { CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED } else { INVALID_HANDLE }
        })
    }

    /// Returns the primary context, which owns its objects.
    fn whole(&self) -> Arc<Context> {
        Arc::clone(&self.part).whole()
    }
}

/// Writes a resource of `count` multiprocessors from the first. Fails for other kinds.
fn give(out: Out<CUdevResource>, kind: CUdevResourceType, count: u32) -> Answer {
    out.check()?;
    let is_sm = kind == CUdevResourceType::CU_DEV_RESOURCE_TYPE_SM;
    ensure(is_sm, CUresult::CUDA_ERROR_INVALID_RESOURCE_TYPE)?;
    out.set(Share { start: 0, count }.whole())
}

fn all_multiprocessors() -> u32 {
    device::multiprocessors().unsigned_abs()
}

calls! {
    fn cuDeviceGetDevResource(
        _call,
        device: i32,
        resource: Out<CUdevResource>,
        type_: CUdevResourceType,
    ) {
        device::check(device)?;
        give(resource, type_, all_multiprocessors())
    }

    /// Unlike elsewhere, null means no context.
    fn cuCtxGetDevResource(
        _call,
        hCtx: CUcontext,
        resource: Out<CUdevResource>,
        type_: CUdevResourceType,
    ) {
        let context = Context::find_itself(hCtx)?;
        context.check()?;
        let count = match context.part() {
            Some(part) => Green::find(CUgreenCtx::from_addr(part.green))?.multiprocessors,
            None => all_multiprocessors(),
        };
        give(resource, type_, count)
    }

    fn cuGreenCtxGetDevResource(
        _call,
        hCtx: CUgreenCtx,
        resource: Out<CUdevResource>,
        type_: CUdevResourceType,
    ) {
        give(resource, type_, Green::find(hCtx)?.multiprocessors)
    }

    fn cuStreamGetDevResource(
        call,
        hStream: CUstream,
        resource: Out<CUdevResource>,
        type_: CUdevResourceType,
    ) {
        let green = call.stream(hStream)?.green();
        let count = green.map_or_else(|| Ok(all_multiprocessors()), |handle| {
            Green::find(CUgreenCtx::from_addr(handle)).map(|green| green.multiprocessors)
        });
        give(resource, type_, count?)
    }

    /// Without an output for the groups, returns only their maximum number.
    fn cuDevSmResourceSplitByCount(
        _call,
        result: Out<CUdevResource>,
        nbGroups: Out<u32>,
        input: In<CUdevResource>,
        remainder: Out<CUdevResource>,
        flags: u32,
        minCount: u32,
    ) {
        nbGroups.check()?;
        let share = Share::undivided(&input.get()?)?;
        let (size, most) = equal_groups(share.count, flags, minCount)?;
        if result.is_null() {
            return nbGroups.set(most);
        }
        let groups = nbGroups.get()?.min(most);
        ensure(groups > 0, INVALID_VALUE)?;
        let part = |index| Share { start: share.start + index * size, count: size }.part();
        result.set_all(&(0..groups).map(part).collect::<Vec<_>>(), groups as usize)?;
        remainder.set_if_wanted(share.behind(groups * size).part());
        nbGroups.set(groups)
    }

    /// Without an output for the groups, only describes them.
    fn cuDevSmResourceSplit(
        _call,
        result: Out<CUdevResource>,
        nbGroups: u32,
        input: In<CUdevResource>,
        remainder: Out<CUdevResource>,
        flags: u32,
        groupParams: Out<CU_DEV_SM_RESOURCE_GROUP_PARAMS>,
    ) {
        ensure(flags == 0 && nbGroups > 0 && !groupParams.is_null(), INVALID_VALUE)?;
        let share = Share::undivided(&input.get()?)?;
        let mut asked = Vec::new();
        for index in 0..nbGroups as usize {
            asked.push(groupParams.nth(index).get()?);
        }
        let mut rest = share;
        let mut groups = Vec::new();
        for group in &mut asked {
            let count = group_of(group, share.count, rest.count)?;
            groups.push(Share { start: rest.start, count }.part());
            rest = rest.behind(count);
        }
        groupParams.set_all(&asked, asked.len())?;
        if !result.is_null() {
            result.set_all(&groups, groups.len())?;
            remainder.set_if_wanted(rest.part());
        }
        Ok(())
    }

    /// Resources may overlap.
    fn cuDevResourceGenerateDesc(
        _call,
        phDesc: Out<CUdevResourceDesc>,
        resources: InMut<CUdevResource>,
        nbResources: u32,
    ) {
        phDesc.check()?;
        ensure(nbResources > 0, INVALID_VALUE)?;
        let resources = resources.input().get_all(nbResources as usize)?;
        let mut shares = Vec::with_capacity(resources.len());
        for resource in &resources {
            shares.push(Share::of(resource)?);
        }
        let has = |index: &u32| shares.iter().any(|share| share.has(*index));
        let multiprocessors = (0..all_multiprocessors()).filter(has).count() as u32;
        ensure(multiprocessors > 0, CUresult::CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION)?;
        put_handle(phDesc, DESCRIPTIONS.insert(Description { multiprocessors }))
    }

    fn cuGreenCtxCreate(
        _call,
        phCtx: Out<CUgreenCtx>,
        desc: CUdevResourceDesc,
        dev: i32,
        flags: u32,
    ) {
        phCtx.check()?;
        device::check(dev)?;
        ensure(flags == CUgreenCtxCreate_flags::CU_GREEN_CTX_DEFAULT_STREAM.0, INVALID_VALUE)?;
        let multiprocessors = DESCRIPTIONS.get(desc.addr()).ok_or(INVALID_VALUE)?.multiprocessors;
        let whole = context::retain_part(dev)?;
        let make = |green| Green { part: Context::create_part(GreenPart { whole, green }), multiprocessors };
        put_handle(phCtx, GREENS.insert_with(make).0)
    }

    /// Its streams then report a destroyed context. Its allocations stay in the primary context.
    fn cuGreenCtxDestroy(_call, hCtx: CUgreenCtx) {
        let green = Green::find(hCtx)?;
        GREENS.remove(hCtx.addr());
        green.part.end_part();
        context::release_part(green.part.device)
    }

    /// Returns the same handle each time.
    fn cuCtxFromGreenCtx(_call, pContext: Out<CUcontext>, hCtx: CUgreenCtx) {
        put_handle(pContext, Green::find(hCtx)?.part.handle)
    }

    fn cuGreenCtxGetId(_call, greenCtx: CUgreenCtx, greenCtxId: Out<u64>) {
        greenCtxId.check()?;
        greenCtxId.set(Green::find(greenCtx)?.part.id)
    }

    fn cuGreenCtxRecordEvent(_call, hCtx: CUgreenCtx, hEvent: CUevent) {
        stream::record_context(Green::find(hCtx)?.whole(), hEvent)
    }

    fn cuGreenCtxWaitEvent(_call, hCtx: CUgreenCtx, hEvent: CUevent) {
        stream::make_context_wait(&Green::find(hCtx)?.whole(), hEvent)
    }

    fn cuGreenCtxStreamCreate(
        _call,
        phStream: Out<CUstream>,
        greenCtx: CUgreenCtx,
        flags: u32,
        priority: i32,
    ) {
        phStream.check()?;
        ensure(flags == CUstream_flags::CU_STREAM_NON_BLOCKING.0, INVALID_VALUE)?;
        let green = Green::find(greenCtx)?;
        let part = Arc::clone(&green.part);
        put_handle(phStream, stream::create_in(green.whole(), flags, priority, Some(part)))
    }

    fn cuStreamGetGreenCtx(call, hStream: CUstream, phCtx: Out<CUgreenCtx>) {
        put_handle(phCtx, call.stream(hStream)?.green().unwrap_or(0))
    }
}
