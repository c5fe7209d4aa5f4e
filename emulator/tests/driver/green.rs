//! Green contexts: shares of multiprocessors, and their streams, as on an H100 with driver 580.

use core::ptr::null_mut;

use cuprum_sys::*;
use cuprum_testing::driver_calls::*;

const SM: CUdevResourceType = CUdevResourceType::CU_DEV_RESOURCE_TYPE_SM;

fn count(resource: &CUdevResource) -> u32 {
    assert_eq!(resource.type_, SM);
    // SAFETY: the type says that this member is set.
    unsafe { resource.u.sm }.smCount
}

fn whole_device() -> CUdevResource {
    fns();
    let mut resource = CUdevResource::zeroed();
    ok!(cuDeviceGetDevResource(0, &mut resource, SM));
    resource
}

/// Returns a green context on the smallest group of multiprocessors and the context for pushing it.
fn green() -> (CUgreenCtx, CUcontext) {
    let whole = whole_device();
    let (mut one, mut part) = (1, CUdevResource::zeroed());
    ok!(cuDevSmResourceSplitByCount(&mut part, &mut one, &whole, null_mut(), 0, 1));
    let mut description = CUdevResourceDesc::null();
    ok!(cuDevResourceGenerateDesc(&mut description, &mut part, 1));
    let (mut green, mut context) = (CUgreenCtx::null(), CUcontext::null());
    let flags = CUgreenCtxCreate_flags::CU_GREEN_CTX_DEFAULT_STREAM.0;
    ok!(cuGreenCtxCreate(&mut green, description, 0, flags));
    ok!(cuCtxFromGreenCtx(&mut context, green));
    (green, context)
}

fn push(context: CUcontext) {
    ok!(cuCtxPushCurrent_v2(context));
}

fn pop() -> CUcontext {
    let mut popped = CUcontext::null();
    ok!(cuCtxPopCurrent_v2(&mut popped));
    popped
}

#[test]
fn multiprocessors_are_split_without_loss() {
    let whole = whole_device();
    let total = count(&whole);
    let mut most = 0;
    ok!(cuDevSmResourceSplitByCount(null_mut(), &mut most, &whole, null_mut(), 1, 1));
    let mut groups = vec![CUdevResource::zeroed(); total as usize];
    let (mut found, mut rest) = (total, whole);
    ok!(cuDevSmResourceSplitByCount(groups.as_mut_ptr(), &mut found, &whole, &mut rest, 1, 1));
    assert_eq!(found, most);
    let left = if rest.type_ == SM { count(&rest) } else { 0 };
    assert_eq!(groups[..found as usize].iter().map(count).sum::<u32>() + left, total);
    let mut split =
        |groups: *mut CUdevResource, number: &mut u32, input: *const CUdevResource, flags, min| {
            code!(cuDevSmResourceSplitByCount(groups, number, input, &mut rest, flags, min))
        };
    let too_many = CUresult::CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    assert_eq!(split(groups.as_mut_ptr(), &mut found, &whole, 0, total + 1), too_many);
    let part = groups[0];
    assert_eq!(split(groups.as_mut_ptr(), &mut found, &part, 0, 1), too_many, "what was divided");
    assert_eq!(split(groups.as_mut_ptr(), &mut found, &whole, 3, 1), CUresult::CUDA_ERROR_INVALID_VALUE);
    assert_eq!(split(groups.as_mut_ptr(), &mut 0, &whole, 0, 1), CUresult::CUDA_ERROR_INVALID_VALUE);
    let none = CUdevResource::zeroed();
    let no_kind = CUresult::CUDA_ERROR_INVALID_RESOURCE_TYPE;
    assert_eq!(split(groups.as_mut_ptr(), &mut found, &none, 0, 1), no_kind);
}

#[test]
fn multiprocessors_are_split_into_groups_of_their_own_sizes() {
    let whole = whole_device();
    let mut asked = [CU_DEV_SM_RESOURCE_GROUP_PARAMS::zeroed()];
    asked[0].flags = CUdevSmResourceGroup_flags::CU_DEV_SM_RESOURCE_GROUP_BACKFILL.0;
    let (mut group, mut rest) = (CUdevResource::zeroed(), whole);
    let params = asked.as_mut_ptr();
    ok!(cuDevSmResourceSplit(&mut group, 1, &whole, &mut rest, 0, params));
    assert_eq!((count(&group), asked[0].smCount), (count(&whole), count(&whole)), "all that there are");
    assert_eq!(rest.type_, CUdevResourceType::CU_DEV_RESOURCE_TYPE_INVALID);
    asked[0].smCount = count(&whole) + 1;
    let params = asked.as_mut_ptr();
    let refused = code!(cuDevSmResourceSplit(&mut group, 1, &whole, &mut rest, 0, params));
    assert_eq!(refused, CUresult::CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
}

#[test]
fn other_resources_are_of_no_kind_that_the_device_has() {
    let mut resource = whole_device();
    let no_kind = CUresult::CUDA_ERROR_INVALID_RESOURCE_TYPE;
    for kind in [0, 2, 1000, 10000] {
        assert_eq!(code!(cuDeviceGetDevResource(0, &mut resource, CUdevResourceType(kind))), no_kind);
    }
    let device = code!(cuDeviceGetDevResource(99, &mut resource, SM));
    assert_eq!(device, CUresult::CUDA_ERROR_INVALID_DEVICE);
    let null = code!(cuCtxGetDevResource(CUcontext::null(), &mut resource, SM));
    assert_eq!(null, CUresult::CUDA_ERROR_INVALID_CONTEXT);
}

#[test]
fn a_green_context_runs_on_its_own_streams() {
    let (green, context) = green();
    let mut again = CUcontext::null();
    ok!(cuCtxFromGreenCtx(&mut again, green));
    assert_eq!(again, context);
    let (mut share, mut of_context) = (CUdevResource::zeroed(), CUdevResource::zeroed());
    ok!(cuGreenCtxGetDevResource(green, &mut share, SM));
    ok!(cuCtxGetDevResource(context, &mut of_context, SM));
    assert_eq!(count(&share), count(&of_context));

    push(context);
    let mut current = CUcontext::null();
    ok!(cuCtxGetCurrent(&mut current));
    assert_eq!(current, context);
    let (mut id, mut of_green) = (0, 0);
    ok!(cuCtxGetId(CUcontext::null(), &mut id));
    ok!(cuGreenCtxGetId(green, &mut of_green));
    assert_eq!(id, of_green);
    let (mut own, mut plain) = (CUstream::null(), CUstream::null());
    let non_blocking = CUstream_flags::CU_STREAM_NON_BLOCKING.0;
    let blocking = code!(cuGreenCtxStreamCreate(&mut own, green, 0, 0));
    assert_eq!(blocking, CUresult::CUDA_ERROR_INVALID_VALUE);
    ok!(cuGreenCtxStreamCreate(&mut own, green, non_blocking, 0));
    ok!(cuStreamCreate(&mut plain, 0));
    for stream in [own, plain, CUstream::null()] {
        let (mut of_stream, mut its_context) = (CUgreenCtx::null(), CUcontext::null());
        ok!(cuStreamGetGreenCtx(stream, &mut of_stream));
        ok!(cuStreamGetCtx(stream, &mut its_context));
        assert_eq!((of_stream, its_context), (green, context));
        ok!(cuStreamGetDevResource(stream, &mut of_context, SM));
        assert_eq!(count(&share), count(&of_context));
        let mut flags = 0;
        ok!(cuStreamGetFlags(stream, &mut flags));
        assert_eq!(flags, non_blocking);
    }
    let per_thread = code!(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    assert_eq!(per_thread, CUresult::CUDA_ERROR_INVALID_HANDLE);
    let (memory, done) = (alloc(16), event(0));
    ok!(cuMemsetD32Async(memory, 7, 4, own));
    ok!(cuGreenCtxRecordEvent(green, done));
    ok!(cuGreenCtxWaitEvent(green, done));
    ok!(cuEventSynchronize(done));
    assert_eq!(read::<u32>(memory, 4), [7; 4]);
    ok!(cuMemFree_v2(memory));
    assert_eq!(code!(cuCtxDestroy_v2(context)), CUresult::CUDA_ERROR_INVALID_CONTEXT);
    for stream in [own, plain] {
        ok!(cuStreamDestroy_v2(stream));
    }
    assert_eq!(pop(), context);
    ok!(cuGreenCtxDestroy(green));
}

#[test]
fn memory_of_a_green_context_is_that_of_the_primary_one() {
    let ((green, context), mut primary) = (green(), CUcontext::null());
    ok!(cuDevicePrimaryCtxRetain(&mut primary, 0));
    assert_ne!(context, primary);
    let not_now = CUresult::CUDA_ERROR_NOT_PERMITTED;
    assert_eq!(code!(cuDevicePrimaryCtxReset_v2(0)), not_now, "with a green context");
    push(context);
    let (memory, mut stream) = (alloc(16), CUstream::null());
    ok!(cuGreenCtxStreamCreate(&mut stream, green, CUstream_flags::CU_STREAM_NON_BLOCKING.0, 0));
    pop();
    push(primary);
    ok!(cuMemsetD32_v2(memory, 3, 4));
    ok!(cuMemsetD32Async(memory, 5, 2, stream));
    ok!(cuStreamSynchronize(stream));
    ok!(cuGreenCtxDestroy(green));
    let destroyed = CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED;
    assert_eq!(code!(cuStreamQuery(stream)), destroyed);
    assert_eq!(code!(cuMemsetD32Async(memory, 5, 2, stream)), destroyed);
    assert_eq!(code!(cuStreamDestroy_v2(stream)), destroyed);
    assert_eq!(code!(cuGreenCtxDestroy(green)), destroyed);
    assert_eq!(read::<u32>(memory, 4), [5, 5, 3, 3]);
    ok!(cuMemFree_v2(memory));
    pop();
    ok!(cuDevicePrimaryCtxRelease_v2(0));
}

#[test]
fn a_green_context_that_is_destroyed_stays_current() {
    let (green, context) = green();
    push(context);
    ok!(cuGreenCtxDestroy(green));
    let mut current = CUcontext::null();
    ok!(cuCtxGetCurrent(&mut current));
    assert_eq!(current, context);
    let destroyed = CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED;
    assert_eq!(code!(cuCtxSynchronize()), destroyed);
    let mut memory = 0;
    assert_eq!(code!(cuMemAlloc_v2(&mut memory, 16)), destroyed);
    assert_eq!(pop(), context);
}
