//! Locks between lanes of one warp: the owner runs although the others spin, in all modes, with
//! turns of any length.

use super::control::{kernel, load};
use super::device::{Args, MODES};

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
    for ([wait, leave], rounds) in ways.into_iter().zip([20, 20, 2]) {
        let body =
            take.replace("WAIT", &wait).replace("LEAVE", &leave).replace("ROUNDS", &rounds.to_string());
        let text = ".global .u32 lock; .global .u32 count;".to_owned()
            + &kernel(&format!("mov.u32 %w5, %laneid; {body} ld.volatile.global.u32 %d, [count];"));
        for mode in MODES {
            let mut device = load(&text);
            device.options.mode = mode;
            // 15 warps wait for each turn of another.
            device.options.budget = Some(8_000_000);
            let out = device.buffer(&[0u32; 512]);
            let launched = device.launch("k", 1, 512, &Args::default().buffer(&out));
            launched.unwrap_or_else(|fault| panic!("{mode:?}: {fault}\n{wait}"));
            assert_eq!(out.read::<u32>().iter().max(), Some(&(16 * rounds)));
        }
    }
}
