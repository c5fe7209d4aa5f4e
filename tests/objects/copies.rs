//! Copies in batches, with attributes, between contexts on streams, and between raw addresses.

use cuprum::memory::{
    Array, ArrayFlags, ArrayShape, HostBlock, Peer, PinnedFlags, Pitched, PitchedBuffer, PitchedMut,
};
use cuprum::stream::{Copies, CopyAttributes, Decompression};
use cuprum::sys::{CUmemDecompressAlgorithm, CUmemcpySrcAccessOrder, CUresult, FnId};
use cuprum::{Buffer, Current, MemoryError, PinnedBuffer, Stream};

use crate::common::{context, in_context};

const AS_USUAL: fn() -> CopyAttributes = CopyAttributes::default;

fn has(cx: &Current<'_, '_>, function: FnId) -> bool {
    cx.context().driver().library().has(function)
}

#[test]
fn a_batch_copies_in_all_directions() {
    in_context(|cx| {
        if !has(cx, FnId::cuMemcpyBatchAsync_v2) {
            return;
        }
        let stream = Stream::new(cx).unwrap();
        let mut buffer = Buffer::from_slice(cx, &[1u32, 2, 3, 4, 0, 0, 0, 0]).unwrap();
        let input = [5u32, 6];
        let mut input = PinnedBuffer::from_slice(cx, &input, PinnedFlags::empty()).unwrap();
        let mut output = PinnedBuffer::<u32>::zeroed(cx, 2, PinnedFlags::empty()).unwrap();
        cx.scope(&stream, |scope| {
            let lent = scope.lend(buffer.as_mut_slice()).unwrap();
            let part = |range| lent.slice(range).unwrap();
            let (from, to) = (scope.lend(&mut input).unwrap(), scope.lend(&mut output).unwrap());
            let mut copies = Copies::default();
            let source_order = CUmemcpySrcAccessOrder::CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
            let any_order = CopyAttributes { source_order, ..AS_USUAL() };
            copies.add(&part(4..6), &part(0..2), any_order).unwrap();
            copies.add(&part(6..8), &from, AS_USUAL()).unwrap();
            copies.add(&to, &part(2..4).as_shared(), AS_USUAL()).unwrap();
            copies.add(&part(0..0), &part(1..1), any_order).unwrap();
            assert_eq!(format!("{copies:?}"), "Copies(3)", "one copies nothing");
            scope.copy_all(&mut copies).unwrap();
            scope.copy_all(&mut Copies::default()).unwrap();
            Ok(())
        })
        .unwrap();
        assert_eq!(buffer.to_vec(cx).unwrap(), [1, 2, 3, 4, 1, 2, 5, 6]);
        assert_eq!(output[..], [3, 4]);
    });
}

#[test]
fn a_batch_takes_no_copies_that_do_not_fit() {
    in_context(|cx| {
        let (stream, other) = (Stream::new(cx).unwrap(), Stream::new(cx).unwrap());
        let mut first = Buffer::<u16>::zeroed(cx, 8).unwrap();
        let mut second = Buffer::<u16>::zeroed(cx, 8).unwrap();
        cx.multi_scope(|scope| {
            let (here, there) = (scope.on(&stream).unwrap(), scope.on(&other).unwrap());
            let (mine, theirs) =
                (here.lend(first.as_mut_slice()).unwrap(), there.lend(second.as_mut_slice()).unwrap());
            let mut copies = Copies::default();
            let overlap = copies.add(&mine.slice(..4).unwrap(), &mine.slice(2..6).unwrap(), AS_USUAL());
            assert_eq!(overlap.unwrap_err(), MemoryError::Overlap);
            let short = copies.add(&mine.slice(..4).unwrap(), &mine.slice(5..).unwrap(), AS_USUAL());
            assert_eq!(short.unwrap_err(), MemoryError::Length { destination_len: 4, source_len: 3 });
            assert_eq!(copies.add(&mine, &theirs, AS_USUAL()).unwrap_err(), MemoryError::OtherStream);
            copies.add(&mine.slice(..4).unwrap(), &mine.slice(4..).unwrap(), AS_USUAL()).unwrap();
            assert_eq!(there.copy_all(&mut copies).unwrap_err(), MemoryError::OtherStream);
            let refused = here.copy_with(&mine, &theirs, AS_USUAL()).unwrap_err();
            assert_eq!(refused, MemoryError::OtherStream);
            Ok(())
        })
        .unwrap();
    });
}

#[test]
fn the_default_stream_takes_no_batches() {
    in_context(|cx| {
        if !has(cx, FnId::cuMemcpyBatchAsync_v2) {
            return;
        }
        let stream = Stream::default_in(cx);
        let mut buffer = Buffer::<u16>::zeroed(cx, 8).unwrap();
        cx.scope(&stream, |scope| {
            let lent = scope.lend(buffer.as_mut_slice()).unwrap();
            let mut copies = Copies::default();
            copies.add(&lent.slice(..4).unwrap(), &lent.slice(4..).unwrap(), AS_USUAL()).unwrap();
            let refused = scope.copy_all(&mut copies).unwrap_err();
            let MemoryError::Driver(error) = refused else { panic!("{refused:?}") };
            assert_eq!(error.code(), CUresult::CUDA_ERROR_INVALID_VALUE);
            Ok(())
        })
        .unwrap();
    });
}

#[test]
fn a_batch_of_blocks_copies_rows_and_arrays() {
    in_context(|cx| {
        if !has(cx, FnId::cuMemcpy3DBatchAsync_v2) {
            return;
        }
        let stream = Stream::new(cx).unwrap();
        let mut rows = PitchedBuffer::<u16>::alloc(cx, (4, 3)).unwrap();
        let mut linear = Buffer::<u16>::zeroed(cx, 12).unwrap();
        let shape = ArrayShape::TwoD { width: 4, height: 3 };
        let array = Array::<u16>::new(cx, shape, ArrayFlags::empty()).unwrap();
        let host: Vec<u16> = (1..=12).collect();
        cx.copy(&mut rows, &host).unwrap();
        cx.scope(&stream, |scope| {
            let rows = scope.lend(rows.as_pitched_mut()).unwrap();
            let dense = PitchedMut::over(linear.as_mut_slice(), (4, 3)).unwrap();
            let dense = scope.lend(dense).unwrap();
            let whole = scope.lend(&array).unwrap();
            let mut copies = Copies::default();
            copies.add(&dense, &rows, AS_USUAL()).unwrap();
            copies.add(&whole, &HostBlock::new(&host, (4, 3)).unwrap(), AS_USUAL()).unwrap();
            let itself = copies.add(&dense, &dense, AS_USUAL()).unwrap_err();
            assert_eq!(itself, MemoryError::Overlap);
            assert_eq!(format!("{copies:?}"), "Copies(2)");
            scope.copy_all(&mut copies).unwrap();
            Ok(())
        })
        .unwrap();
        assert_eq!(linear.to_vec(cx).unwrap(), host);
        assert_eq!(array.view().all().to_vec(cx).unwrap(), host);
    });
}

#[test]
fn single_copies_have_attributes() {
    in_context(|cx| {
        if !has(cx, FnId::cuMemcpyWithAttributesAsync) {
            return;
        }
        let stream = Stream::new(cx).unwrap();
        let mut buffer = Buffer::from_slice(cx, &[1u32, 2, 0, 0, 0, 0]).unwrap();
        cx.scope(&stream, |scope| {
            let (low, high) = buffer.as_mut_slice().into_split_at(4).unwrap();
            let (low, high) = (scope.lend(low).unwrap(), high);
            scope.copy_with(&low.slice(2..).unwrap(), &low.slice(..2).unwrap(), AS_USUAL()).unwrap();
            let from = PitchedMut::over(high, (1, 2)).unwrap();
            let from = scope.lend(from).unwrap();
            scope.copy_with(&from, &HostBlock::new(&[8, 9], (1, 2)).unwrap(), AS_USUAL()).unwrap();
            let none = CopyAttributes { source_order: CUmemcpySrcAccessOrder(0), ..AS_USUAL() };
            let refused =
                scope.copy_with(&low.slice(2..).unwrap(), &low.slice(..2).unwrap(), none).unwrap_err();
            assert!(matches!(refused, MemoryError::Driver(_)));
            Ok(())
        })
        .unwrap();
        assert_eq!(buffer.to_vec(cx).unwrap(), [1, 2, 1, 2, 8, 9]);
    });
}

#[test]
fn memory_of_another_context_is_copied_on_a_stream() {
    let other = context();
    in_context(|cx| {
        let (mut theirs, stream) = {
            let there = cx.push(&other).unwrap();
            let theirs = Buffer::from_slice(&there, &[1u32, 2, 3, 4, 5, 6]).unwrap();
            there.synchronize().unwrap();
            (theirs, Stream::new(&there).unwrap())
        };
        drop(stream);
        let stream = Stream::new(cx).unwrap();
        let mut mine = Buffer::from_slice(cx, &[0u32, 0, 7, 8]).unwrap();
        let mut rows = PitchedBuffer::<u32>::alloc(cx, (2, 2)).unwrap();
        let (source, target) = theirs.as_mut_slice().into_split_at(4).unwrap();
        cx.scope(&stream, |scope| {
            let lent = scope.lend(mine.as_mut_slice()).unwrap();
            let from = scope.lend(Peer(source.as_slice())).unwrap();
            scope.copy(&lent.slice(..2).unwrap(), &from.slice(1..3).unwrap()).unwrap();
            let refused = scope.copy(&lent, &from.slice(1..3).unwrap()).unwrap_err();
            assert_eq!(refused, MemoryError::Length { destination_len: 4, source_len: 2 });
            let to = scope.lend(Peer(target)).unwrap();
            assert!(from.slice(3..5).is_none() && to.slice(1..3).is_none());
            // One after the other on one stream, even if they overlap.
            scope.copy(&to, &lent.as_shared().slice(..2).unwrap()).unwrap();
            scope.copy(&lent.slice(..2).unwrap(), &to.as_shared()).unwrap();
            scope.copy(&to, &lent.slice(2..).unwrap().as_shared()).unwrap();
            scope.copy(&to.slice(..1).unwrap(), &lent.as_shared().slice(2..3).unwrap()).unwrap();
            let rows = scope.lend(rows.as_pitched_mut()).unwrap();
            let from = Pitched::over(source.as_slice(), (2, 2)).unwrap();
            scope.copy(&rows, &scope.lend(Peer(from)).unwrap()).unwrap();
            Ok(())
        })
        .unwrap();
        // One stream uses its loan; another stream gets a loan, too.
        let another = Stream::non_blocking(cx).unwrap();
        cx.multi_scope(|scope| {
            let (first, second) = (scope.on(&stream).unwrap(), scope.on(&another).unwrap());
            let lent = first.lend(mine.as_mut_slice()).unwrap();
            let from = second.lend(Peer(source.as_slice())).unwrap();
            assert_eq!(first.copy(&lent, &from).unwrap_err(), MemoryError::OtherStream);
            let rows = first.lend(rows.as_pitched_mut()).unwrap();
            let source = Pitched::over(source.as_slice(), (2, 2)).unwrap();
            let refused = first.copy(&rows, &second.lend(Peer(source)).unwrap()).unwrap_err();
            assert_eq!(refused, MemoryError::OtherStream);
            Ok(())
        })
        .unwrap();
        assert_eq!(mine.to_vec(cx).unwrap(), [2, 3, 7, 8]);
        assert_eq!(rows.as_pitched().to_vec(cx).unwrap(), [1, 2, 3, 4]);
        cx.copy(&mut rows, &Peer(&Pitched::over(theirs.slice(2..).unwrap(), (2, 2)).unwrap())).unwrap();
        assert_eq!(rows.as_pitched().to_vec(cx).unwrap(), [3, 4, 7, 8]);
        let mut linear = PitchedMut::over(theirs.slice_mut(..4).unwrap(), (2, 2)).unwrap();
        let refused = cx.copy(&mut linear, &Peer(&rows)).unwrap_err();
        assert!(
            matches!(refused, MemoryError::Driver(error) if error.code() == cuprum::Error::WRONG_CONTEXT)
        );
        let there = cx.push(&other).unwrap();
        assert_eq!(theirs.to_vec(&there).unwrap(), [1, 2, 3, 4, 7, 8]);
    });
}

#[test]
fn addresses_of_any_kind_are_copied() {
    in_context(|cx| {
        let stream = Stream::new(cx).unwrap();
        let buffer = Buffer::<u32>::zeroed(cx, 4).unwrap();
        let (input, mut output) = ([1u32, 2, 3, 4], [0u32; 4]);
        let (from, to) = ((&raw const input).addr() as u64, (&raw mut output).addr() as u64);
        // The addresses are exposed, as the driver writes through one of them.
        let _ = ((&raw const input).expose_provenance(), (&raw mut output).expose_provenance());
        // SAFETY: 16 bytes on both sides, used by nothing else.
        unsafe { cx.copy_raw(buffer.as_raw(), from, 16) }.unwrap();
        // SAFETY: as above; the scope waits for the stream before `output` is read.
        cx.scope(&stream, |scope| unsafe { Ok(scope.copy_raw(to, buffer.as_raw(), 16)?) }).unwrap();
        assert_eq!(output, input);
        // SAFETY: nothing is copied.
        unsafe { cx.copy_raw(0, 0, 0) }.unwrap();
    });
}

#[test]
fn without_an_engine_nothing_is_decompressed() {
    in_context(|cx| {
        let stream = Stream::new(cx).unwrap();
        let mut bytes = Buffer::<u8>::zeroed(cx, 256).unwrap();
        let mut count = Buffer::<u32>::zeroed(cx, 1).unwrap();
        cx.scope(&stream, |scope| {
            let bytes = scope.lend(bytes.as_mut_slice()).unwrap();
            let count = scope.lend(count.as_mut_slice()).unwrap();
            let (from, to) = (bytes.slice(..64).unwrap(), bytes.slice(64..).unwrap());
            let algorithm = CUmemDecompressAlgorithm::CU_MEM_DECOMPRESS_ALGORITHM_DEFLATE;
            let overlap = Decompression::new(algorithm, &bytes.as_shared(), &to, &count).unwrap_err();
            assert_eq!(overlap, MemoryError::Overlap);
            let one = Decompression::new(algorithm, &from.as_shared(), &to, &count).unwrap();
            // SAFETY: the bytes are not compressed data, and the result is checked first.
            let answer = unsafe { scope.decompress(&mut [one]) };
            if let Err(refused) = answer {
                let MemoryError::Driver(error) = refused else { panic!("{refused:?}") };
                assert!(
                    error.code() == cuprum::Error::UNRESOLVED
                        || error.code() == CUresult::CUDA_ERROR_NOT_SUPPORTED
                );
            }
            // SAFETY: nothing is decompressed.
            unsafe { scope.decompress(&mut []) }.unwrap();
            Ok(())
        })
        .unwrap();
    });
}
