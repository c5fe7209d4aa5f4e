//! The shuffled mode: unordered work happens in any order, ordered work in its order.
//!
//! A separate program, because it installs the shuffled mode.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use cuprum_emulator::{Mode, Settings, reseed};
use cuprum_sys::*;
use cuprum_testing::driver_calls::*;

const NON_BLOCKING: u32 = CUstream_flags::CU_STREAM_NON_BLOCKING.0;

/// Returns a context and a lock, because the order depends on the calls of all threads.
fn context() -> (TestContext, MutexGuard<'static, ()>) {
    static SETUP: Once = Once::new();
    static ALONE: Mutex<()> = Mutex::new(());
    SETUP.call_once(|| Settings::default().mode(Mode::Shuffled(1)).install().unwrap());
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    (TestContext::new(), alone)
}

/// Returns the final and the intermediate contents of memory of which three streams fill parts.
fn unordered(seed: u64) -> Vec<u8> {
    reseed(seed);
    let memory = alloc(64);
    write(memory, &[0u8; 64]);
    ok!(cuCtxSynchronize());
    let streams = [stream(NON_BLOCKING), stream(NON_BLOCKING), stream(0)];
    let mut seen = vec![0u8; 64];
    for (value, &stream) in (1..).zip(&streams) {
        ok!(cuMemsetD8Async(memory, value, 64, stream));
    }
    let apart = stream(NON_BLOCKING);
    ok!(cuMemcpyDtoHAsync_v2(seen.as_mut_ptr().cast(), memory, 64, apart));
    let mut current = CUcontext::null();
    ok!(cuCtxGetCurrent(&mut current));
    ok!(cuCtxSynchronize());
    seen.extend(read::<u8>(memory, 64));
    for stream in streams {
        ok!(cuStreamDestroy_v2(stream));
    }
    ok!(cuMemFree_v2(memory));
    seen
}

#[test]
fn what_nothing_orders_happens_in_every_order_and_a_seed_repeats_it() {
    let _context = context();
    let outcomes: Vec<Vec<u8>> = (0..200).map(unordered).collect();
    let last: HashSet<u8> = outcomes.iter().map(|seen| seen[64]).collect();
    assert_eq!(last, HashSet::from([1, 2, 3]), "who writes last");
    let first: HashSet<u8> = outcomes.iter().map(|seen| seen[0]).collect();
    assert_eq!(first, HashSet::from([0, 1, 2, 3]), "what the read sees");
    assert!(outcomes.iter().any(|seen| seen[0] != seen[63]), "no copy was seen half done");
    for (seed, outcome) in (0..).zip(&outcomes) {
        assert_eq!(unordered(seed), *outcome, "seed {seed}");
    }
}

#[test]
fn what_is_ordered_stays_in_order() {
    let _context = context();
    for seed in 0..200 {
        reseed(seed);
        let (memory, mut back) = (alloc(256), [0u8; 256]);
        let (first, second, done) = (stream(NON_BLOCKING), stream(NON_BLOCKING), event(0));
        ok!(cuMemsetD8Async(memory, 1, 256, first));
        ok!(cuMemsetD8Async(memory, 2, 128, first));
        ok!(cuEventRecord(done, first));
        ok!(cuStreamWaitEvent(second, done, 0));
        ok!(cuMemsetD8Async(memory + 64, 3, 128, second));
        ok!(cuMemcpyDtoHAsync_v2(back.as_mut_ptr().cast(), memory, 256, second));
        ok!(cuStreamSynchronize(second));
        assert_eq!(back[..], [[2u8; 64], [3; 64], [3; 64], [1; 64]].concat(), "seed {seed}");
        for stream in [first, second] {
            ok!(cuStreamDestroy_v2(stream));
        }
        // Waits for all work that may use the memory.
        ok!(cuMemFree_v2(memory));
    }
}

#[test]
fn operations_run_in_calls_that_have_nothing_to_do_with_them() {
    let _context = context();
    let stream = stream(NON_BLOCKING);
    let memory = alloc(64);
    let mut turns = HashSet::new();
    for seed in 0..50 {
        reseed(seed);
        ok!(cuMemsetD8Async(memory, 1, 64, stream));
        let mut count = 0;
        let calls = (0..1000).find(|_| {
            ok!(cuDeviceGetCount(&mut count));
            code!(cuStreamQuery(stream)) == CUresult::CUDA_SUCCESS
        });
        turns.insert(calls.expect("it never ran"));
    }
    assert!(turns.len() > 1, "always after as many calls: {turns:?}");
    ok!(cuCtxSynchronize());
}
