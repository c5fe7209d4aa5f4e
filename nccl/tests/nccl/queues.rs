//! Collectives on queues of regions: noted, recorded and replayed.

use cuprum::region::{Pool, RegionError};
use cuprum_nccl::{Config, Elements, NcclError, Reduction};

use crate::support::{Failure, device, on_threads, one_group};

#[test]
fn regions_are_summed_and_may_be_dropped_at_once() -> Result<(), Failure> {
    let all = on_threads(3, Config::default(), |member, cx| {
        let pool = Pool::new(cx);
        let queue = pool.queue(cx)?;
        let (to, from) = (queue.alloc(cx, 4000)?, queue.alloc(cx, 4000)?);
        queue.fill(cx, &from, member.rank() as f32 + 1.0)?;
        member.all_reduce(
            &queue,
            &Elements::<f32>::of(&to)?,
            &Elements::<f32>::of(&from)?,
            Reduction::Sum,
        )?;
        // The queue has taken note of it.
        drop(from);
        let other = queue.alloc(cx, 4000)?;
        queue.fill(cx, &other, 77.0f32)?;
        let read = queue.read(cx, &to, pool.pinned(cx, 4000)?)?.wait()?;
        Ok(read.elements::<f32>().map(<[f32]>::to_vec))
    })?;
    assert_eq!(all, vec![Some(vec![6.0; 1000]); 3]);
    Ok(())
}

#[test]
fn a_group_serves_several_queues() -> Result<(), Failure> {
    let all = on_threads(2, Config::default(), |member, cx| {
        let pool = Pool::new(cx);
        let queues = [pool.queue(cx)?, pool.queue(cx)?];
        let regions = [queues[0].alloc(cx, 8)?, queues[1].alloc(cx, 8)?];
        for (queue, region) in queues.iter().zip(&regions) {
            queue.fill(cx, region, member.rank() + 1)?;
        }
        member.nccl().group(|group| {
            for (queue, region) in queues.iter().zip(&regions) {
                let elements = Elements::<u64>::of(region)?;
                member.all_reduce(&group.on(queue), &elements, &elements, Reduction::Sum)?;
            }
            Ok(())
        })?;
        let mut found = Vec::new();
        for (queue, region) in queues.iter().zip(&regions) {
            let read = queue.read(cx, region, pool.pinned(cx, 8)?)?.wait()?;
            found.extend(read.elements::<u32>().map(<[u32]>::to_vec));
        }
        Ok(found)
    })?;
    assert_eq!(all, vec![vec![vec![3, 3]; 2]; 2]);
    Ok(())
}

#[test]
fn a_queue_must_come_after_the_one_that_allocated() -> Result<(), Failure> {
    on_threads(1, Config::default(), |member, cx| {
        let pool = Pool::new(cx);
        let (one, two) = (pool.queue(cx)?, pool.queue(cx)?);
        let region = one.alloc(cx, 4)?;
        let elements = Elements::<u32>::of(&region)?;
        let refused = member.all_reduce(&two, &elements, &elements, Reduction::Sum);
        assert_eq!(refused, Err(NcclError::Region(RegionError::NotOrdered)));
        two.wait(cx, &one.mark(cx)?)?;
        Ok(member.all_reduce(&two, &elements, &elements, Reduction::Sum)?)
    })?;
    Ok(())
}

/// The graph keeps the communicator and the regions, which the program drops before it replays.
#[test]
fn collectives_are_recorded_and_replayed() -> Result<(), Failure> {
    let all = on_threads(2, Config::default(), |member, cx| {
        let pool = Pool::new(cx);
        let queue = pool.queue(cx)?;
        let region = queue.alloc(cx, 12)?;
        let (replay, kept) = {
            let region = region.clone();
            queue.fill(cx, &region, member.rank() as f32 + 1.0)?;
            let recording = queue.record(cx)?;
            let elements = Elements::<f32>::of(&region)?;
            member.all_reduce(&queue, &elements, &elements, Reduction::Sum)?;
            (recording.end(cx)?, region)
        };
        drop(kept);
        assert_eq!(member.abort("a test"), Err(NcclError::Recorded));
        for _ in 0..3 {
            queue.replay(cx, &replay)?;
        }
        let read = queue.read(cx, &region, pool.pinned(cx, 12)?)?.wait()?;
        Ok(read.elements::<f32>().map(<[f32]>::to_vec))
    })?;
    // 1 and 2 are 3, 3 and 3 are 6, 6 and 6 are 12.
    assert_eq!(all, vec![Some(vec![12.0; 3]); 2]);
    Ok(())
}

/// A queue keeps a communicator that is dropped while its work waits for the other member.
#[test]
fn a_communicator_that_is_dropped_stays_for_its_queues() -> Result<(), Failure> {
    let _one = one_group();
    use crate::support::{Any, join, nccl};
    let nccl = nccl()?;
    let (id, barrier) = (nccl.unique_id()?, std::sync::Barrier::new(2));
    let member = |rank: u32| -> Result<Option<Vec<u32>>, Failure> {
        device(rank)?
            .enter_as::<Any, _>(|cx| {
                let pool = Pool::new(cx);
                let queue = pool.queue(cx)?;
                let region = queue.alloc(cx, 4)?;
                queue.fill(cx, &region, rank + 5)?;
                let member = join(nccl, cx, id, (rank, 2), Config::default())?;
                if rank == 1 {
                    barrier.wait();
                }
                let elements = Elements::<u32>::of(&region)?;
                member.all_reduce(&queue, &elements, &elements, Reduction::Sum)?;
                drop(member);
                if rank == 0 {
                    barrier.wait();
                }
                let read = queue.read(cx, &region, pool.pinned(cx, 4)?)?.wait()?;
                Ok(read.elements::<u32>().map(<[u32]>::to_vec))
            })
            .map_err(|error| error.0)
    };
    std::thread::scope(|scope| {
        let (first, second) = (scope.spawn(|| member(0)), scope.spawn(|| member(1)));
        for found in [first.join(), second.join()] {
            assert_eq!(found.map_err(|_| "a panic")??, Some(vec![11]));
        }
        Ok(())
    })
}
