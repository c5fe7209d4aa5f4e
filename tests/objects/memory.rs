//! Buffers and slices: lengths, ranges, ownership.

use cuprum::memory::DeviceData;
use cuprum::{Buffer, MemoryError};

use crate::common::in_context;

#[test]
fn data_goes_there_and_back() {
    in_context(|cx| {
        let host: Vec<f32> = (0..1000u16).map(f32::from).collect();
        let mut buffer = Buffer::from_slice(cx, &host).unwrap();
        assert_eq!((buffer.len(), buffer.is_empty()), (1000, false));
        assert_eq!(buffer.to_vec(cx).unwrap(), host);
        let doubled: Vec<f32> = host.iter().map(|x| 2.0 * x).collect();
        cx.copy(&mut buffer, &doubled).unwrap();
        let mut back = vec![0.0; 1000];
        cx.copy(&mut back, &buffer).unwrap();
        assert_eq!(back, doubled);
    });
}

#[test]
fn zeroed_memory_is_zero_even_where_other_bytes_were() {
    in_context(|cx| {
        for _ in 0..3 {
            let dirty = Buffer::from_slice(cx, &[0xAAu8; 4096]).unwrap();
            drop(dirty);
            assert_eq!(Buffer::<u8>::zeroed(cx, 4096).unwrap().to_vec(cx).unwrap(), [0; 4096]);
        }
    });
}

#[test]
fn copies_of_unequal_length_are_refused() {
    in_context(|cx| {
        let mut buffer = Buffer::<u32>::zeroed(cx, 4).unwrap();
        let mut longer = [9; 5];
        let refused = cx.copy(&mut longer, &buffer).unwrap_err();
        assert_eq!(refused, MemoryError::Length { destination_len: 5, source_len: 4 });
        assert_eq!(longer, [9; 5]);
        let refused = cx.copy(&mut buffer, &[1, 2, 3]).unwrap_err();
        assert_eq!(refused, MemoryError::Length { destination_len: 4, source_len: 3 });
        let other = Buffer::<u32>::zeroed(cx, 3).unwrap();
        let refused = cx.copy(&mut buffer, &other).unwrap_err();
        assert_eq!(refused, MemoryError::Length { destination_len: 4, source_len: 3 });
        assert_eq!(buffer.to_vec(cx).unwrap(), [0; 4]);
    });
}

#[test]
fn sizes_that_wrap_are_refused() {
    in_context(|cx| {
        let len = (1usize << 61) + 1;
        let refused = Buffer::<u64>::alloc(cx, len).unwrap_err();
        assert_eq!(refused, MemoryError::TooLarge { len, element_bytes: 8 });
        let refused = Buffer::<u8>::alloc(cx, usize::MAX).unwrap_err();
        assert_eq!(refused, MemoryError::TooLarge { len: usize::MAX, element_bytes: 1 });
    });
}

#[test]
fn more_than_the_device_has_is_out_of_memory() {
    in_context(|cx| {
        let total = cx.memory_info().unwrap().total;
        let MemoryError::Driver(error) = Buffer::<u8>::alloc(cx, total * 2).unwrap_err() else {
            panic!("another error")
        };
        assert_eq!(error.code(), cuprum::sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY);
        assert_eq!(error.call(), cuprum::sys::FnId::cuMemAlloc_v2);
        assert!(!error.is_sticky());
        Buffer::<u8>::alloc(cx, 16).expect("the context is as good as before");
    });
}

#[test]
fn parts_are_read_and_written() {
    in_context(|cx| {
        let mut buffer = Buffer::from_slice(cx, &[0u16, 1, 2, 3, 4, 5, 6, 7]).unwrap();
        assert_eq!(buffer.slice(2..5).unwrap().to_vec(cx).unwrap(), [2, 3, 4]);
        assert_eq!(buffer.slice(..=1).unwrap().to_vec(cx).unwrap(), [0, 1]);
        assert_eq!(buffer.slice(8..).unwrap().to_vec(cx).unwrap(), []);
        cx.copy(&mut buffer.slice_mut(1..3).unwrap(), &[11, 12]).unwrap();
        let (mut low, high) = buffer.as_mut_slice().into_split_at(4).unwrap();
        cx.copy(&mut low.slice_mut(3..).unwrap(), &high.as_slice().slice(3..).unwrap()).unwrap();
        assert_eq!(buffer.to_vec(cx).unwrap(), [0, 11, 12, 7, 4, 5, 6, 7]);
        let mut whole = buffer.as_mut_slice();
        let (mut low, high) = whole.slice_mut(..).unwrap().into_split_at(1).unwrap();
        cx.copy(&mut low, &high.as_slice().slice(..1).unwrap()).unwrap();
        cx.copy(&mut whole.slice_mut(1..2).unwrap(), &[1]).unwrap();
        assert_eq!(buffer.slice(..2).unwrap().to_vec(cx).unwrap(), [11, 1]);
        let (low, high) = buffer.as_slice().split_at(6).unwrap();
        assert_eq!((low.len(), high.to_vec(cx).unwrap()), (6, vec![6, 7]));
    });
}

#[test]
fn ranges_outside_give_none() {
    in_context(|cx| {
        let mut buffer = Buffer::<u64>::zeroed(cx, 8).unwrap();
        assert!(buffer.slice(..9).is_none());
        assert!(buffer.slice(9..).is_none());
        #[expect(clippy::reversed_empty_ranges, reason = "that is the point")]
        let reversed = buffer.slice(5..3);
        assert!(reversed.is_none());
        assert!(buffer.slice(..=usize::MAX).is_none());
        assert!(buffer.slice_mut(usize::MAX..).is_none());
        assert!(buffer.as_slice().split_at(9).is_none());
        assert!(buffer.as_mut_slice().into_split_at(9).is_none());
    });
}

#[test]
fn memory_is_filled_by_elements() {
    in_context(|cx| {
        let mut bytes = Buffer::<i8>::zeroed(cx, 5).unwrap();
        cx.fill(&mut bytes, -3).unwrap();
        assert_eq!(bytes.to_vec(cx).unwrap(), [-3; 5]);
        let mut halves = Buffer::<u16>::zeroed(cx, 5).unwrap();
        cx.fill(&mut halves.slice_mut(1..4).unwrap(), 0x1234).unwrap();
        assert_eq!(halves.to_vec(cx).unwrap(), [0, 0x1234, 0x1234, 0x1234, 0]);
        let mut floats = Buffer::<f32>::zeroed(cx, 3).unwrap();
        cx.fill(&mut floats, -1.5).unwrap();
        assert_eq!(floats.to_vec(cx).unwrap(), [-1.5; 3]);
        cx.fill_bytes(&mut floats, 0x40).unwrap();
        assert_eq!(floats.to_vec(cx).unwrap(), [f32::from_bits(0x4040_4040); 3]);
    });
}

#[test]
fn nothing_is_a_buffer_too() {
    in_context(|cx| {
        let mut empty = Buffer::<u32>::from_slice(cx, &[]).unwrap();
        assert_eq!((empty.as_raw(), empty.len()), (0, 0));
        assert_eq!(empty.to_vec(cx).unwrap(), []);
        cx.fill(&mut empty, 1).unwrap();
        let no_size = Buffer::<[u8; 0]>::zeroed(cx, 3).unwrap();
        assert_eq!(no_size.to_vec(cx).unwrap(), [[0u8; 0]; 3]);
        empty.close().unwrap();
    });
}

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Particle {
    position: [f32; 3],
    charge: i16,
    kind: u16,
}
// SAFETY: numbers in C layout; any bytes are a value.
unsafe impl DeviceData for Particle {}

#[test]
fn structs_are_data() {
    in_context(|cx| {
        let host = [Particle { position: [1.0, 2.0, 3.0], charge: -1, kind: 4 }; 3];
        assert_eq!(Buffer::from_slice(cx, &host).unwrap().to_vec(cx).unwrap(), host);
    });
}

#[test]
fn ownership_can_be_given_away_and_taken_back() {
    in_context(|cx| {
        let address = Buffer::from_slice(cx, &[1u32, 2]).unwrap().into_raw();
        // SAFETY: the address comes from a buffer of this context with two elements, given up
        // above.
        let buffer = unsafe { Buffer::<u32>::from_raw(cx, address, 2) };
        assert_eq!(buffer.to_vec(cx).unwrap(), [1, 2]);
    });
}
