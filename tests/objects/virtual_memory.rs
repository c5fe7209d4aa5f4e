//! Reservations, physical memory and mappings, in every order in which they can be dropped.

use cuprum::memory::{
    Granularity, Mapping, MemoryAccess, MemoryLocation, Multicast, PhysicalFlags, PhysicalMemory, Reservation,
};
use cuprum::sys::{CUdevice_attribute, CUresult};
use cuprum::{Buffer, Current, MemoryError, Stream};

use crate::common::{context, in_context};

const NONE: PhysicalFlags = PhysicalFlags::empty();

fn here(cx: &Current<'_, '_>) -> MemoryLocation {
    MemoryLocation::Device(cx.context().device())
}

fn granule(cx: &Current<'_, '_>) -> usize {
    let driver = cx.context().driver();
    PhysicalMemory::granularity(driver, here(cx), NONE, Granularity::CU_MEM_ALLOC_GRANULARITY_MINIMUM)
        .unwrap()
}

fn physical(cx: &Current<'_, '_>, granules: usize) -> PhysicalMemory {
    PhysicalMemory::new(cx.context().driver(), here(cx), granules * granule(cx), NONE).unwrap()
}

fn reserved(cx: &Current<'_, '_>, granules: usize) -> Reservation {
    Reservation::new(cx.context().driver(), granules * granule(cx), 0).unwrap()
}

#[test]
fn a_mapping_is_memory_like_any_other_and_keeps_what_it_needs() {
    in_context(|cx| {
        let (addresses, memory) = (reserved(cx, 2), physical(cx, 1));
        let mut mapping: Mapping<'_, u32> = addresses.map(cx, 0, &memory).unwrap();
        assert_eq!(mapping.as_raw(), addresses.as_raw());
        assert_eq!(mapping.len() * 4, granule(cx));
        memory.close().unwrap();
        drop(addresses);
        cx.fill(&mut mapping, 7).unwrap();
        let stream = Stream::non_blocking(cx).unwrap();
        let host = [1, 2, 3];
        cx.scope_as(&stream, |scope| -> Result<(), MemoryError> {
            let first = mapping.slice_mut(..3).unwrap();
            scope.copy(&scope.lend(first)?, &host)
        })
        .unwrap();
        assert_eq!(mapping.slice(..5).unwrap().to_vec(cx).unwrap(), [1, 2, 3, 7, 7]);
        assert!(mapping.slice(mapping.len()..=mapping.len()).is_none());
        mapping.close().unwrap();
    });
}

#[test]
fn it_grows_in_place_and_shrinks_again() {
    in_context(|cx| {
        let (addresses, granule) = (reserved(cx, 3), granule(cx));
        let mut mapping: Mapping<'_, u8> = addresses.map(cx, 0, &physical(cx, 1)).unwrap();
        cx.fill(&mut mapping, 1).unwrap();
        mapping.extend(cx, &physical(cx, 2)).unwrap();
        assert_eq!((mapping.chunks(), mapping.bytes()), (2, 3 * granule));
        // Across the border.
        let border = granule - 2..granule + 2;
        cx.fill(&mut mapping.slice_mut(granule..).unwrap(), 2).unwrap();
        assert_eq!(mapping.slice(border.clone()).unwrap().to_vec(cx).unwrap(), [1, 1, 2, 2]);
        cx.copy(&mut mapping.slice_mut(border.clone()).unwrap(), &[5, 6, 7, 8]).unwrap();
        assert_eq!(mapping.slice(border).unwrap().to_vec(cx).unwrap(), [5, 6, 7, 8]);
        let full = mapping.extend(cx, &physical(cx, 1)).unwrap_err();
        let (offset, bytes, reserved) = (3 * granule, granule, 3 * granule);
        assert_eq!(full, MemoryError::Unreserved { offset, bytes, reserved });
        assert!(mapping.unmap_last().unwrap());
        assert_eq!(mapping.slice(granule - 2..).unwrap().to_vec(cx).unwrap(), [5, 6]);
        mapping.extend(cx, &physical(cx, 1)).unwrap();
        assert!(mapping.unmap_last().unwrap() && mapping.unmap_last().unwrap());
        assert_eq!((mapping.unmap_last().unwrap(), mapping.len(), mapping.as_raw()), (false, 0, 0));
        assert!(mapping.extend(cx, &physical(cx, 1)).is_err());
        assert!(mapping.physical(0).is_err());
    });
}

#[test]
fn mappings_of_one_reservation_never_overlap() {
    in_context(|cx| {
        let (addresses, granule) = (reserved(cx, 4), granule(cx));
        let (one, two) = (physical(cx, 1), physical(cx, 2));
        let first: Mapping<'_, u8> = addresses.map(cx, granule, &two).unwrap();
        for (offset, memory) in [(granule, &one), (2 * granule, &two), (0, &two)] {
            let refused = addresses.clone().map::<u8>(cx, offset, memory).unwrap_err();
            assert_eq!(refused, MemoryError::Mapped { offset, bytes: memory.bytes() });
        }
        let (before, behind) = (
            addresses.map::<u8>(cx, 0, &one).unwrap(),
            // The same memory at two addresses.
            addresses.map::<u8>(cx, 3 * granule, &one).unwrap(),
        );
        assert!(matches!(addresses.map::<u8>(cx, 3 * granule, &two), Err(MemoryError::Unreserved { .. })));
        assert!(addresses.map::<u8>(cx, usize::MAX - granule + 1, &one).is_err());
        drop(first);
        let mut again: Mapping<'_, u8> = addresses.map(cx, granule, &two).unwrap();
        cx.fill(&mut again, 4).unwrap();
        drop((before, behind, again));
        // The driver refuses an offset that is no multiple, and the refusal has no effect.
        let refused = addresses.map::<u8>(cx, 16, &one).unwrap_err();
        assert!(
            matches!(refused, MemoryError::Driver(error) if error.code() == CUresult::CUDA_ERROR_INVALID_VALUE)
        );
        assert!(addresses.map::<u8>(cx, 0, &two).is_ok());
    });
}

#[test]
fn memory_mapped_twice_is_the_same_memory() {
    in_context(|cx| {
        let (addresses, memory) = (reserved(cx, 2), physical(cx, 1));
        let mut one: Mapping<'_, u32> = addresses.map(cx, 0, &memory).unwrap();
        let other: Mapping<'_, u32> = addresses.map(cx, granule(cx), &memory).unwrap();
        cx.fill(&mut one, 3).unwrap();
        assert_eq!(other.slice(..2).unwrap().to_vec(cx).unwrap(), [3, 3]);
        let again = one.physical(0).unwrap();
        assert_eq!((again.as_raw(), again.bytes()), (memory.as_raw(), memory.bytes()));
        drop((one, memory));
        // The handle that was got from the mapping keeps the memory.
        let third: Mapping<'_, u32> = addresses.map(cx, 0, &again).unwrap();
        assert_eq!(third.slice(..2).unwrap().to_vec(cx).unwrap(), [3, 3]);
    });
}

#[test]
fn what_is_unmapped_was_waited_for() {
    in_context(|cx| {
        let addresses = reserved(cx, 1);
        let source = Buffer::from_slice(cx, &vec![8u8; granule(cx)]).unwrap();
        for _ in 0..20 {
            let mut mapping: Mapping<'_, u8> = addresses.map(cx, 0, &physical(cx, 1)).unwrap();
            // Queued, and the host goes on: the memory must exist until they are done.
            cx.fill(&mut mapping, 1).unwrap();
            cx.copy(&mut mapping, &source).unwrap();
            drop(mapping);
            cx.synchronize().unwrap();
        }
    });
}

#[test]
fn a_forgotten_mapping_keeps_its_addresses() {
    in_context(|cx| {
        let addresses = reserved(cx, 1);
        let mapping: Mapping<'_, u8> = addresses.map(cx, 0, &physical(cx, 1)).unwrap();
        std::mem::forget(mapping);
        assert!(matches!(addresses.map::<u8>(cx, 0, &physical(cx, 1)), Err(MemoryError::Mapped { .. })));
        let first = addresses.as_raw();
        drop(addresses);
        let next = reserved(cx, 1);
        assert_ne!(next.as_raw(), first, "the addresses were given out again");
    });
}

#[test]
fn sizes_that_are_no_multiple_are_explained() {
    in_context(|cx| {
        let (driver, granularity) = (cx.context().driver(), granule(cx));
        for bytes in [0, 1, granularity - 1, granularity + 4096] {
            let refused = PhysicalMemory::new(driver, here(cx), bytes, NONE).unwrap_err();
            assert_eq!(refused, MemoryError::Granularity { bytes, granularity });
            assert!(refused.to_string().contains(&granularity.to_string()), "{refused}");
            let refused = Reservation::new(driver, bytes, 0).unwrap_err();
            assert_eq!(refused.code(), CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        let refused = Reservation::new(driver, granularity, 3).unwrap_err();
        assert_eq!(refused.code(), CUresult::CUDA_ERROR_INVALID_VALUE);
        let aligned = Reservation::new(driver, granularity, 16 * granularity).unwrap();
        assert_eq!(aligned.as_raw() % (16 * granularity as u64), 0);
        let recommended = PhysicalMemory::granularity(
            driver,
            here(cx),
            NONE,
            Granularity::CU_MEM_ALLOC_GRANULARITY_RECOMMENDED,
        )
        .unwrap();
        assert_eq!(recommended % granularity, 0);
        let near = Reservation::near(driver, granularity, 0, aligned.as_raw()).unwrap();
        assert_ne!(near.as_raw(), aligned.as_raw(), "taken");
    });
}

#[test]
fn properties_and_access_are_reported() {
    in_context(|cx| {
        let (driver, memory) = (cx.context().driver(), physical(cx, 1));
        assert_eq!(memory.properties(driver).unwrap(), (Some(here(cx)), NONE));
        let addresses = reserved(cx, 1);
        let mut mapping: Mapping<'_, u8> = addresses.map(cx, 0, &memory).unwrap();
        assert_eq!(mapping.access(here(cx)).unwrap(), MemoryAccess::CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
        let refused = mapping.set_access(here(cx), MemoryAccess::CU_MEM_ACCESS_FLAGS_PROT_READ).unwrap_err();
        assert_eq!(refused, MemoryError::OwnAccess);
        if let Ok(other) = driver.device(1) {
            let other = MemoryLocation::Device(other);
            assert_eq!(mapping.access(other).unwrap(), MemoryAccess::CU_MEM_ACCESS_FLAGS_PROT_NONE);
            mapping.set_access(other, MemoryAccess::CU_MEM_ACCESS_FLAGS_PROT_READ).unwrap();
            assert_eq!(mapping.access(other).unwrap(), MemoryAccess::CU_MEM_ACCESS_FLAGS_PROT_READ);
        }
        cx.fill(&mut mapping, 1).unwrap();
        let info = driver.pointer_info(mapping.as_raw() + 5).unwrap();
        assert_eq!((info.start, info.bytes), (mapping.as_raw(), memory.bytes()));
    });
}

#[test]
fn it_is_dropped_on_another_thread_and_in_a_shared_context() {
    let context = context().share();
    let (addresses, mapping) = context
        .enter(|cx| {
            let addresses = reserved(cx, 1);
            let mut mapping: Mapping<'static, u8> = addresses.map(cx, 0, &physical(cx, 1)).unwrap();
            cx.fill(&mut mapping, 1).unwrap();
            Ok((addresses, mapping))
        })
        .unwrap();
    std::thread::spawn(move || drop(mapping)).join().unwrap();
    let again = context.enter(|cx| Ok(addresses.map::<u8>(cx, 0, &physical(cx, 1)).map(drop))).unwrap();
    assert!(again.is_ok(), "it was unmapped there: {again:?}");
}

#[test]
fn memory_of_another_context_is_extended_there_only() {
    in_context(|cx| {
        let addresses = reserved(cx, 2);
        let mut mapping: Mapping<'_, u8> = addresses.map(cx, 0, &physical(cx, 1)).unwrap();
        let more = physical(cx, 1);
        let other = context();
        let cx = cx.push(&other).unwrap();
        let refused = mapping.extend(&cx, &more).unwrap_err();
        assert!(
            matches!(refused, MemoryError::Driver(error) if error.code() == cuprum::Error::WRONG_CONTEXT)
        );
    });
}

/// As a file descriptor, where the device has that: in this process, as it would be in another.
#[cfg(unix)]
#[test]
fn memory_is_exported_and_imported() {
    use std::os::fd::AsFd;

    in_context(|cx| {
        let driver = cx.context().driver();
        let attribute = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED;
        let can = cx.context().device().attribute(attribute).unwrap() != 0;
        let shareable = PhysicalMemory::new(driver, here(cx), granule(cx), PhysicalFlags::SHAREABLE);
        if !can {
            let refused = shareable.unwrap_err();
            assert!(
                matches!(refused, MemoryError::Driver(error) if error.code() == CUresult::CUDA_ERROR_NOT_SUPPORTED)
            );
            return;
        }
        let memory = shareable.unwrap();
        let descriptor = memory.export().unwrap();
        let imported = PhysicalMemory::import(driver, descriptor.as_fd(), memory.bytes()).unwrap();
        drop(descriptor);
        let addresses = reserved(cx, 4);
        let mut one: Mapping<'_, u32> = addresses.map(cx, 0, &memory).unwrap();
        let other: Mapping<'_, u32> = addresses.map(cx, granule(cx), &imported).unwrap();
        cx.fill(&mut one, 3).unwrap();
        assert_eq!(other.slice(..2).unwrap().to_vec(cx).unwrap(), [3, 3]);
        // It cannot be mapped with a size other than its own.
        // SAFETY: `imported` alone releases the handle; only the size is wrong, and only the driver
        // checks it.
        let wrong = unsafe { PhysicalMemory::from_raw(driver, imported.as_raw(), 2 * memory.bytes()) };
        assert!(addresses.map::<u32>(cx, 2 * granule(cx), &wrong).is_err());
        wrong.into_raw();
        // Nor with size zero. A refused mapping does not affect the mapping at the same address.
        let none = PhysicalMemory::import(driver, memory.export().unwrap().as_fd(), 0).unwrap();
        assert!(addresses.map::<u32>(cx, 0, &none).is_err());
        let refused = addresses.map::<u32>(cx, 0, &imported).unwrap_err();
        assert!(matches!(refused, MemoryError::Mapped { offset: 0, .. }), "{refused:?}");
        assert_eq!(one.slice(..2).unwrap().to_vec(cx).unwrap(), [3, 3]);
    });
}

/// No machine of the tests has multicast, so that all says so.
#[test]
fn multicast_objects_are_refused_where_there_is_no_multicast() {
    in_context(|cx| {
        let device = cx.context().device();
        let attribute = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED;
        if device.attribute(attribute).unwrap() != 0 {
            // Making one is not for tests: it takes the links between devices.
            let least = Multicast::granularity(
                device.driver(),
                2,
                2 << 20,
                Granularity::CU_MEM_ALLOC_GRANULARITY_MINIMUM,
            )
            .unwrap();
            assert!(least.is_power_of_two());
            return;
        }
        let refused = Multicast::new(device.driver(), 1, granule(cx), false).unwrap_err();
        assert!(!refused.is_sticky(), "{refused}");
    });
}
