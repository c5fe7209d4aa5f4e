//! Green contexts: shares of a device's multiprocessors under a name of their own.
//!
//! The shares are counted, split and reported as they should be, but not enforced: a block runs on any processor that
//! is free. All green contexts of a device use its primary context, so modules and memory are common to them.

use std::sync::Arc;

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_HANDLE, INVALID_VALUE, ensure};
use crate::driver::call::{In, InMut, Kind, Out, Table, calls, not_supported, put_handle};
use crate::driver::context::{self, Context};
use crate::driver::handle::Handle;
use crate::driver::{device, stream};

/// The live green contexts.
static GREENS: Table<Green> = Table::new(Kind::Green);

/// The live descriptions.
static DESCRIPTIONS: Table<Description> = Table::new(Kind::Description);

/// Resources of a green context to be made.
#[derive(Debug)]
pub(crate) struct Description {
    multiprocessors: u32,
}

/// A green context.
#[derive(Debug)]
pub(crate) struct Green {
    pub(crate) context: Arc<Context>,
    multiprocessors: u32,
}

impl Green {
    pub(crate) fn find(handle: CUgreenCtx) -> Answer<Arc<Self>> {
        GREENS.get(handle.addr()).ok_or(INVALID_HANDLE)
    }
}

fn multiprocessors(count: u32) -> CUdevResource {
    let mut resource = CUdevResource::zeroed();
    resource.type_ = CUdevResourceType::CU_DEV_RESOURCE_TYPE_SM;
    resource.u.sm = CUdevSmResource {
        smCount: count,
        minSmPartitionSize: 1,
        smCoscheduledAlignment: 1,
        ..CUdevSmResource::zeroed()
    };
    resource
}

/// Number of multiprocessors of a resource, if it is of that kind.
fn count_of(resource: &CUdevResource) -> Answer<u32> {
    let is_sm = resource.type_ == CUdevResourceType::CU_DEV_RESOURCE_TYPE_SM;
    ensure(is_sm, CUresult::CUDA_ERROR_INVALID_RESOURCE_TYPE)?;
    // SAFETY: the type says that the client set this member, which is plain numbers: any bits are a value of it.
    Ok(unsafe { resource.u.sm }.smCount)
}

/// Writes a resource of a kind; only multiprocessors are available.
fn give(out: Out<CUdevResource>, kind: CUdevResourceType, count: u32) -> Answer {
    out.check()?;
    match kind {
        CUdevResourceType::CU_DEV_RESOURCE_TYPE_SM => out.set(multiprocessors(count)),
        CUdevResourceType::CU_DEV_RESOURCE_TYPE_INVALID => Err(INVALID_VALUE),
        known if known.name().is_some() => Err(not_supported(
            "multiprocessors are all that the software device can be asked for and split by: use CU_DEV_RESOURCE_TYPE_SM",
        )),
        _ => Err(INVALID_VALUE),
    }
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

    fn cuCtxGetDevResource(
        call,
        hCtx: CUcontext,
        resource: Out<CUdevResource>,
        type_: CUdevResourceType,
    ) {
        call.context_or_current(hCtx)?;
        give(resource, type_, all_multiprocessors())
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

    /// Without a place for the groups, returns how many there can be.
    fn cuDevSmResourceSplitByCount(
        _call,
        result: Out<CUdevResource>,
        nbGroups: Out<u32>,
        input: In<CUdevResource>,
        remainder: Out<CUdevResource>,
        flags: u32,
        minCount: u32,
    ) {
        ensure(flags <= 3, INVALID_VALUE)?;
        let (total, each) = (count_of(&input.get()?)?, minCount.max(1));
        let wanted = if result.is_null() { u32::MAX } else { nbGroups.get()? };
        let groups = wanted.min(total / each);
        ensure(groups > 0, CUresult::CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION)?;
        if !result.is_null() {
            result.set_all(&vec![multiprocessors(each); groups as usize], groups as usize)?;
            let rest = match total - groups * each {
                0 => CUdevResource::zeroed(),
                rest => multiprocessors(rest),
            };
            remainder.set_if_wanted(rest);
        }
        nbGroups.set(groups)
    }

    fn cuDevResourceGenerateDesc(
        _call,
        phDesc: Out<CUdevResourceDesc>,
        resources: InMut<CUdevResource>,
        nbResources: u32,
    ) {
        phDesc.check()?;
        ensure(nbResources > 0, INVALID_VALUE)?;
        let resources = resources.input().get_all(nbResources as usize)?;
        let counts = resources.iter().map(count_of).collect::<Answer<Vec<_>>>()?;
        let multiprocessors = counts.iter().sum();
        let fits = (1..=all_multiprocessors()).contains(&multiprocessors);
        ensure(fits, CUresult::CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION)?;
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
        let described = DESCRIPTIONS.get(desc.addr()).ok_or(INVALID_VALUE)?;
        let context = context::retain(dev)?;
        put_handle(phCtx, GREENS.insert(Green {
            context,
            multiprocessors: described.multiprocessors,
        }))
    }

    fn cuGreenCtxDestroy(_call, hCtx: CUgreenCtx) {
        let green = GREENS.remove(hCtx.addr()).ok_or(INVALID_HANDLE)?;
        context::release(green.context.device)
    }

    fn cuCtxFromGreenCtx(_call, pContext: Out<CUcontext>, hCtx: CUgreenCtx) {
        put_handle(pContext, Green::find(hCtx)?.context.handle)
    }

    fn cuGreenCtxGetId(_call, greenCtx: CUgreenCtx, greenCtxId: Out<u64>) {
        greenCtxId.check()?;
        Green::find(greenCtx)?;
        greenCtxId.set(greenCtx.addr() as u64)
    }

    fn cuGreenCtxRecordEvent(_call, hCtx: CUgreenCtx, hEvent: CUevent) {
        stream::record_context(Arc::clone(&Green::find(hCtx)?.context), hEvent)
    }

    fn cuGreenCtxWaitEvent(_call, hCtx: CUgreenCtx, hEvent: CUevent) {
        stream::make_context_wait(&Green::find(hCtx)?.context, hEvent)
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
        let context = Arc::clone(&green.context);
        put_handle(phStream, stream::create_in(context, flags, priority, Some(greenCtx.addr())))
    }

    fn cuStreamGetGreenCtx(call, hStream: CUstream, phCtx: Out<CUgreenCtx>) {
        put_handle(phCtx, call.stream(hStream)?.green().unwrap_or(0))
    }
}
