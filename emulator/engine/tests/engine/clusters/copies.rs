//! Asynchronous stores and copies to the memory of other blocks, and the barriers that they signal.

use super::{MEET, STORE, assert_stores, kernel, launch};
use crate::device::{Args, Device, MODES};

/// The value that a thread stores, from the rank of the previous block.
type Expected = fn(u32) -> u32;

/// Returns a kernel in which one thread of each block first creates a barrier for one arrival.
fn with_barrier(body: &str) -> String {
    kernel(&format!(
        "mov.u32 %w10, bar; setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared::cta.b64 [%w10], 1;
         @%p0 st.shared.u32 [s], 5; @%p0 st.shared.u32 [s+4], 5; fence.mbarrier_init.release.cluster; {MEET}
         add.u32 %w1, %rank, 1; rem.u32 %w1, %w1, %ranks; mapa.shared::cluster.u32 %w11, %w10, %w1;
         mapa.shared::cluster.u32 %w12, %s, %w1; {body}
         WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%w10], 0; @!%p1 bra WAIT;
         ld.shared.u32 %w9, [s]; ld.shared.u32 %w2, [s+4]; add.u32 %w9, %w9, %w2; {MEET} {STORE}"
    ))
}

#[test]
fn barriers_of_other_blocks_are_told_of_arrivals_and_of_bytes() {
    let before = |thread: u32| (thread / 32 % 3 + 2) % 3;
    let bodies: [(&str, Expected); 6] = [
        // A store, and an arrival that releases it.
        (
            "@%p0 st.shared::cluster.u32 [%w12], %rank;
             @%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%w11];",
            |before| before + 5,
        ),
        (
            "@%p0 st.shared::cluster.u32 [%w12], %rank; @%p0 mbarrier.arrive.shared::cluster.b64 _, [%w11], 1;",
            |before| before + 5,
        ),
        // A store that signals the barrier itself.
        (
            "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%w10], 4;
             @%p0 st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%w12], %rank, [%w11];",
            |before| before + 5,
        ),
        (
            "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%w10], 8; mul.lo.u32 %w13, %rank, 10;
             @%p0 st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 [%w12], {%rank, %w13}, [%w11];",
            |before| 11 * before,
        ),
        (
            "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%w10], 4; red.async.relaxed.cluster.shared::cluster",
            |before| before + 10,
        ),
        // From shared memory of one block to another block's.
        (
            "@%p0 st.shared.u32 [s+16], %rank; @%p0 st.shared.u32 [s+20], 70; @%p0 st.shared.u32 [s+24], 0;
             @%p0 st.shared.u32 [s+28], 0; add.u32 %w14, %s, 16; fence.proxy.async;
             @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%w10], 16;
             @%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%w12], [%w14], 16, [%w11];",
            |before| before + 70,
        ),
    ];
    for (body, expected) in bodies {
        let body = match body.ends_with("shared::cluster") {
            true => {
                body.replace("red.async", "@%p0 red.async")
                    + ".mbarrier::complete_tx::bytes.add.u32 [%w12], %rank, [%w11];"
            }
            false => body.to_owned(),
        };
        let expected: Vec<u32> = (0..6 * 32).map(|thread| expected(before(thread))).collect();
        assert_stores(&with_barrier(&body), 6, 32, 3, &expected);
    }
}

#[test]
fn one_copy_goes_to_the_blocks_that_its_mask_names() {
    let body = with_barrier(
        "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%w10], 16; setp.eq.u32 %p2, %rank, 1; and.pred %p2, %p2, %p0;
         mov.u16 %h, 5; add.u64 %a0, %o, 1024; setp.eq.u32 %p3, %rank, 1;
         @%p3 bra COPY; bra GO; COPY:
         @%p2 mbarrier.complete_tx.shared::cta.b64 [%w10], 16;
         @%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster
             [%s], [%a0], 16, [%w10], %h; GO:",
    );
    for mode in MODES {
        let mut device = Device::load(&body).unwrap_or_else(|error| panic!("{error}"));
        device.options.mode = mode;
        let mut values = vec![0u32; 260];
        values[256..].copy_from_slice(&[300, 20, 1, 1]);
        let out = device.buffer(&values);
        launch(&device, 6, 32, Some([3, 1, 1]), &Args::default().buffer(&out).push(0u32)).unwrap();
        let expected = |thread: u32| if thread / 32 % 3 == 1 { 10 } else { 320 };
        assert_eq!(out.read::<u32>()[..192], (0..192).map(expected).collect::<Vec<_>>(), "{mode:?}");
    }
}
