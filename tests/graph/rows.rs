//! Rows of device memory in graphs and captures.

use cuprum::graph::{CaptureMode, Graph, GraphError};
use cuprum::memory::{HostBlock, PitchedBuffer, PitchedMut};
use cuprum::sys::{CUDA_MEMSET_NODE_PARAMS, CUresult};
use cuprum::{Buffer, MemoryError, Stream};

use super::{executable, in_context};

#[test]
fn rows_are_copied_and_filled_by_nodes() {
    in_context(|cx| {
        let source = PitchedBuffer::from_slice(cx, &[1u16, 2, 3, 4, 5, 6], (3, 2)).unwrap();
        let mut graph = Graph::new(cx).unwrap();
        let from = graph.lend(&source).unwrap();
        let to = graph.lend(PitchedBuffer::<u16>::alloc(cx, (3, 2)).unwrap()).unwrap();
        let (output, filled) = (graph.lend(vec![0; 6]).unwrap(), graph.lend(vec![0; 6]).unwrap());
        let copy = graph.add_copy(cx, &[], to, from).unwrap();
        let read = graph.add_copy(cx, &[copy], output, to).unwrap();
        let fill = graph.add_fill(cx, &[read], to, 9).unwrap();
        graph.add_copy(cx, &[fill], filled, to).unwrap();
        assert_eq!(graph.params::<CUDA_MEMSET_NODE_PARAMS>(fill).unwrap().height, 2);
        let (mut executable, stream) = (executable(cx, graph), Stream::non_blocking(cx).unwrap());
        executable.launch(cx, &stream).unwrap();
        assert_eq!(executable.view(output).unwrap(), [1, 2, 3, 4, 5, 6]);
        assert_eq!(executable.view(filled).unwrap(), [9; 6]);
        // Between launches, by views.
        let mut rows = executable.view_mut(to).unwrap();
        cx.copy(&mut rows, &HostBlock::new(&[7; 6], (3, 2)).unwrap()).unwrap();
        assert_eq!(executable.view(to).unwrap().to_vec(cx).unwrap(), [7; 6]);
        executable.launch(cx, &stream).unwrap();
        assert_eq!(executable.view(output).unwrap(), [1, 2, 3, 4, 5, 6]);
        let rows = executable.close().unwrap().take::<PitchedBuffer<_>>(to).unwrap();
        assert_eq!(rows.to_vec(cx).unwrap(), [9; 6]);
    });
}

#[test]
fn rows_are_copied_and_filled_in_a_capture() {
    in_context(|cx| {
        let mut stream = Stream::new(cx).unwrap();
        let mut picture = PitchedBuffer::<u32>::alloc(cx, (5, 3)).unwrap();
        let captured = cx.capture(&mut stream, CaptureMode::ThreadLocal, |capture| {
            let rows = capture.lend(&mut picture)?;
            let (input, output) = (capture.lend((0..15).collect::<Vec<u32>>())?, capture.lend(vec![0; 15])?);
            let filled = capture.lend(vec![0; 15])?;
            capture.copy(rows, input)?;
            capture.copy(output, rows)?;
            capture.fill(rows, 4)?;
            capture.copy(filled, rows)?;
            Ok((output, filled))
        });
        let (graph, (output, filled)) = captured.unwrap();
        let mut executable = executable(cx, graph);
        executable.launch(cx, &stream).unwrap();
        assert_eq!(executable.view(output).unwrap(), (0..15).collect::<Vec<u32>>());
        assert_eq!(executable.view(filled).unwrap(), [4; 15]);
        drop(executable);
        assert_eq!(picture.to_vec(cx).unwrap(), [4; 15]);
    });
}

#[test]
fn rows_of_another_extent_or_the_same_rows_are_not_copied() {
    in_context(|cx| {
        let mut cube = Buffer::<u32>::zeroed(cx, 24).unwrap();
        let mut graph = Graph::new(cx).unwrap();
        let lend = |extent: (usize, usize)| PitchedBuffer::<u32>::alloc(cx, extent).unwrap();
        let (one, other) = (graph.lend(lend((4, 2))).unwrap(), graph.lend(lend((2, 4))).unwrap());
        let refused = graph.add_copy(cx, &[], one, other);
        assert!(matches!(refused, Err(GraphError::Memory(MemoryError::Extent { .. }))));
        assert_eq!(graph.add_copy(cx, &[], one, one), Err(GraphError::Memory(MemoryError::Overlap)));
        let shorter = graph.lend(vec![0; 7]).unwrap();
        let lengths = |destination_len, source_len| {
            Err(GraphError::Memory(MemoryError::Length { destination_len, source_len }))
        };
        assert_eq!(graph.add_copy(cx, &[], one, shorter), lengths(8, 7));
        assert_eq!(graph.add_copy(cx, &[], shorter, one), lengths(7, 8));
        // A fill is one node: slices with other rows between them are no rectangle.
        let slices = PitchedMut::over(cube.as_mut_slice(), (2, 3, 4)).unwrap().part(.., 0..2, ..).unwrap();
        let slices = graph.lend(slices).unwrap();
        let refused = graph.add_fill(cx, &[], slices, 1).unwrap_err();
        let invalid = CUresult::CUDA_ERROR_INVALID_VALUE;
        assert!(matches!(refused, GraphError::Driver(error) if error.code() == invalid), "{refused}");
    });
}
