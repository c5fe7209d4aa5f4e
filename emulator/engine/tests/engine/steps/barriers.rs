//! Barriers, and the registers that threads keep across them.

use super::{agreed, runs};

/// Threads exchange words across their block, as often as a loop says.
#[test]
fn threads_read_what_others_wrote_before_a_barrier() {
    for wait in
        ["bar.sync 0;", "barrier.sync 1;", "bar.red.popc.u32 %r7, 0, %p0;", "bar.warp.sync -1; bar.sync 0;"]
    {
        runs(&format!(
            "mov.u32 %n, %ntid.x;\nand.b32 %r7, %t, 127;\nmul.wide.u32 %w1, %r7, 4;\nmov.u64 %w0, room;\nadd.u64 %w1, %w1, %w0;\n\
             mov.u32 %r4, 0;\nL:\nsetp.lt.u32 %p2, %t, 128;\n@%p2 st.shared.u32 [%w1], %r0;\n{wait}\n\
             add.u32 %r5, %t, %r4;\nadd.u32 %r5, %r5, 37;\nsub.u32 %r6, %n, 1;\nmin.u32 %r6, %r6, 127;\nrem.u32 %r5, %r5, %r6;\n\
             mul.wide.u32 %w2, %r5, 4;\nadd.u64 %w2, %w2, %w0;\nld.shared.u32 %r5, [%w2];\n{wait}\nadd.u32 %r0, %r0, %r5;\n\
             add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p3, %r4, 6;\n@%p3 bra L;\n"
        ));
    }
}

/// Lanes of a quad that part leave a register with a number each, where a quad expects one of all.
#[test]
fn lanes_that_part_between_barriers_keep_their_own_numbers() {
    // Each way has a loop, so lanes do not run it with a guard.
    let way = |name: &str, step: u32| {
        format!(
            "mov.u32 %r6, 0;\n{name}:\nadd.u32 %r5, %r5, {step};\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 %p4, %r6, 3;\n@%p4 bra {name};\n"
        )
    };
    let (one, other) = (way("ONE", 5), way("OTHER", 7));
    let part = format!("@%p0 bra M;\n{one}bra N;\nM:\n{other}N:\n");
    for body in [
        format!(
            "mov.u32 %r5, 1;\n{part}bar.sync 0;\nadd.u32 %r0, %r0, %r5;\nbar.sync 0;\nmad.lo.u32 %r1, %r5, %t, %r1;\n"
        ),
        // The number stays across the barriers of a loop, and changes in it.
        format!(
            "mov.u32 %r5, 1;\n{part}mov.u32 %r4, 0;\nL:\nbar.sync 0;\nadd.u32 %r0, %r0, %r5;\nadd.u32 %r4, %r4, 1;\n\
             setp.lt.u32 %p3, %r4, 4;\n@%p3 bra L;\n"
        ),
        format!(
            "mov.u32 %r5, 1;\nmov.u32 %r4, 0;\nL:\nadd.u32 %r0, %r0, %r5;\nbar.sync 0;\n{part}bar.sync 0;\n\
             xor.b32 %r1, %r1, %r5;\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p3, %r4, 4;\n@%p3 bra L;\n"
        ),
        // A barrier on one of the ways, which then takes each lane by itself.
        format!(
            "mov.u32 %r5, 1;\nmov.u32 %r4, 0;\nL:\n@%p0 bra M;\n{one}bar.warp.sync 0;\nM:\nbar.sync 0;\nadd.u32 %r0, %r0, %r5;\n\
             add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p3, %r4, 4;\n@%p3 bra L;\n"
        ),
    ] {
        runs(&body);
    }
}

/// A register that is written before a loop, in some lanes and again after it.
#[test]
fn registers_written_outside_of_a_loop_with_barriers_keep_their_values() {
    for first in [
        "mov.u32 %r5, %r2;\nmov.u64 %w4, %at;\nsetp.gt.u32 %p5, %r3, 77777;\n",
        "mov.u32 %r5, 3;\n@%p0 mov.u32 %r5, %r2;\nmov.u64 %w4, 9;\n@%p1 add.u64 %w4, %w4, %at;\nsetp.gt.u32 %p5, %r3, 77777;\n@%p0 setp.gt.u32 %p5, %t, 9;\n",
        "mov.u32 %r5, 3;\nmov.u64 %w4, 9;\nsetp.ne.u32 %p5, %n, 3;\n@%p0 bra M;\nadd.u32 %r5, %r5, %t;\nadd.u64 %w4, %w4, 8;\nsetp.eq.u32 %p5, %t, 1;\nM:\n",
    ] {
        runs(&format!(
            "{first}mov.u32 %r4, 0;\nL:\nmov.u32 %r6, 0;\nK:\nbar.sync 0;\nadd.u32 %r0, %r0, %r5;\ncvt.u32.u64 %r7, %w4;\n\
             @%p5 xor.b32 %r1, %r1, %r7;\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 %p3, %r6, 3;\n@%p3 bra K;\n\
             add.u32 %r5, %r5, 11;\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p3, %r4, 3;\n@%p3 bra L;\nadd.u32 %r2, %r2, %r5;\n"
        ));
    }
}

/// Lanes that use up their share of a turn on the way to a barrier, others that have ended, and
/// barriers of some warps.
#[test]
fn threads_that_take_long_or_end_reach_a_barrier_in_time() {
    for body in [
        "mov.u32 %r4, 0;\nL:\nand.b32 %r5, %r0, 4095;\nK:\nadd.u32 %r1, %r1, %r5;\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p2, %r5, 5000;\n\
         @%p2 bra K;\nbar.sync 0;\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p3, %r4, 3;\n@%p3 bra L;\n",
        "setp.gt.u32 %p2, %t, 70;\n@%p2 exit;\nbar.sync 0;\nadd.u32 %r0, %r0, 1;\nbar.sync 0;\nadd.u32 %r0, %r0, 1;\n",
        "setp.lt.u32 %p2, %t, 5;\nmov.u32 %r4, 0;\nL:\nbar.sync 0;\n@%p2 exit;\nadd.u32 %r0, %r0, 1;\nadd.u32 %r4, %r4, 1;\n\
         setp.lt.u32 %p3, %r4, 3;\n@%p3 bra L;\n",
        "bar.sync 0;\nbar.arrive 3, 1024;\nadd.u32 %r0, %r0, 1;\nbar.sync 0;\nadd.u32 %r0, %r0, 2;\nbar.sync 4;\n",
        "shr.u32 %r5, %t, 5;\nand.b32 %r5, %r5, 1;\nadd.u32 %r5, %r5, 1;\nmov.u32 %r4, 0;\nL:\nbar.sync %r5, 32;\nbar.sync 0;\n\
         add.u32 %r0, %r0, %r5;\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p3, %r4, 3;\n@%p3 bra L;\n",
    ] {
        runs(body);
    }
}

/// One warp of a block leaves the way of the others between barriers: its lanes part, wait for each
/// other, end, or take long; or all warps take long.
#[test]
fn one_warp_takes_a_way_of_its_own() {
    let repeats = |first: &str, least: u32| {
        format!(
            "{first}K:\nadd.u32 %r1, %r1, %r7;\nadd.u32 %r7, %r7, 1;\nsetp.lt.u32 %p3, %r7, {least};\n@%p3 bra K;\n"
        )
    };
    let parts = repeats("and.b32 %r7, %t, 3;\n", 6);
    let takes_long = repeats("mov.u32 %r7, 0;\n", 9000);
    let usual = repeats("mov.u32 %r7, 0;\n", 900).replace('K', "J");
    for own in [&parts, "bar.warp.sync -1;\n", "exit;\n", &takes_long] {
        for (warp, others) in [(0, ""), (1, ""), (4, ""), (9, ""), (4, &usual)] {
            let body = format!(
                "shr.u32 %r5, %t, 5;\nsetp.ne.u32 %p2, %r5, {warp};\nmov.u32 %r4, 0;\nL:\n{others}bar.sync 0;\nadd.u32 %r0, %r0, %r4;\n\
                 @%p2 bra N;\n{own}N:\nxor.b32 %r2, %r2, %r1;\nbar.sync 0;\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p4, %r4, 3;\n@%p4 bra L;\n"
            );
            agreed(&body, 300, warp).unwrap_or_else(|fault| panic!("{body}\n{fault}"));
        }
    }
}

/// The fault that is reported is of the first warp whose store faults.
#[test]
fn a_fault_is_of_the_warp_that_runs() {
    for warp in [0, 1, 5, 8] {
        let body = format!(
            "bar.sync 0;\nsetp.lt.u32 %p2, %t, {};\nmov.u64 %w1, 16;\n@%p2 mov.u64 %w1, %out;\nst.global.u32 [%w1], %r0;\n",
            32 * warp + 7
        );
        let fault = agreed(&body, 300, warp).expect_err(&body);
        let thread = format!("thread ({},0,0)", 32 * warp + 7);
        assert!(fault.contains(&thread), "no {thread:?} in:\n{fault}\n{body}");
    }
}
