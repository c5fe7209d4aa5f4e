//! Attributes of addresses, and copies between contexts.

use cuprum::memory::Peer;
use cuprum::sys::{CUmemorytype, CUpointer_attribute, CUresult};
use cuprum::{Buffer, MemoryError};

use crate::common::{context, driver, in_context};

#[test]
fn addresses_of_buffers_are_identified() {
    in_context(|cx| {
        let (first, second) =
            (Buffer::<u32>::zeroed(cx, 100).unwrap(), Buffer::<u32>::zeroed(cx, 50).unwrap());
        let info = driver().pointer_info(first.as_raw() + 12).unwrap();
        assert_eq!(info.memory_type, Some(CUmemorytype::CU_MEMORYTYPE_DEVICE));
        assert_eq!((info.start, info.device, info.is_managed), (first.as_raw(), Some(0), false));
        assert_eq!((info.context, info.device_address), (cx.context().as_raw(), first.as_raw() + 12));
        assert!(info.bytes >= 400, "{info:?}");
        assert_ne!(info.id, driver().pointer_info(second.as_raw()).unwrap().id);

        let attribute = CUpointer_attribute::CU_POINTER_ATTRIBUTE_BUFFER_ID;
        // SAFETY: the identity is a number of eight bytes.
        assert_eq!(unsafe { driver().pointer_attribute::<u64>(attribute, first.as_raw()) }.unwrap(), info.id);
        driver().set_sync_memops(first.as_raw(), true).unwrap();

        let host = 1u32;
        let info = driver().pointer_info(&raw const host as u64).unwrap();
        assert_eq!((info.memory_type, info.device, info.start), (None, None, 0));
        // SAFETY: as above.
        let refused = unsafe { driver().pointer_attribute::<u64>(attribute, &raw const host as u64) };
        assert_eq!(refused.unwrap_err().code(), CUresult::CUDA_ERROR_INVALID_VALUE);
    });
}

#[test]
fn memory_is_copied_from_another_context() {
    let other = context();
    in_context(|cx| {
        let mut mine = Buffer::<u16>::zeroed(cx, 5).unwrap();
        let theirs = {
            let there = cx.push(&other).unwrap();
            Buffer::from_slice(&there, &[1u16, 2, 3, 4, 5]).unwrap()
        };
        cx.copy(&mut mine, &Peer(&theirs)).unwrap();
        assert_eq!(mine.to_vec(cx).unwrap(), [1, 2, 3, 4, 5]);
        let short = cx.copy(&mut mine, &Peer(&theirs.slice(1..).unwrap())).unwrap_err();
        assert_eq!(short, MemoryError::Length { destination_len: 5, source_len: 4 });
        // The other way is a matter of the other context.
        let mut theirs = theirs;
        let refused = cx.copy(&mut theirs, &Peer(&mine)).unwrap_err();
        let MemoryError::Driver(error) = refused else { panic!("{refused:?}") };
        assert!(error.code() == cuprum::Error::WRONG_CONTEXT);
        drop(theirs);
    });
}

#[test]
fn a_device_is_not_reached_from_itself() {
    let other = context();
    in_context(|cx| {
        let refused = cx.enable_peer_access(&other).unwrap_err();
        assert!(
            [CUresult::CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, CUresult::CUDA_ERROR_INVALID_DEVICE]
                .contains(&refused.code()),
            "{refused}"
        );
    });
}
