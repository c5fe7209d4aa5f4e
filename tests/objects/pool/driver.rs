//! Pools of the driver.

use cuprum::pool::{MemoryPool, PoolAccess, PoolAttribute as A, PoolOptions, PoolPlace, StreamBuffer};
use cuprum::sys::{CUmemPool_attribute, CUresult};
use cuprum::{MemoryError, Stream};

use crate::common::{device, driver, in_context};

fn on_device() -> PoolOptions {
    PoolOptions::new(PoolPlace::Device(device()))
}

#[test]
fn it_counts_used_memory_and_returns_unused_memory() {
    in_context(|cx| {
        let pool = MemoryPool::new(driver(), &on_device()).unwrap();
        let stream = Stream::new(cx).unwrap();
        pool.set_attribute(A::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, u64::MAX).unwrap();
        assert_eq!(pool.attribute(A::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD), Ok(u64::MAX));
        let mut buffer = StreamBuffer::<u8>::alloc_from(cx, &stream, &pool, 3 << 20).unwrap();
        cx.fill(&mut buffer, 7).unwrap();
        assert_eq!(buffer.to_vec(cx).unwrap(), vec![7; 3 << 20]);
        assert!(pool.attribute(A::CU_MEMPOOL_ATTR_USED_MEM_CURRENT).unwrap() >= 3 << 20);
        assert!(pool.attribute(A::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT).unwrap() >= 3 << 20);
        drop(buffer);
        stream.synchronize(cx).unwrap();
        pool.trim_to(0).unwrap();
        assert_eq!(pool.attribute(A::CU_MEMPOOL_ATTR_USED_MEM_CURRENT), Ok(0));
        assert_eq!(pool.attribute(A::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), Ok(0));
        assert!(pool.attribute(A::CU_MEMPOOL_ATTR_USED_MEM_HIGH).unwrap() >= 3 << 20);
        pool.set_attribute(A::CU_MEMPOOL_ATTR_USED_MEM_HIGH, 0).unwrap();
        assert_eq!(pool.attribute(A::CU_MEMPOOL_ATTR_USED_MEM_HIGH), Ok(0));
        let invalid = pool.set_attribute(A::CU_MEMPOOL_ATTR_USED_MEM_CURRENT, 0).unwrap_err();
        assert_eq!(invalid.code(), CUresult::CUDA_ERROR_INVALID_VALUE);
        assert!(pool.attribute(CUmemPool_attribute(9999)).is_err());
        pool.close().unwrap();
    });
}

#[test]
fn a_flag_is_read_and_written_in_its_own_width() {
    let pool = MemoryPool::new(driver(), &on_device()).unwrap();
    for value in [0, 1] {
        pool.set_attribute(A::CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, value).unwrap();
        assert_eq!(pool.attribute(A::CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC), Ok(value));
    }
}

#[test]
fn memory_outlives_the_pool() {
    in_context(|cx| {
        let stream = Stream::new(cx).unwrap();
        let pool = MemoryPool::new(driver(), &on_device()).unwrap();
        let mut buffer = StreamBuffer::<u32>::alloc_from(cx, &stream, &pool, 100).unwrap();
        drop(pool);
        cx.fill(&mut buffer, 5).unwrap();
        assert_eq!(buffer.to_vec(cx).unwrap(), [5; 100]);
        buffer.close().unwrap();
    });
}

#[test]
fn a_pool_has_no_more_than_it_may() {
    in_context(|cx| {
        let stream = Stream::new(cx).unwrap();
        let pool = MemoryPool::new(driver(), &PoolOptions { max_bytes: 32 << 20, ..on_device() }).unwrap();
        let held = StreamBuffer::<u8>::alloc_from(cx, &stream, &pool, 20 << 20).unwrap();
        let refused = StreamBuffer::<u8>::alloc_from(cx, &stream, &pool, 20 << 20).unwrap_err();
        let MemoryError::NoRoom { bytes, used, .. } = refused else { panic!("{refused}") };
        assert_eq!(bytes, 20 << 20);
        assert!((20 << 20..=32 << 20).contains(&used), "{used}");
        held.close().unwrap();
        stream.synchronize(cx).unwrap();
        StreamBuffer::<u8>::alloc_from(cx, &stream, &pool, 20 << 20).unwrap().close().unwrap();
    });
}

#[test]
fn the_device_reaches_its_own_pool() {
    let pool = MemoryPool::new(driver(), &on_device()).unwrap();
    let both = PoolAccess::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    assert_eq!(pool.access(device()), Ok(both));
    pool.set_access(&[(device(), both)]).unwrap();
    assert!(pool.set_access(&[(device(), PoolAccess::CU_MEM_ACCESS_FLAGS_PROT_NONE)]).is_err());
}

#[test]
fn the_default_pool_is_the_current_one_by_default() {
    let (device, driver) = (device(), driver());
    let place = PoolPlace::Device(device);
    let pool = driver.default_pool(place).unwrap();
    assert!(!pool.as_raw().is_null());
    assert!(!driver.current_pool(place).unwrap().is_null());
    driver.set_current_pool(place, &pool).unwrap();
    assert_eq!(driver.current_pool(place), Ok(pool.as_raw()));
    match driver.default_pool(PoolPlace::Host) {
        Ok(host) => {
            driver.set_current_pool(PoolPlace::Host, &host).unwrap();
            assert_eq!(driver.current_pool(PoolPlace::Host), Ok(host.as_raw()));
            assert_ne!(host.as_raw(), pool.as_raw());
        }
        // A driver before CUDA 13.0, or without such pools.
        Err(error) => assert!(error.code() == cuprum::Error::UNRESOLVED || is_refused(error), "{error}"),
    }
}

/// True for the driver's errors of a location without pools.
fn is_refused(error: cuprum::Error) -> bool {
    use cuprum::sys::CUresult;

    [CUresult::CUDA_ERROR_NOT_SUPPORTED, CUresult::CUDA_ERROR_INVALID_VALUE].contains(&error.code())
}

#[test]
fn memory_of_the_host_has_pools_too() {
    in_context(|cx| {
        let stream = Stream::new(cx).unwrap();
        let pool = match MemoryPool::new(driver(), &PoolOptions::new(PoolPlace::HostNode(0))) {
            Ok(pool) => pool,
            // A driver before CUDA 12.8.
            Err(error) => return assert_eq!(error.code(), CUresult::CUDA_ERROR_INVALID_VALUE),
        };
        pool.set_access(&[(device(), PoolAccess::CU_MEM_ACCESS_FLAGS_PROT_READWRITE)]).unwrap();
        let mut buffer = StreamBuffer::<u32>::alloc_from(cx, &stream, &pool, 100).unwrap();
        cx.fill(&mut buffer, 9).unwrap();
        stream.synchronize(cx).unwrap();
    });
}

#[cfg(unix)]
#[test]
fn a_pool_and_its_memory_go_to_others_by_a_descriptor_and_bytes() {
    use std::os::fd::AsFd;

    in_context(|cx| {
        let stream = Stream::new(cx).unwrap();
        let pool = MemoryPool::new(driver(), &PoolOptions { shareable: true, ..on_device() }).unwrap();
        let plain = MemoryPool::new(driver(), &on_device()).unwrap();
        assert_eq!(plain.export().unwrap_err().code(), CUresult::CUDA_ERROR_INVALID_VALUE);
        let nothing = std::fs::File::open("/dev/null").unwrap();
        assert!(MemoryPool::import(driver(), nothing.as_fd()).is_err());
        let theirs = MemoryPool::import(driver(), pool.export().unwrap().as_fd()).unwrap();
        assert!(StreamBuffer::<u8>::alloc_from(cx, &stream, &theirs, 1).is_err());
        let mut buffer = StreamBuffer::<u32>::alloc_from(cx, &stream, &pool, 100).unwrap();
        cx.fill(&mut buffer, 6).unwrap();
        let pointer = buffer.export(cx).unwrap();
        // SAFETY: as many elements, filled before on the same stream, and freed after.
        let imported = unsafe { StreamBuffer::<u32>::import(cx, &stream, &theirs, pointer, 100) }.unwrap();
        assert_eq!(imported.to_vec(cx).unwrap(), [6; 100]);
        imported.close().unwrap();
        stream.synchronize(cx).unwrap();
        assert_eq!(buffer.to_vec(cx).unwrap(), [6; 100]);
        // SAFETY: refused.
        assert!(unsafe { StreamBuffer::<u32>::import(cx, &stream, &theirs, [1; 64], 100) }.is_err());
    });
}
