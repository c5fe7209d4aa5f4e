//! Rows and slices of device memory: extents, parts, copies of two and three dimensions, fills.

use cuprum::memory::{Extent, HostBlock, HostBlockMut, Peer, Pitched, PitchedBuffer, PitchedMut};
use cuprum::sys::CUresult;
use cuprum::{Buffer, In, InOut, LaunchConfig, MemoryError, Stream};

use crate::common::{self, in_context};

/// Numbers from 0 on.
fn counted(len: u16) -> Vec<u16> {
    (0..len).collect()
}

#[test]
fn rows_go_there_and_back_without_their_gaps() {
    in_context(|cx| {
        for (width, height) in [(1, 1), (7, 5), (64, 3), (1, 100)] {
            let host = counted(width * height);
            let extent = (usize::from(width), usize::from(height));
            let buffer = PitchedBuffer::from_slice(cx, &host, extent).unwrap();
            assert!(buffer.as_pitched().pitch_bytes() >= 2 * extent.0, "{buffer:?}");
            assert_eq!(buffer.to_vec(cx).unwrap(), host);
            let mut back = vec![0; host.len()];
            cx.copy(&mut back, &buffer).unwrap();
            assert_eq!(back, host);
            // Each row begins where the pitch says.
            let last = buffer.as_pitched().into_row(extent.1 - 1, 0).unwrap();
            assert_eq!(
                last.as_raw(),
                buffer.as_raw() + ((extent.1 - 1) * buffer.as_pitched().pitch_bytes()) as u64
            );
            assert_eq!(last.to_vec(cx).unwrap(), host[host.len() - extent.0..]);
            buffer.close().unwrap();
        }
    });
}

#[test]
fn slices_of_rows_go_there_and_back() {
    in_context(|cx| {
        let host = counted(5 * 4 * 3);
        let mut buffer = PitchedBuffer::from_slice(cx, &host, (5, 4, 3)).unwrap();
        assert_eq!(buffer.to_vec(cx).unwrap(), host);
        assert_eq!(buffer.as_pitched().into_row(2, 1).unwrap().to_vec(cx).unwrap(), host[30..35]);
        assert!(buffer.as_pitched().into_row(4, 1).is_none());
        assert!(buffer.as_pitched().into_row(0, 3).is_none());
        assert!(buffer.as_pitched().into_row(usize::MAX, 0).is_none());
        // One column of the middle slice.
        let column = buffer.as_pitched().part(3..4, .., 1..2).unwrap();
        assert_eq!(column.to_vec(cx).unwrap(), [23, 28, 33, 38]);
        cx.fill(&mut buffer.as_pitched_mut().part(3..4, 1..3, ..).unwrap(), 9).unwrap();
        let expected = host.iter().enumerate().map(|(at, &number)| {
            let (x, y) = (at % 5, at / 5 % 4);
            if x == 3 && (1..3).contains(&y) { 9 } else { number }
        });
        assert_eq!(buffer.to_vec(cx).unwrap(), expected.collect::<Vec<_>>());
    });
}

#[test]
fn a_fill_leaves_the_gaps_between_the_rows() {
    in_context(|cx| {
        let mut linear = Buffer::from_slice(cx, &[0xEEu8; 40]).unwrap();
        let mut rows = PitchedMut::strided(linear.as_mut_slice(), (3, 4), 10, 4).unwrap();
        cx.fill(&mut rows, 1).unwrap();
        let mut expected = [0xEE; 40];
        (0..4).for_each(|y| expected[10 * y..][..3].fill(1));
        assert_eq!(linear.to_vec(cx).unwrap(), expected);

        // Slices of two rows, of which one is filled: a call for each slice.
        let mut rows = PitchedMut::strided(linear.as_mut_slice(), (3, 1, 2), 10, 2).unwrap();
        cx.fill_bytes(&mut rows, 2).unwrap();
        [0, 20].into_iter().for_each(|at| expected[at..][..3].fill(2));
        assert_eq!(linear.to_vec(cx).unwrap(), expected);

        let mut words = PitchedBuffer::<f32>::from_slice(cx, &[1.0; 6], (3, 2)).unwrap();
        cx.fill(&mut words.as_pitched_mut().part(1.., .., ..).unwrap(), -2.5).unwrap();
        assert_eq!(words.to_vec(cx).unwrap(), [1.0, -2.5, -2.5, 1.0, -2.5, -2.5]);
        cx.fill_bytes(&mut words.as_pitched_mut().part(..1, .., ..).unwrap(), 0).unwrap();
        assert_eq!(words.to_vec(cx).unwrap(), [0.0, -2.5, -2.5, 0.0, -2.5, -2.5]);
        let mut halves = PitchedBuffer::<i16>::from_slice(cx, &[1; 6], (2, 3)).unwrap();
        cx.fill(&mut halves, -7).unwrap();
        assert_eq!(halves.to_vec(cx).unwrap(), [-7; 6]);
    });
}

#[test]
fn parts_are_copied_between_host_and_device_and_within_the_device() {
    in_context(|cx| {
        let picture = counted(8 * 6);
        // Columns 2 to 4 of rows 1 to 4, from a host slice with other rows around.
        let block = HostBlock::new(&picture, (8, 6)).unwrap().part(2..5, 1..5, ..).unwrap();
        assert_eq!(block.extent(), Extent::from((3, 4)));
        let mut device = PitchedBuffer::<u16>::alloc(cx, (3, 4)).unwrap();
        cx.copy(&mut device, &block).unwrap();
        let expected: Vec<u16> = (1..5).flat_map(|y| (2..5).map(move |x| 8 * y + x)).collect();
        assert_eq!(device.to_vec(cx).unwrap(), expected);

        // Into linear memory with rows of 5, and from there into the middle of a picture of the
        // host.
        let mut linear = Buffer::<u16>::zeroed(cx, 20).unwrap();
        let mut rows = PitchedMut::strided(linear.as_mut_slice(), (3, 4), 5, 4).unwrap();
        cx.copy(&mut rows, &device).unwrap();
        let rows = Pitched::strided(linear.as_slice(), (3, 4), 5, 4).unwrap();
        assert_eq!(rows.to_vec(cx).unwrap(), expected);
        let mut target = vec![0; 48];
        let mut middle = HostBlockMut::new(&mut target, (8, 6)).unwrap().part(2..5, 1..5, ..).unwrap();
        cx.copy(&mut middle, &rows).unwrap();
        let inside = |at: usize| (2..5).contains(&(at % 8)) && (1..5).contains(&(at / 8));
        let expected: Vec<u16> = (0..48).map(|at| if inside(usize::from(at)) { at } else { 0 }).collect();
        assert_eq!(target, expected);

        // Slices of one solid in another.
        let solid = Buffer::from_slice(cx, &counted(4 * 3 * 2)).unwrap();
        let corner = Pitched::over(solid.as_slice(), (4, 3, 2)).unwrap().part(1..3, ..2, ..).unwrap();
        let mut other = PitchedBuffer::<u16>::alloc(cx, (2, 2, 2)).unwrap();
        cx.copy(&mut other, &corner).unwrap();
        assert_eq!(other.to_vec(cx).unwrap(), [1, 2, 5, 6, 13, 14, 17, 18]);
    });
}

#[test]
fn blocks_that_do_not_lie_in_memory_are_refused() {
    in_context(|cx| {
        let outside = |extent: Extent, pitch, rows| MemoryError::Outside { extent, pitch, rows, len: 12 };
        let host = [0u8; 12];
        let block = |extent: (usize, usize, usize), pitch, rows| {
            HostBlock::strided(&host, extent, pitch, rows).map(|_| ())
        };
        block((4, 3, 1), 4, 3).unwrap();
        block((2, 3, 1), 5, 3).unwrap();
        block((0, usize::MAX, usize::MAX), 0, 0).unwrap();
        for (extent, pitch, rows) in [
            ((4, 4, 1), 4, 4),
            ((3, 3, 1), 5, 3),
            ((4, 3, 1), 3, 3),
            ((2, 2, 2), 2, 1),
            ((1, 2, 1), usize::MAX, 2),
            ((1, 1, 3), 2, usize::MAX / 2),
            ((usize::MAX, 1, 1), usize::MAX, 1),
        ] {
            assert_eq!(block(extent, pitch, rows).unwrap_err(), outside(extent.into(), pitch, rows));
        }
        let mut linear = Buffer::<u8>::zeroed(cx, 12).unwrap();
        let refused = Pitched::over(linear.as_slice(), (5, 3)).unwrap_err();
        assert_eq!(refused, outside((5, 3).into(), 5, 3));
        let refused = PitchedMut::strided(linear.as_mut_slice(), (4, 3), 5, 3).unwrap_err();
        assert_eq!(refused, outside((4, 3).into(), 5, 3));
        let block = HostBlock::new(&host, (4, 3)).unwrap();
        assert!(block.part(..5, .., ..).is_none());
        assert!(block.part(.., 2..4, ..).is_none());
        assert!(block.part(.., .., 1..2).is_none());
        assert_eq!(block.part(4.., 3.., ..).unwrap().extent(), Extent::from((0, 0)));
    });
}

#[test]
fn blocks_that_differ_are_not_copied() {
    in_context(|cx| {
        let mut buffer = PitchedBuffer::from_slice(cx, &[1u8; 6], (3, 2)).unwrap();
        let refused = cx.copy(&mut buffer, &[2; 5]).unwrap_err();
        assert_eq!(refused, MemoryError::Length { destination_len: 6, source_len: 5 });
        let refused = cx.copy(&mut [2; 7], &buffer).unwrap_err();
        assert_eq!(refused, MemoryError::Length { destination_len: 7, source_len: 6 });
        let turned = HostBlock::new(&[2; 6], (2, 3)).unwrap();
        let refused = cx.copy(&mut buffer, &turned).unwrap_err();
        let (destination_extent, source_extent) = ((3, 2).into(), (2, 3).into());
        assert_eq!(refused, MemoryError::Extent { destination_extent, source_extent });
        assert_eq!(
            refused.to_string(),
            "cannot copy a block of 2 x 3 x 1 into one of 3 x 2 x 1: take a part of the larger one"
        );
        assert_eq!(buffer.to_vec(cx).unwrap(), [1; 6]);
    });
}

#[test]
fn sizes_that_wrap_are_refused() {
    in_context(|cx| {
        let too_large = |extent: (usize, usize, usize)| {
            matches!(PitchedBuffer::<u32>::alloc(cx, extent), Err(MemoryError::TooLarge { .. }))
        };
        assert!(too_large((usize::MAX, 2, 1)));
        assert!(too_large((1 << 32, 1 << 32, 1)));
        assert!(too_large((1 << 30, 1 << 31, 1)));
        assert!(too_large((2, usize::MAX, usize::MAX)));
        let refused = PitchedBuffer::<u8>::alloc(cx, (1 << 40, 1 << 10)).unwrap_err();
        assert!(
            matches!(refused, MemoryError::Driver(error) if error.code() == CUresult::CUDA_ERROR_OUT_OF_MEMORY),
            "{refused}"
        );
    });
}

#[test]
fn nothing_is_a_pitched_buffer_too() {
    in_context(|cx| {
        for extent in [(0, 3, 1), (3, 0, 1), (3, 3, 0)] {
            let mut empty = PitchedBuffer::<u32>::alloc(cx, extent).unwrap();
            assert_eq!(empty.as_raw(), 0);
            cx.copy(&mut empty, &[]).unwrap();
            cx.fill(&mut empty, 1).unwrap();
            cx.fill_bytes(&mut empty, 1).unwrap();
            assert_eq!(empty.to_vec(cx).unwrap(), []);
            empty.close().unwrap();
        }
        let mut no_size = PitchedBuffer::<[u8; 0]>::alloc(cx, (3, 2)).unwrap();
        cx.copy(&mut no_size, &[[]; 6]).unwrap();
        assert_eq!(no_size.to_vec(cx).unwrap(), [[0u8; 0]; 6]);
    });
}

#[test]
fn ownership_can_be_given_away_and_taken_back() {
    in_context(|cx| {
        let buffer = PitchedBuffer::from_slice(cx, &[1u16, 2, 3, 4], (2, 2)).unwrap();
        let pitch = buffer.as_pitched().pitch_bytes();
        let address = buffer.into_raw();
        // SAFETY: refused before it is taken over.
        let refused = unsafe { PitchedBuffer::<u16>::from_raw(cx, address, (2, 2), 3) }.unwrap_err();
        assert!(matches!(refused, MemoryError::Outside { pitch: 3, .. }), "{refused}");
        // SAFETY: the address and the pitch come from such a buffer of this context, given up
        // above.
        let buffer = unsafe { PitchedBuffer::<u16>::from_raw(cx, address, (2, 2), pitch) }.unwrap();
        assert_eq!(buffer.to_vec(cx).unwrap(), [1, 2, 3, 4]);
    });
}

#[test]
fn rows_are_split() {
    in_context(|cx| {
        let mut buffer = PitchedBuffer::<u8>::alloc(cx, (2, 3)).unwrap();
        assert!(buffer.as_pitched_mut().split_at_row(4).is_none());
        let (mut upper, mut lower) = buffer.as_pitched_mut().split_at_row(1).unwrap();
        cx.fill(&mut upper, 1).unwrap();
        cx.copy(&mut lower, &[2, 3, 4, 5]).unwrap();
        cx.copy(
            &mut lower.reborrow().part(..1, ..1, ..).unwrap(),
            &upper.as_pitched().part(..1, .., ..).unwrap(),
        )
        .unwrap();
        assert_eq!(buffer.to_vec(cx).unwrap(), [1, 1, 1, 3, 4, 5]);
    });
}

#[test]
fn a_scope_copies_and_fills_rows_in_order() {
    in_context(|cx| {
        let streams = [Stream::new(cx).unwrap(), Stream::non_blocking(cx).unwrap()];
        for stream in &streams {
            let mut first = PitchedBuffer::<u16>::alloc(cx, (3, 2)).unwrap();
            let mut solid = PitchedBuffer::<u16>::alloc(cx, (3, 2, 2)).unwrap();
            let (input, mut output, mut all) = (counted(12), [0; 6], [0; 12]);
            cx.scope(stream, |scope| {
                let first = scope.lend(first.as_pitched_mut())?;
                let solid = scope.lend(solid.as_pitched_mut())?;
                scope.copy(&solid, &HostBlock::new(&input, (3, 2, 2))?)?;
                scope.copy(&first, &HostBlock::strided(&input, (3, 2), 6, 2)?)?;
                scope.read(&mut output, &first)?;
                assert_eq!(output, [0, 1, 2, 6, 7, 8]);
                let refused = scope.copy(&first, &solid).unwrap_err();
                assert!(matches!(refused, MemoryError::Extent { .. }), "{refused}");
                scope.copy(&first, &first)?;
                scope.fill(&first, 5)?;
                scope.read(&mut output, &first)?;
                assert_eq!(output, [5; 6]);
                scope.fill_bytes(&first, 1)?;
                Ok(scope.read(&mut all, &solid)?)
            })
            .unwrap();
            assert_eq!(all[..], input);
            assert_eq!(first.to_vec(cx).unwrap(), [0x0101; 6]);
        }
    });
}

#[test]
fn a_loan_of_another_stream_is_refused() {
    in_context(|cx| {
        let streams = [Stream::new(cx).unwrap(), Stream::new(cx).unwrap()];
        let mut buffers = [(); 2].map(|()| PitchedBuffer::<u8>::alloc(cx, (2, 2)).unwrap());
        let [first, second] = &mut buffers;
        cx.multi_scope(|scope| {
            let (one, two) = (scope.on(&streams[0])?, scope.on(&streams[1])?);
            let (first, second) = (one.lend(first)?, two.lend(second)?);
            assert_eq!(one.copy(&second, &first), Err(MemoryError::OtherStream));
            assert_eq!(two.copy(&second, &first), Err(MemoryError::OtherStream));
            assert_eq!(two.read(&mut [0; 4], &first), Err(MemoryError::OtherStream));
            assert_eq!(two.fill(&first, 1), Err(MemoryError::OtherStream));
            Ok(Ok::<(), MemoryError>(())?)
        })
        .unwrap();
    });
}

#[test]
fn rows_of_another_context_are_refused() {
    let other = common::context();
    in_context(|cx| {
        let mut here = PitchedBuffer::<u8>::alloc(cx, (2, 2)).unwrap();
        let mut inner = cx.push(&other).unwrap();
        let refused = inner.copy(&mut here, &[0; 4]).unwrap_err();
        assert!(
            matches!(refused, MemoryError::Driver(error) if error.code() == cuprum::Error::WRONG_CONTEXT),
            "{refused}"
        );
        let mut there = PitchedBuffer::<u8>::alloc(&inner, (2, 2)).unwrap();
        let refused = inner.copy(&mut there, &here).unwrap_err();
        assert!(
            matches!(refused, MemoryError::Driver(error) if error.code() == cuprum::Error::WRONG_CONTEXT),
            "{refused}"
        );
        let refused = inner.fill(&mut here, 1).unwrap_err();
        assert!(
            matches!(refused, MemoryError::Driver(error) if error.code() == cuprum::Error::WRONG_CONTEXT),
            "{refused}"
        );
        let _ = &mut inner;
    });
}

/// Adds row and column of each element of a plane: one thread for each.
const ADD_PLACE: &str = "
.version 7.0
.target sm_52
.address_size 64
.entry add_place(.param .u64 from, .param .u64 from_pitch, .param .u64 to, .param .u64 to_pitch) {
    .reg .b32 %r<4>; .reg .b64 %rd<12>;
    ld.param.u64 %rd0, [from];
    ld.param.u64 %rd1, [from_pitch];
    ld.param.u64 %rd2, [to];
    ld.param.u64 %rd3, [to_pitch];
    cvta.to.global.u64 %rd0, %rd0;
    cvta.to.global.u64 %rd2, %rd2;
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %ctaid.x;
    cvt.u64.u32 %rd4, %r0;
    cvt.u64.u32 %rd5, %r1;
    mul.lo.u64 %rd6, %rd5, %rd1;
    mad.lo.u64 %rd6, %rd4, 4, %rd6;
    add.u64 %rd6, %rd6, %rd0;
    ld.global.u32 %r2, [%rd6];
    add.u32 %r2, %r2, %r0;
    mad.lo.u32 %r2, %r1, 100, %r2;
    mul.lo.u64 %rd7, %rd5, %rd3;
    mad.lo.u64 %rd7, %rd4, 4, %rd7;
    add.u64 %rd7, %rd7, %rd2;
    st.global.u32 [%rd7], %r2;
    ret;
}";

#[test]
fn kernels_find_rows_by_address_and_pitch() {
    in_context(|cx| {
        let module = common::load(cx, ADD_PLACE);
        let kernel = module.function("add_place").unwrap();
        let kernel = kernel.bind::<(In<u32>, usize, InOut<u32>, usize)>().unwrap();
        let stream = Stream::new(cx).unwrap();
        let from = PitchedBuffer::from_slice(cx, &[1000u32; 15], (5, 3)).unwrap();
        let mut to = PitchedBuffer::<u32>::alloc(cx, (5, 3)).unwrap();
        let (from_pitch, to_pitch) = (from.as_pitched().pitch_bytes(), to.as_pitched().pitch_bytes());
        let config = LaunchConfig::new(3, 5);
        let expected: Vec<u32> = (0..3).flat_map(|y| (0..5).map(move |x| 1000 + 100 * y + x)).collect();
        // SAFETY: the kernel reads and writes planes of 5 by 3, which the copy below comes after.
        unsafe { kernel.launch(cx, &stream, config, (&from, from_pitch, &mut to, to_pitch)) }.unwrap();
        assert_eq!(to.to_vec(cx).unwrap(), expected);
        cx.fill(&mut to, 0).unwrap();
        cx.scope(&stream, |scope| {
            let lent = scope.lend(to.as_pitched_mut()).unwrap();
            let rows = from.as_pitched();
            // SAFETY: as above; the scope waits.
            unsafe {
                Ok(kernel.launch(
                    cx,
                    &stream,
                    config,
                    (rows, rows.pitch_bytes(), &lent, lent.pitch_bytes()),
                )?)
            }
        })
        .unwrap();
        assert_eq!(to.to_vec(cx).unwrap(), expected);
    });
}

/// Most of a number, for sides that do not count since another is zero.
const MOST: usize = usize::MAX;

#[test]
fn blocks_without_elements_are_nothing_to_do_whatever_their_sides() {
    in_context(|cx| {
        let mut memory = Buffer::from_slice(cx, &[7u32; 4]).unwrap();
        let other = Buffer::from_slice(cx, &[8u32; 4]).unwrap();
        let stream = Stream::new(cx).unwrap();
        for extent in
            [(0, MOST, MOST), (MOST, 0, MOST), (MOST, MOST, 0), (MOST, 0, 0), (0, 0, MOST), (0, 1, MOST)]
        {
            let from = || Pitched::over(other.as_slice(), extent).unwrap();
            let mut rows = PitchedMut::over(memory.as_mut_slice(), extent).unwrap();
            cx.fill(&mut rows, 1).unwrap();
            cx.fill_bytes(&mut rows, 1).unwrap();
            cx.copy(&mut rows, &from()).unwrap();
            cx.copy(&mut rows, &Peer(&from())).unwrap();
            cx.copy(&mut rows, &[]).unwrap();
            assert_eq!(rows.as_pitched().to_vec(cx).unwrap(), []);
            assert!(rows.reborrow().part(.., .., ..).is_some());
            cx.scope_as(&stream, |scope| -> Result<(), MemoryError> {
                let lent = scope.lend(rows)?;
                scope.fill(&lent, 1)?;
                scope.fill_bytes(&lent, 1)?;
                scope.copy(&lent, &HostBlock::new(&[], extent)?)
            })
            .unwrap();
            assert!(PitchedBuffer::<u32>::alloc(cx, extent).unwrap().to_vec(cx).unwrap().is_empty());
        }
        assert_eq!(memory.to_vec(cx).unwrap(), [7; 4]);
        // Elements of no size are no less nothing.
        let mut nothing = Buffer::<[u32; 0]>::alloc(cx, MOST).unwrap();
        let mut slices = PitchedMut::strided(nothing.as_mut_slice(), (1, 1, MOST / 2), 1, 2).unwrap();
        cx.fill_bytes(&mut slices, 1).unwrap();
    });
}
