//! Copies and fills by the token: each kind of memory as a source and as a destination.

use std::sync::Arc;

use cuprum::memory::{
    Array, ArrayFlags, ArrayShape, HostBlock, HostBlockMut, ManagedBuffer, Peer, Pitched, PitchedBuffer,
    PitchedMut,
};
use cuprum::memory::{ForeignBuffer, PinnedFlags, RegisterFlags, Registered};
use cuprum::pool::StreamBuffer;
use cuprum::sys::FnId;
use cuprum::{Buffer, Current, MemoryError, PinnedBuffer, Stream};

use crate::common::{self, context, in_context};

const NONE: ArrayFlags = ArrayFlags::empty();

/// A square of side 2.
const SQUARE: ArrayShape = ArrayShape::TwoD { width: 2, height: 2 };

#[test]
fn memory_of_the_host_by_any_owner() {
    in_context(|cx| {
        let mut device = Buffer::<u32>::zeroed(cx, 3).unwrap();
        let mut pinned = PinnedBuffer::from_slice(cx, &[4u32, 0, 0], PinnedFlags::empty()).unwrap();
        let mut registered = Registered::new(cx, vec![5u32, 0, 0], RegisterFlags::empty()).unwrap();
        let boxed: Box<[u32]> = Box::new([6, 0, 0]);
        let shared: Arc<[u32]> = Arc::new([7, 0, 0]);

        /// The first element, after a copy from one owner to the device.
        macro_rules! first_after {
            ($from:expr) => {{
                cx.copy(&mut device, $from).unwrap();
                device.to_vec(cx).unwrap()[0]
            }};
        }
        assert_eq!(first_after!(&[1, 0, 0][..]), 1);
        assert_eq!(first_after!(&[2, 0, 0]), 2);
        assert_eq!(first_after!(&vec![3, 0, 0]), 3);
        assert_eq!(first_after!(&pinned), 4);
        assert_eq!(first_after!(&registered), 5);
        assert_eq!(first_after!(&boxed), 6);
        assert_eq!(first_after!(&shared), 7);
        assert_eq!(first_after!(&&[8, 0, 0]), 8);

        let (mut array, mut vector, mut boxed) = ([0; 3], vec![0; 3], boxed);
        cx.copy(&mut device, &[1, 2, 3]).unwrap();
        cx.copy(&mut array, &device).unwrap();
        cx.copy(&mut vector, &device).unwrap();
        cx.copy(&mut boxed, &device).unwrap();
        cx.copy(&mut pinned, &device).unwrap();
        cx.copy(&mut registered, &device).unwrap();
        for host in [&array[..], &vector, &boxed, &pinned, &registered] {
            assert_eq!(host, [1, 2, 3]);
        }
        cx.copy(&mut vector[1..], &device.slice(..2).unwrap()).unwrap();
        assert_eq!(vector, [1, 1, 2]);
        // The vector is not made longer or shorter.
        let refused = cx.copy(&mut Vec::new(), &device).unwrap_err();
        assert_eq!(refused, MemoryError::Length { destination_len: 0, source_len: 3 });
    });
}

#[test]
fn memory_of_the_device_by_any_owner() {
    in_context(|cx| {
        let buffer = Buffer::from_slice(cx, &[1u32, 2]).unwrap();
        let mut managed = ManagedBuffer::<u32>::zeroed(cx, 2).unwrap();
        let memory = Buffer::<u32>::zeroed(cx, 2).unwrap();
        // SAFETY: the memory outlives the buffer that borrows it, and only the buffer uses it.
        let mut foreign = unsafe { ForeignBuffer::<u32>::from_raw(cx, memory.as_raw(), 2) }.unwrap();
        let mut boxed = Box::new(Buffer::<u32>::zeroed(cx, 2).unwrap());
        cx.copy(&mut managed, &buffer).unwrap();
        cx.copy(&mut foreign, &managed).unwrap();
        cx.copy(&mut boxed, &foreign).unwrap();
        let shared = Arc::new(boxed);
        let mut last = Buffer::<u32>::zeroed(cx, 2).unwrap();
        cx.copy(&mut last, &shared).unwrap();
        assert_eq!(last.to_vec(cx).unwrap(), [1, 2]);
        let (mut left, right) = last.as_mut_slice().into_split_at(1).unwrap();
        cx.copy(&mut left, &right).unwrap();
        cx.fill(&mut managed, 9).unwrap();
        cx.fill_bytes(&mut foreign, 1).unwrap();
        assert_eq!(last.to_vec(cx).unwrap(), [2, 2]);
        assert_eq!(managed.as_slice().to_vec(cx).unwrap(), [9; 2]);
        assert_eq!(memory.to_vec(cx).unwrap(), [0x0101_0101; 2]);
    });
}

#[test]
fn variables_from_and_to_the_device() {
    in_context(|cx| {
        let module = common::load(
            cx,
            ".version 7.0\n.target sm_75\n.address_size 64\n\
             .visible .global .align 4 .u32 table[2] = {1, 2};\n.visible .entry k() { ret; }\n",
        );
        let mut table = module.global::<u32>("table").unwrap();
        let mut buffer = Buffer::<u32>::zeroed(cx, 2).unwrap();
        cx.copy(&mut buffer, &table).unwrap();
        assert_eq!(buffer.to_vec(cx).unwrap(), [1, 2]);
        cx.fill(&mut buffer, 3).unwrap();
        cx.copy(&mut table, &buffer).unwrap();
        let mut host = [0; 2];
        cx.copy(&mut host, &table).unwrap();
        assert_eq!(host, [3; 2]);
    });
}

#[test]
fn rows_and_arrays_by_any_owner() {
    in_context(|cx| {
        let host = [1u32, 2, 3, 4];
        let mut rows = PitchedBuffer::<u32>::alloc(cx, (2, 2)).unwrap();
        let mut array = Array::<u32>::new(cx, SQUARE, NONE).unwrap();
        let mut shared = Array::<u32>::new(cx, SQUARE, NONE).unwrap().share();
        let mut linear = Buffer::<u32>::zeroed(cx, 4).unwrap();
        cx.copy(&mut rows, &HostBlock::new(&host, (2, 2)).unwrap()).unwrap();
        cx.copy(&mut array, &rows).unwrap();
        cx.copy(&mut shared, &array).unwrap();
        cx.copy(&mut array.view(), &[0; 4]).unwrap();
        cx.copy(&mut array.view(), &shared).unwrap();
        cx.copy(&mut PitchedMut::over(linear.as_mut_slice(), (2, 2)).unwrap(), &array.view()).unwrap();
        assert_eq!(linear.to_vec(cx).unwrap(), host);
        let mut target = [0; 4];
        cx.copy(&mut HostBlockMut::new(&mut target, (2, 2)).unwrap(), &shared).unwrap();
        assert_eq!(target, host);
        let mut target = [0; 4];
        cx.copy(&mut target, &shared).unwrap();
        assert_eq!(target, host);
        cx.fill(&mut rows, 5).unwrap();
        cx.fill_bytes(&mut rows.as_pitched_mut().part(..1, .., ..).unwrap(), 0).unwrap();
        cx.copy(&mut target, &rows.as_pitched_mut()).unwrap();
        assert_eq!(target, [0, 5, 0, 5]);
        let refused = cx.copy(&mut rows, &Pitched::over(linear.as_slice(), (4, 1)).unwrap()).unwrap_err();
        assert!(matches!(refused, MemoryError::Extent { .. }));
    });
}

#[test]
fn memory_in_the_order_of_a_stream() {
    in_context(|cx| {
        let stream = Stream::non_blocking(cx).unwrap();
        let mut first = StreamBuffer::<u16>::alloc(cx, &stream, 3).unwrap();
        let mut second = StreamBuffer::<u16>::zeroed(cx, &stream, 3).unwrap();
        cx.fill(&mut first, 0x0102).unwrap();
        cx.copy(&mut second, &first).unwrap();
        assert_eq!(second.to_vec(cx).unwrap(), [0x0102; 3]);
        cx.copy(&mut first, &[1, 2, 3]).unwrap();
        let mut host = [0; 3];
        cx.copy(&mut host, &first).unwrap();
        assert_eq!(host, [1, 2, 3]);
        cx.fill_bytes(&mut first, 7).unwrap();
        assert_eq!(first.to_vec(cx).unwrap(), [0x0707; 3]);
    });
}

#[test]
fn an_array_from_an_array_of_another_context() {
    let other = context();
    in_context(|cx| {
        let mut mine = Array::<u32>::new(cx, SQUARE, NONE).unwrap();
        let theirs = Array::from_slice(&cx.push(&other).unwrap(), SQUARE, NONE, &[1u32, 2, 3, 4]).unwrap();
        let without = cx.copy(&mut mine, &theirs).unwrap_err();
        assert!(
            matches!(without, MemoryError::Driver(error) if error.code() == cuprum::Error::WRONG_CONTEXT),
            "{without}"
        );
        cx.copy(&mut mine, &Peer(&theirs)).unwrap();
        assert_eq!(mine.to_vec(cx).unwrap(), [1, 2, 3, 4]);
    });
}

#[test]
fn fills_in_another_context_name_the_function_that_was_not_called() {
    let other = context();
    in_context(|cx| {
        /// The function that a fill of elements of one type would have called.
        fn refused<T: cuprum::memory::Fill>(
            cx: &Current<'_, '_>,
            buffer: &mut Buffer<'_, T>,
            value: T,
        ) -> FnId {
            let Err(MemoryError::Driver(error)) = cx.fill(buffer, value) else { panic!("filled") };
            assert!(error.code() == cuprum::Error::WRONG_CONTEXT);
            error.call()
        }
        let (mut bytes, mut halves, mut words) = (
            Buffer::<u8>::zeroed(cx, 4).unwrap(),
            Buffer::<u16>::zeroed(cx, 4).unwrap(),
            Buffer::<f32>::zeroed(cx, 4).unwrap(),
        );
        let there = cx.push(&other).unwrap();
        assert_eq!(refused(&there, &mut bytes, 1), FnId::cuMemsetD8_v2);
        assert_eq!(refused(&there, &mut halves, 1), FnId::cuMemsetD16_v2);
        assert_eq!(refused(&there, &mut words, 1.0), FnId::cuMemsetD32_v2);
    });
}
