//! Green contexts: shares of the multiprocessors, and streams that belong to them.

use core::ptr::null_mut;

use crate::common::*;
use cuprum_sys::*;

const SM: CUdevResourceType = CUdevResourceType::CU_DEV_RESOURCE_TYPE_SM;

fn count(resource: &CUdevResource) -> u32 {
    assert_eq!(resource.type_, SM);
    // SAFETY: the type says that this is the member.
    unsafe { resource.u.sm }.smCount
}

fn whole_device() -> CUdevResource {
    fns();
    let mut resource = CUdevResource::zeroed();
    ok!(cuDeviceGetDevResource(0, &mut resource, SM));
    resource
}

#[test]
fn multiprocessors_are_split_without_loss() {
    let whole = whole_device();
    let total = count(&whole);
    let mut most = 0;
    ok!(cuDevSmResourceSplitByCount(null_mut(), &mut most, &whole, null_mut(), 0, 1));
    assert_eq!(most, total);
    let mut groups = vec![CUdevResource::zeroed(); most as usize];
    let mut rest = whole;
    ok!(cuDevSmResourceSplitByCount(groups.as_mut_ptr(), &mut most, &whole, &mut rest, 0, 1));
    assert!(groups.iter().all(|group| count(group) == 1));
    assert_eq!(rest.type_, CUdevResourceType::CU_DEV_RESOURCE_TYPE_INVALID, "nothing is left");

    let mut one = 1;
    ok!(cuDevSmResourceSplitByCount(groups.as_mut_ptr(), &mut one, &whole, &mut rest, 0, 1));
    let left = if total == 1 { 0 } else { count(&rest) };
    assert_eq!(count(&groups[0]) + left, total);
    assert_eq!(
        code!(cuDevSmResourceSplitByCount(groups.as_mut_ptr(), &mut one, &whole, &mut rest, 0, total + 1)),
        CUresult::CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION
    );
}

#[test]
fn a_green_context_runs_on_its_own_streams() {
    let whole = whole_device();
    let (mut one, mut part) = (1, CUdevResource::zeroed());
    ok!(cuDevSmResourceSplitByCount(&mut part, &mut one, &whole, null_mut(), 0, 1));
    let mut description = CUdevResourceDesc::null();
    ok!(cuDevResourceGenerateDesc(&mut description, &mut part, 1));
    let mut green = CUgreenCtx::null();
    let flags = CUgreenCtxCreate_flags::CU_GREEN_CTX_DEFAULT_STREAM.0;
    assert_eq!(
        code!(cuGreenCtxCreate(&mut green, description, 0, 0)),
        CUresult::CUDA_ERROR_INVALID_VALUE,
        "the flag is compulsory"
    );
    ok!(cuGreenCtxCreate(&mut green, description, 0, flags));
    let mut share = CUdevResource::zeroed();
    ok!(cuGreenCtxGetDevResource(green, &mut share, SM));
    assert_eq!(count(&share), 1);

    let mut context = CUcontext::null();
    ok!(cuCtxFromGreenCtx(&mut context, green));
    ok!(cuCtxPushCurrent_v2(context));
    let mut stream = CUstream::null();
    ok!(cuGreenCtxStreamCreate(&mut stream, green, CUstream_flags::CU_STREAM_NON_BLOCKING.0, 0));
    let mut of_stream = CUgreenCtx::null();
    ok!(cuStreamGetGreenCtx(stream, &mut of_stream));
    assert_eq!(of_stream, green);
    ok!(cuStreamGetDevResource(stream, &mut share, SM));
    assert_eq!(count(&share), 1);
    ok!(cuStreamGetGreenCtx(CUstream::null(), &mut of_stream));
    assert!(of_stream.is_null());

    let (memory, done) = (alloc(16), event(0));
    ok!(cuMemsetD32Async(memory, 7, 4, stream));
    ok!(cuGreenCtxRecordEvent(green, done));
    ok!(cuGreenCtxWaitEvent(green, done));
    ok!(cuEventSynchronize(done));
    assert_eq!(read::<u32>(memory, 4), [7; 4]);
    ok!(cuMemFree_v2(memory));
    ok!(cuStreamDestroy_v2(stream));
    let mut popped = CUcontext::null();
    ok!(cuCtxPopCurrent_v2(&mut popped));
    ok!(cuGreenCtxDestroy(green));
    assert_eq!(code!(cuGreenCtxDestroy(green)), CUresult::CUDA_ERROR_INVALID_HANDLE);
}
