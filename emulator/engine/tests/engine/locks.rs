//! Locks between lanes of one warp: the owner runs although the others spin, in all modes, with
//! turns of any length.

use super::control::{kernel, load};
use super::device::{Args, Device, MODES};
use cuprum_engine::report::FaultKind;
use std::time::Duration;

/// Runs a kernel whose threads take a number each while they have a lock.
fn assert_that_all_take_a_number(spin: &str) {
    let text = ".global .u32 lock; .global .u32 count;".to_owned()
        + &kernel(&format!(
            "{spin}
            ld.volatile.global.u32 %d, [count]; add.u32 %w1, %d, 1; st.volatile.global.u32 [count], %w1;
            membar.gl; atom.global.exch.b32 %w0, [lock], 0;"
        ));
    for mode in MODES {
        for seed in [None, Some(1), Some(2)] {
            let mut device = load(&text);
            device.options.mode = mode;
            device.options.seed = seed;
            device.options.budget = Some(30_000_000);
            let out = device.buffer(&[u32::MAX; 34]);
            let launched = device.launch("k", 1, 34, &Args::default().buffer(&out));
            launched.unwrap_or_else(|fault| panic!("{mode:?}, seed {seed:?}: {fault}"));
            let mut numbers = out.read::<u32>();
            numbers.sort_unstable();
            assert_eq!(numbers, (0..34).collect::<Vec<_>>(), "{mode:?}, seed {seed:?}");
        }
    }
}

#[test]
fn lanes_that_spin_in_one_block_let_the_owner_run() {
    assert_that_all_take_a_number(
        "SPIN: atom.global.cas.b32 %w0, [lock], 0, 1; setp.ne.u32 %p, %w0, 0; @%p bra SPIN;",
    );
}

#[test]
fn lanes_that_spin_in_several_blocks_let_the_owner_run() {
    assert_that_all_take_a_number(
        "SPIN: atom.global.cas.b32 %w0, [lock], 0, 1; setp.eq.u32 %p, %w0, 0; @%p bra TAKEN;
        add.u32 %w3, %w3, 1; setp.gt.u32 %q, %w0, 5; @%q bra OFTEN; bra SPIN;
        OFTEN: add.u32 %w4, %w4, 1; bra SPIN;
        TAKEN:",
    );
}

#[test]
fn lanes_that_part_while_they_spin_let_the_owner_run() {
    assert_that_all_take_a_number(
        "and.b32 %w2, %t, 1; setp.eq.u32 %q, %w2, 1;
        SPIN: atom.global.cas.b32 %w0, [lock], 0, 1; setp.eq.u32 %p, %w0, 0; @%p bra TAKEN;
        @%q bra ODD; add.u32 %w3, %w3, 1; mov.u32 %w5, %w3; bra SPIN;
        ODD: add.u32 %w4, %w4, 1; mov.u32 %w5, %w4; bra SPIN;
        TAKEN:",
    );
}

/// A warp that waits for another one, by a lock or for a value, does not use up its turn.
#[test]
fn warps_that_wait_let_others_run_soon() {
    let take = "setp.ne.u32 %q, %w5, 0; @%q bra SKIP;
        mov.u32 %w3, ROUNDS;
        AGAIN: WAIT
        mov.u32 %w4, 50;
        WORK: add.u32 %w4, %w4, -1; setp.ne.u32 %q, %w4, 0; @%q bra WORK;
        ld.volatile.global.u32 %d, [count]; add.u32 %d, %d, 1; st.volatile.global.u32 [count], %d;
        membar.gl; LEAVE
        add.u32 %w3, %w3, -1; setp.ne.u32 %q, %w3, 0; @%q bra AGAIN;
        SKIP:";
    let by_lock = [
        "SPIN: atom.global.KIND %w0, [lock], ONE; setp.ne.u32 %p, %w0, 0; @%p bra SPIN;",
        "atom.global.exch.b32 %w0, [lock], 0;",
    ];
    let by_value = [
        "mov.u32 %w1, %tid.x; shr.u32 %w1, %w1, 5;
        SPIN: ld.volatile.global.u32 %w0, [lock]; setp.ne.u32 %p, %w0, %w1; @%p bra SPIN;",
        "add.u32 %w1, %w1, 1; and.b32 %w1, %w1, 15; st.volatile.global.u32 [lock], %w1;",
    ];
    let ways = [
        by_lock.map(|text| text.replace("KIND", "cas.b32").replace("ONE", "0, 1")),
        by_lock.map(|text| text.replace("KIND", "exch.b32").replace("ONE", "1")),
        by_value.map(str::to_owned),
    ];
    for ([wait, leave], rounds) in ways.into_iter().zip([20, 20, 20]) {
        let body =
            take.replace("WAIT", &wait).replace("LEAVE", &leave).replace("ROUNDS", &rounds.to_string());
        let text = ".global .u32 lock; .global .u32 count;".to_owned()
            + &kernel(&format!("mov.u32 %w5, %laneid; {body} ld.volatile.global.u32 %d, [count];"));
        for mode in MODES {
            let mut device = load(&text);
            device.options.mode = mode;
            // 15 warps wait for each turn of another.
            device.options.budget = Some(3_000_000);
            let out = device.buffer(&[0u32; 512]);
            let launched = device.launch("k", 1, 512, &Args::default().buffer(&out));
            launched.unwrap_or_else(|fault| panic!("{mode:?}: {fault}\n{wait}"));
            assert_eq!(out.read::<u32>().iter().max(), Some(&(16 * rounds)));
        }
    }
}

/// Blocks of an ordinary launch that meet as often as `rounds` say.
const MEETING: &str = "mov.u32 %w1, %tid.x; setp.ne.u32 %q, %w1, 0; mov.u32 %w2, %nctaid.x;
    mov.u32 %w3, 0; mov.u32 %w5, ROUNDS;
    AGAIN: add.u32 %w3, %w3, %w2; bar.sync 0; @%q bra MET;
    atom.global.add.u32 %w0, [lock], 1;
    SPIN: ld.volatile.global.u32 %w0, [lock]; setp.lt.u32 %p, %w0, %w3; @%p bra SPIN;
    MET: bar.sync 0; add.u32 %w5, %w5, -1; setp.ne.u32 %p, %w5, 0; @%p bra AGAIN;
    ld.volatile.global.u32 %d, [lock];";

fn launch_that_meets(device: &Device, blocks: u32, rounds: u32) -> Result<(), FaultKind> {
    let out = device.buffer(&[0u32; 64]);
    device.launch("k", blocks, 64, &Args::default().buffer(&out)).map_err(|fault| fault.kind)?;
    assert!(out.read::<u32>().iter().all(|count| *count >= blocks * rounds));
    Ok(())
}

#[test]
fn blocks_that_wait_for_later_ones_let_them_begin() {
    for (blocks, rounds) in [(2, 200), (7, 50), (32, 10)] {
        let text = MEETING.replace("ROUNDS", &rounds.to_string());
        for mode in MODES {
            for (workers, seed) in [(1, None), (2, None), (1, Some(3))] {
                let mut device = load(&(".global .u32 lock;".to_owned() + &kernel(&text)));
                device.options.mode = mode;
                device.options.workers = workers;
                device.options.seed = seed;
                // A worker that waits for one that the system does not run spends any budget.
                device.options.budget = if workers == 1 { Some(8_000_000) } else { None };
                device.options.time_limit = Some(Duration::from_secs(100));
                let met = launch_that_meets(&device, blocks, rounds);
                assert_eq!(met, Ok(()), "{mode:?}, {blocks} blocks, {workers} workers, seed {seed:?}");
            }
        }
    }
}

/// A multiprocessor has 32 blocks of 64 threads at most, so the last one never begins.
#[test]
fn blocks_that_cannot_run_at_the_same_time_wait_in_vain() {
    for mode in MODES {
        let mut device = load(&(".global .u32 lock;".to_owned() + &kernel(&MEETING.replace("ROUNDS", "1"))));
        device.options.mode = mode;
        device.options.workers = 1;
        device.options.budget = Some(3_000_000);
        assert_eq!(launch_that_meets(&device, 33, 1), Err(FaultKind::Timeout), "{mode:?}");
    }
}
