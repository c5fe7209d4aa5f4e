//! Pools of a largest size.

use crate::common::*;
use cuprum_sys::*;

const PAGE: usize = 32 << 20;
const OUT_OF_MEMORY: CUresult = CUresult::CUDA_ERROR_OUT_OF_MEMORY;

fn pool(most: usize) -> CUmemoryPool {
    let props = CUmemPoolProps {
        allocType: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        location: CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: 0 },
        maxSize: most,
        ..CUmemPoolProps::zeroed()
    };
    let mut pool = CUmemoryPool::null();
    ok!(cuMemPoolCreate(&mut pool, &props));
    pool
}

fn most(pool: CUmemoryPool) -> u64 {
    let mut most = 7;
    let attribute = CUmemPool_attribute::CU_MEMPOOL_ATTR_MAX_POOL_SIZE;
    ok!(cuMemPoolGetAttribute(pool, attribute, (&raw mut most).cast()));
    most
}

#[test]
fn a_pool_gives_no_more_than_its_largest_size() {
    let _context = TestContext::new();
    let (stream, pool) = (stream(1), pool(2 * PAGE - 1));
    assert_eq!(most(pool), 2 * PAGE as u64);
    let (mut first, mut second, mut third) = (0, 0, 0);
    ok!(cuMemAllocFromPoolAsync(&mut first, PAGE, pool, stream));
    let too_much = code!(cuMemAllocFromPoolAsync(&mut second, PAGE + 1, pool, stream));
    assert_eq!((too_much, second), (OUT_OF_MEMORY, 0));
    ok!(cuMemAllocFromPoolAsync(&mut second, PAGE, pool, stream));
    assert_eq!(code!(cuMemAllocFromPoolAsync(&mut third, 1, pool, stream)), OUT_OF_MEMORY);
    ok!(cuMemFreeAsync(first, stream));
    ok!(cuMemAllocFromPoolAsync(&mut third, PAGE, pool, stream));
    ok!(cuMemFreeAsync(second, stream));
    ok!(cuMemFreeAsync(third, stream));
    ok!(cuStreamSynchronize(stream));
    let mut used = 7u64;
    let current = CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT;
    ok!(cuMemPoolGetAttribute(pool, current, (&raw mut used).cast()));
    assert_eq!(used, 0);
    ok!(cuMemPoolDestroy(pool));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn a_pool_without_a_largest_size_has_none() {
    let _context = TestContext::new();
    let (stream, pool) = (stream(1), pool(0));
    assert_eq!(most(pool), 0);
    let mut all = 0;
    ok!(cuMemAllocFromPoolAsync(&mut all, 4 * PAGE, pool, stream));
    ok!(cuMemFreeAsync(all, stream));
    let mut other = 1u64;
    let attribute = CUmemPool_attribute::CU_MEMPOOL_ATTR_MAX_POOL_SIZE;
    let set = code!(cuMemPoolSetAttribute(pool, attribute, (&raw mut other).cast()));
    assert_eq!(set, CUresult::CUDA_ERROR_INVALID_VALUE);
    ok!(cuMemPoolDestroy(pool));
    ok!(cuStreamDestroy_v2(stream));
}
