//! Collectives in captures: recorded in graphs that have their memory and keep their communicators.

use cuprum::graph::{CaptureMode, Graph, InstantiateFlags};
use cuprum::{Buffer, Stream};
use cuprum_nccl::{Config, NcclError, Reduction};

use crate::support::{Any, Failure, device, join, nccl, on_threads, one_group};

#[test]
fn a_captured_collective_runs_in_each_replay() -> Result<(), Failure> {
    let all = on_threads(3, Config::default(), |member, cx| {
        let (mut stream, one) =
            (Stream::new(cx)?, Buffer::from_slice(cx, &[member.rank() as f32 + 1.0; 100])?);
        let mut sums = Buffer::<f32>::zeroed(cx, 100)?;
        let (graph, made) = cx.capture(&mut stream, CaptureMode::ThreadLocal, |capture| {
            let (sums, one) = (capture.lend(&mut sums)?, capture.lend(&one)?);
            let made = member
                .all_reduce(capture, &sums, &one, Reduction::Sum)
                .and_then(|()| member.all_reduce(capture, &sums, &sums, Reduction::Sum));
            Ok(made.map(|()| sums))
        })?;
        let (mut exec, sums) = (graph.instantiate(cx, InstantiateFlags::empty())?, made?);
        assert_eq!(exec.view(sums)?.to_vec(cx)?, [0.0; 100], "nothing ran yet");
        for _ in 0..3 {
            exec.launch(cx, &stream)?;
        }
        Ok(exec.view(sums)?.to_vec(cx)?)
    })?;
    assert_eq!(all, vec![vec![18.0; 100]; 3]);
    Ok(())
}

/// The graph has the memory, and keeps the communicator that the program drops.
#[test]
fn a_graph_keeps_memory_and_communicator() -> Result<(), Failure> {
    let _one = one_group();
    let nccl = nccl()?;
    let id = nccl.unique_id()?;
    let member = |rank: u32| -> Result<Vec<u32>, Failure> {
        device(rank)?
            .enter_as::<Any, _>(|cx| {
                let member = join(nccl, cx, id, (rank, 2), Config::default())?;
                let (mut stream, numbers) = (Stream::new(cx)?, Buffer::from_slice(cx, &[rank + 1; 4])?);
                let (graph, made) = cx.capture(&mut stream, CaptureMode::ThreadLocal, |capture| {
                    let numbers = capture.lend(numbers)?;
                    Ok(member.all_reduce(capture, &numbers, &numbers, Reduction::Sum).map(|()| numbers))
                })?;
                drop(member);
                let mut exec = graph.instantiate(cx, InstantiateFlags::empty())?;
                exec.launch(cx, &stream)?;
                exec.launch(cx, &stream)?;
                Ok(exec.view(made?)?.to_vec(cx)?)
            })
            .map_err(|error| error.0)
    };
    std::thread::scope(|scope| {
        let (first, second) = (scope.spawn(|| member(0)), scope.spawn(|| member(1)));
        for found in [first.join(), second.join()] {
            assert_eq!(found.map_err(|_| "a panic")??, [6; 4]);
        }
        Ok(())
    })
}

#[test]
fn memory_of_another_graph_is_refused() -> Result<(), Failure> {
    on_threads(1, Config::default(), |member, cx| {
        let mut stream = Stream::new(cx)?;
        let mut other = Graph::new(cx)?;
        let foreign = other.lend(Buffer::from_slice(cx, &[1u32, 2])?)?;
        let own = Buffer::from_slice(cx, &[1u32, 2])?;
        let (mut graph, refused) = cx.capture(&mut stream, CaptureMode::ThreadLocal, |capture| {
            let own = capture.lend(own)?;
            let to = member.all_reduce(capture, &foreign, &own, Reduction::Sum);
            let from = member.all_reduce(capture, &own, &foreign.as_shared(), Reduction::Sum);
            let part = own.slice(..1).map(|part| member.broadcast(capture, &own, &part, 0));
            Ok([Some(to), Some(from), part])
        })?;
        for refused in &refused[..2] {
            assert!(matches!(refused, Some(Err(NcclError::Elsewhere(_)))), "{refused:?}");
        }
        assert!(matches!(refused[2], Some(Err(NcclError::Length { .. }))), "{refused:?}");
        assert!(graph.nodes(cx)?.is_empty());
        Ok(())
    })?;
    Ok(())
}

#[test]
fn groups_and_lanes_are_captured() -> Result<(), Failure> {
    let all = on_threads(2, Config::default(), |member, cx| {
        let (mut one, mut two) = (Stream::new(cx)?, Stream::new(cx)?);
        let mine = Buffer::from_slice(cx, &[member.rank() + 5; 8])?;
        let (received, sums) = (Buffer::<u32>::zeroed(cx, 8)?, Buffer::<u32>::zeroed(cx, 8)?);
        let peer = 1 - member.rank();
        let (graph, made) = cx.capture(&mut one, CaptureMode::ThreadLocal, |capture| {
            let (mine, received, sums) = (capture.lend(&mine)?, capture.lend(received)?, capture.lend(sums)?);
            let exchanged = member.nccl().group(|group| {
                let on = group.on(capture);
                member.send(&on, &mine, peer)?;
                member.receive(&on, &received, peer)
            });
            let lane = capture.fork(&mut two)?;
            let summed = member.all_reduce(&lane, &sums, &received, Reduction::Sum);
            capture.join(&lane)?;
            Ok(exchanged.and(summed).map(|()| (received, sums)))
        })?;
        let (mut exec, (received, sums)) = (graph.instantiate(cx, InstantiateFlags::empty())?, made?);
        exec.launch(cx, &one)?;
        let received = exec.view(received)?.to_vec(cx)?;
        Ok((received[7], exec.view(sums)?.to_vec(cx)?[0]))
    })?;
    assert_eq!(all, [(6, 11), (5, 11)]);
    Ok(())
}

/// NCCL's abort frees memory that replays use, so that it waits until no graph can replay.
#[test]
fn a_recorded_communicator_is_not_aborted_while_a_graph_may_replay() -> Result<(), Failure> {
    let all = on_threads(2, Config::default(), |member, cx| {
        let (mut stream, numbers) = (Stream::new(cx)?, Buffer::from_slice(cx, &[member.rank() + 1; 4])?);
        let (graph, made) = cx.capture(&mut stream, CaptureMode::ThreadLocal, |capture| {
            let numbers = capture.lend(numbers)?;
            Ok(member.all_reduce(capture, &numbers, &numbers, Reduction::Sum).map(|()| numbers))
        })?;
        let (mut exec, numbers) = (graph.instantiate(cx, InstantiateFlags::empty())?, made?);
        assert_eq!(member.abort("a test"), Err(NcclError::Recorded));
        exec.launch(cx, &stream)?;
        Ok(exec.view(numbers)?.to_vec(cx)?)
    })?;
    assert_eq!(all, vec![vec![3; 4]; 2]);
    Ok(())
}
