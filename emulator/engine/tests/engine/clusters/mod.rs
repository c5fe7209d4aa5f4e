//! Clusters of several blocks: their coordinates, the shared memory of other blocks, the barrier,
//! and the results of an H100 (driver 580) for misuse.

mod copies;

use crate::device::{Args, Device, MODES};
use cuprum_engine::exec::{ExecOptions, Execution, LaunchStats};
use cuprum_engine::report::{Fault, FaultKind, Hazard};
use cuprum_sys::CUresult;

const HEAD: &str = ".version 8.1\n.target sm_90\n.address_size 64\n";

/// The start of every kernel here: 32 threads per block, `%rank` and `%ranks` of the cluster, `%t`,
/// the first parameter in `%o`, and a shared array of 64 words at `%s`.
fn kernel(body: &str) -> String {
    format!(
        "{HEAD}.visible .entry k(.param .u64 out, .param .u32 number)\n{{\n\
         .reg .b64 %o, %a<8>, %token; .reg .b32 %rank, %ranks, %t, %s, %w<24>, %block; .reg .pred %p<4>; .reg .b16 %h;\n\
         .shared .align 16 .b32 s[64];\n.shared .align 8 .b64 bar;\n\
         ld.param.u64 %o, [out]; ld.param.u32 %w0, [number]; mov.u32 %t, %tid.x; mov.u32 %block, %ctaid.x;\n\
         mov.u32 %rank, %cluster_ctarank; mov.u32 %ranks, %cluster_nctarank; mov.u32 %s, s;\n{body}\nret;\n}}\n"
    )
}

const STORE: &str = "mov.u32 %w23, %ntid.x; mad.lo.u32 %w23, %block, %w23, %t; mul.wide.u32 %a7, %w23, 4;
    add.u64 %a7, %o, %a7; st.global.u32 [%a7], %w9;";
const MEET: &str = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;";

/// Returns options for launches: modes, orders, checks that find nothing in correct programs.
fn ways() -> Vec<ExecOptions> {
    let plain = ExecOptions { mode: Execution::Plain, ..ExecOptions::default() };
    let vector = ExecOptions::default();
    let checked = ExecOptions { check_init: true, check_races: true, check_barriers: true, ..vector.clone() };
    let workers = ExecOptions { workers: 3, ..vector.clone() };
    let compiled = ExecOptions { mode: Execution::Compiled, ..ExecOptions::default() };
    let shuffled = (1..4).map(|seed| ExecOptions { seed: Some(seed), ..checked.clone() });
    [plain, vector, compiled, checked.clone(), workers].into_iter().chain(shuffled).collect()
}

fn launch(
    device: &Device,
    blocks: u32,
    threads: u32,
    cluster: Option<[u32; 3]>,
    args: &Args,
) -> Result<LaunchStats, Box<Fault>> {
    device.launch_with("k", blocks, threads, args, |launch| launch.cluster = cluster)
}

/// Runs a kernel in every way and compares its results.
fn assert_stores(text: &str, blocks: u32, threads: u32, cluster: u32, expected: &[u32]) {
    for options in ways() {
        let mut device = Device::load(text).unwrap_or_else(|error| panic!("{error}"));
        device.options = options;
        let out = device.buffer(&vec![u32::MAX; expected.len()]);
        let args = Args::default().buffer(&out).push(5u32);
        launch(&device, blocks, threads, Some([cluster, 1, 1]), &args)
            .unwrap_or_else(|fault| panic!("{:?}: {fault}", device.options));
        assert_eq!(out.read::<u32>(), expected, "{:?}", device.options);
    }
}

/// Runs a kernel of four blocks of one thread in clusters of two. Expects this fault in both modes.
fn fault_of(text: &str, number: u32, cluster: u32) -> Box<Fault> {
    let [plain, others @ ..] = MODES.map(|mode| {
        let mut device = Device::load(text).unwrap_or_else(|error| panic!("{error}"));
        device.options.mode = mode;
        let out = device.buffer(&[0u32; 64]);
        let args = Args::default().buffer(&out).push(number);
        launch(&device, 4, 1, Some([cluster, 1, 1]), &args).expect_err("a fault")
    });
    others.iter().for_each(|other| assert_eq!(plain, *other));
    plain
}

/// Each block stores 24 words, as on an H100: registers, and the results of `mapa`, `getctarank`
/// and `isspacep` for addresses of its shared memory.
const DUMP: &str = "
 mov.u32 %w1, %ctaid.x; mov.u32 %w2, %ctaid.y; mov.u32 %w3, %nctaid.x; mov.u32 %w4, %nctaid.y;
 mov.u32 %w5, %ctaid.z; mad.lo.u32 %w2, %w5, %w4, %w2; mad.lo.u32 %w1, %w2, %w3, %w1;
 mul.wide.u32 %a0, %w1, 96; add.u64 %o, %o, %a0;
 mov.u32 %w1, %clusterid.x; st.global.u32 [%o], %w1; mov.u32 %w1, %clusterid.y; st.global.u32 [%o+4], %w1;
 mov.u32 %w1, %clusterid.z; st.global.u32 [%o+8], %w1;
 mov.u32 %w1, %nclusterid.x; st.global.u32 [%o+12], %w1; mov.u32 %w1, %nclusterid.y; st.global.u32 [%o+16], %w1;
 mov.u32 %w1, %nclusterid.z; st.global.u32 [%o+20], %w1;
 mov.u32 %w1, %cluster_ctaid.x; st.global.u32 [%o+24], %w1; mov.u32 %w1, %cluster_ctaid.y; st.global.u32 [%o+28], %w1;
 mov.u32 %w1, %cluster_ctaid.z; st.global.u32 [%o+32], %w1;
 mov.u32 %w1, %cluster_nctaid.x; st.global.u32 [%o+36], %w1; mov.u32 %w1, %cluster_nctaid.y;
 st.global.u32 [%o+40], %w1; mov.u32 %w1, %cluster_nctaid.z; st.global.u32 [%o+44], %w1;
 st.global.u32 [%o+48], %rank; st.global.u32 [%o+52], %ranks;
 mov.pred %p0, %is_explicit_cluster; selp.u32 %w1, 1, 0, %p0; st.global.u32 [%o+56], %w1;
 st.global.u32 [%o+60], %s;
 mapa.shared::cluster.u32 %w2, s, 0; st.global.u32 [%o+64], %w2;
 mapa.shared::cluster.u32 %w3, %s, %rank; st.global.u32 [%o+68], %w3;
 getctarank.shared::cluster.u32 %w4, %s; st.global.u32 [%o+72], %w4;
 getctarank.shared::cluster.u32 %w4, %w2; st.global.u32 [%o+76], %w4;
 mov.u64 %a0, s; cvta.shared.u64 %a1, %a0; mapa.u64 %a2, %a1, 0; getctarank.u64 %w5, %a1; st.global.u32 [%o+80], %w5;
 mov.u32 %w6, 0;
 isspacep.shared::cta %p0, %a1; @%p0 add.u32 %w6, %w6, 1; isspacep.shared::cluster %p0, %a1; @%p0 add.u32 %w6, %w6, 2;
 isspacep.shared::cta %p0, %a2; @%p0 add.u32 %w6, %w6, 4; isspacep.shared::cluster %p0, %a2; @%p0 add.u32 %w6, %w6, 8;
 isspacep.shared %p0, %a2; @%p0 add.u32 %w6, %w6, 16; isspacep.global %p0, %a2; @%p0 add.u32 %w6, %w6, 32;
 st.global.u32 [%o+84], %w6; sub.u64 %a3, %a2, %a1; cvt.u32.u64 %w7, %a3; st.global.u32 [%o+88], %w7;
 mapa.shared::cluster.u32 %w8, %s, 1; st.global.u32 [%o+92], %w8;";

/// Returns the words that an H100 stored, by block. Its shared memory begins with 0x400 reserved
/// bytes; here it begins with the variables.
fn dumped(grid: [u32; 3], cluster: Option<[u32; 3]>) -> Vec<Vec<u32>> {
    let mut words = Vec::new();
    for mode in MODES {
        let mut device = Device::load(&kernel(DUMP)).unwrap_or_else(|error| panic!("{error}"));
        device.options.mode = mode;
        let blocks = grid.iter().product::<u32>() as usize;
        let out = device.buffer(&vec![u32::MAX; 24 * blocks]);
        let args = Args::default().buffer(&out).push(0u32);
        let [x, y, z] = grid;
        device.launch_with("k", (x, y, z), 32, &args, |launch| launch.cluster = cluster).unwrap();
        words.push(out.read::<u32>().chunks(24).map(<[u32]>::to_vec).collect::<Vec<_>>());
    }
    assert_eq!(words[0], words[1]);
    words.remove(0)
}

#[test]
fn special_registers_and_addresses_say_what_an_h100_says() {
    let blocks = dumped([4, 2, 1], Some([2, 2, 1]));
    let recorded = [
        "0 0 0 2 1 1 0 0 0 2 2 1 0 4 1 000 000 000 0 0 0 1f 0 1000000",
        "0 0 0 2 1 1 1 0 0 2 2 1 1 4 1 1000000 000 1000000 1 0 1 b ff000000 1000000",
        "1 0 0 2 1 1 0 0 0 2 2 1 0 4 1 000 000 000 0 0 0 1f 0 1000000",
        "1 0 0 2 1 1 1 0 0 2 2 1 1 4 1 1000000 000 1000000 1 0 1 b ff000000 1000000",
        "0 0 0 2 1 1 0 1 0 2 2 1 2 4 1 2000000 000 2000000 2 0 2 b fe000000 1000000",
        "0 0 0 2 1 1 1 1 0 2 2 1 3 4 1 3000000 000 3000000 3 0 3 b fd000000 1000000",
        "1 0 0 2 1 1 0 1 0 2 2 1 2 4 1 2000000 000 2000000 2 0 2 b fe000000 1000000",
        "1 0 0 2 1 1 1 1 0 2 2 1 3 4 1 3000000 000 3000000 3 0 3 b fd000000 1000000",
    ];
    let words =
        |text: &str| text.split(' ').map(|word| u32::from_str_radix(word, 16).unwrap()).collect::<Vec<_>>();
    assert_eq!(blocks, recorded.map(words).to_vec());
    let alone = dumped([4, 2, 1], None);
    for (block, found) in alone.iter().enumerate() {
        let [x, y] = [block % 4, block / 4];
        let text = format!("{x} {y} 0 4 2 1 0 0 0 1 1 1 0 1 0 0 0 0 0 0 0 1f 0 1000000");
        assert_eq!(*found, words(&text), "block {block}");
    }
    assert!(
        dumped([2, 1, 1], Some([1; 3])).iter().all(|block| block[14] == 1),
        "explicit, though of one block"
    );
    let deep = dumped([4, 1, 2], Some([1, 1, 2]));
    assert_eq!(deep[4], words("0 0 0 4 1 1 0 0 1 1 1 2 1 2 1 1000000 000 1000000 1 0 1 b ff000000 1000000"));
}

#[test]
fn a_kernel_that_names_its_clusters_gets_them() {
    let text = kernel(&format!("mov.u32 %w9, %ranks; {STORE}"))
        .replace("\n{\n.reg", "\n.explicitcluster\n.reqnctapercluster 2, 1, 1\n{\n.reg");
    assert!(text.contains("reqnctapercluster"));
    let device = Device::load(&text).unwrap_or_else(|error| panic!("{error}"));
    let bounds = device.kernel("k").cluster();
    assert_eq!((bounds.required, bounds.explicit, bounds.most), (Some([2, 1, 1]), true, None));
    let out = device.buffer(&[0u32; 4]);
    launch(&device, 4, 1, None, &Args::default().buffer(&out).push(0u32)).unwrap();
    assert_eq!(out.read::<u32>(), [2; 4]);
    let fault =
        launch(&device, 3, 1, None, &Args::default().buffer(&out).push(0u32)).expect_err("no whole cluster");
    assert!(
        matches!(&fault.kind, FaultKind::Other(text) if text.contains("clusters of [2, 1, 1]")),
        "{fault}"
    );
}

/// Every thread writes to its block, and reads the value that the next block's thread wrote: by
/// loads, generic or not, of one or two elements.
#[test]
fn blocks_read_what_others_wrote() {
    let loads = [
        "mapa.shared::cluster.u32 %w3, %w1, %w2; ld.shared::cluster.u32 %w9, [%w3];",
        "mapa.shared::cluster.u32 %w3, %s, %w2; shl.b32 %w4, %t, 2; add.u32 %w3, %w3, %w4;
         ld.relaxed.cluster.shared::cluster.u32 %w9, [%w3];",
        "cvt.u64.u32 %a0, %w1; cvta.shared.u64 %a0, %a0; mapa.u64 %a1, %a0, %w2; ld.u32 %w9, [%a1];",
        "cvt.u64.u32 %a0, %w1; mapa.shared::cluster.u64 %a1, %a0, %w2; ld.shared::cluster.u32 %w9, [%a1];",
        "mapa.shared::cluster.u32 %w3, %s, %w2; and.b32 %w4, %t, 30; shl.b32 %w5, %w4, 2; add.u32 %w3, %w3, %w5;
         ld.shared::cluster.v2.u32 {%w6, %w7}, [%w3]; and.b32 %w8, %t, 1; setp.eq.u32 %p0, %w8, 0;
         selp.u32 %w9, %w6, %w7, %p0;",
        "mapa.shared::cluster.u32 %w3, %w1, %w2; atom.shared::cluster.add.u32 %w9, [%w3], 1;",
        // The block's own memory through the cluster's window.
        "ld.shared::cluster.u32 %w9, [%w1]; add.u32 %w9, %w9, 100; rem.u32 %w4, %w9, 400;
         sub.u32 %w3, %ranks, 1; setp.ne.u32 %p0, %rank, %w3; @!%p0 mov.u32 %w9, %t;",
    ];
    for load in loads {
        let body = format!(
            "shl.b32 %w1, %t, 2; add.u32 %w1, %w1, %s; mad.lo.u32 %w2, %rank, 100, %t; st.shared.u32 [%w1], %w2; {MEET}
             add.u32 %w2, %rank, 1; rem.u32 %w2, %w2, %ranks; {load} {MEET} {STORE}"
        );
        let next = |thread: u32| (thread / 32 % 4 + 1) % 4 * 100 + thread % 32;
        assert_stores(&kernel(&body), 12, 32, 4, &(0..12 * 32).map(next).collect::<Vec<_>>());
    }
}

#[test]
fn blocks_write_to_others_and_add() {
    let body = format!(
        "setp.eq.u32 %p0, %t, 0; @%p0 st.shared.u32 [s], 0; @%p0 st.shared.u32 [s+4], 7; {MEET}
         mapa.shared::cluster.u32 %w1, %s, 0; add.u32 %w2, %rank, 1;
         red.shared::cluster.add.u32 [%w1], %w2; setp.eq.u32 %p1, %rank, 1; and.pred %p1, %p1, %p0;
         @%p1 st.shared::cluster.u32 [%w1+4], 50; {MEET} ld.shared.u32 %w9, [s]; ld.shared.u32 %w3, [s+4];
         add.u32 %w9, %w9, %w3; {STORE}"
    );
    // 64 threads of each of three blocks, in two warps.
    let expected = |thread: u32| if thread / 64 % 3 == 0 { 64 * 6 + 50 } else { 7 };
    assert_stores(&kernel(&body), 6, 64, 3, &(0..6 * 64).map(expected).collect::<Vec<_>>());
}

#[test]
fn addresses_that_one_block_hands_to_another_mean_the_same_to_both() {
    let body = format!(
        "add.u32 %w1, %rank, 40; st.shared.u32 [s+8], %w1; mov.u64 %a0, s; cvta.shared.u64 %a0, %a0;
         mul.wide.u32 %a1, %block, 8; add.u64 %a1, %o, %a1; st.global.u64 [%a1+64], %a0; {MEET}
         xor.b32 %w2, %block, 1; mul.wide.u32 %a1, %w2, 8; add.u64 %a1, %o, %a1; ld.global.u64 %a2, [%a1+64];
         ld.u32 %w9, [%a2+8]; {MEET} {STORE}"
    );
    for options in ways() {
        let mut device = Device::load(&kernel(&body)).unwrap_or_else(|error| panic!("{error}"));
        device.options = options;
        let out = device.buffer(&[0u32; 32]);
        launch(&device, 4, 1, Some([2, 1, 1]), &Args::default().buffer(&out).push(0u32)).unwrap();
        assert_eq!(out.read::<u32>()[..4], [41, 40, 41, 40], "{:?}", device.options);
    }
}

/// A product of the address, a loop, and copies: the vector mode computes only the first lane.
#[test]
fn the_vector_mode_knows_that_addresses_differ_by_block() {
    let body =
        "mov.u32 %w1, s; mul.lo.u32 %w2, %t, %w1; mov.u32 %w3, %w1; add.u32 %w4, %w3, 8; shr.u32 %w4, %w4, 24;
        shr.u32 %w2, %w2, 24; mad.lo.u32 %w9, %w2, 1000, %w4; mov.u32 %w5, %w3; mov.u32 %w6, 0;
        L: add.u32 %w5, %w5, 4; add.u32 %w6, %w6, 1; setp.lt.u32 %p0, %w6, 8; @%p0 bra L;
        st.shared.u32 [%w5], %w9; bar.warp.sync 0xffffffff; ld.shared.u32 %w9, [s+32];"
            .to_owned() + STORE;
    let expected: Vec<u32> = (0..128).map(|at| (at % 32) * (at / 32 % 2) * 1000 + at / 32 % 2).collect();
    let last: Vec<u32> = expected.chunks(32).flat_map(|block| [block[31]; 32]).collect();
    for mode in MODES {
        let mut device = Device::load(&kernel(&body)).unwrap_or_else(|error| panic!("{error}"));
        device.options.mode = mode;
        let out = device.buffer(&[0u32; 128]);
        let args = Args::default().buffer(&out).push(0u32);
        // With clusters, without, and with them again: state kept between launches must not matter.
        for cluster in [2, 1, 2] {
            launch(&device, 4, 32, Some([cluster, 1, 1]), &args).unwrap();
            let expected = if cluster == 2 { last.clone() } else { vec![0; 128] };
            assert_eq!(out.read::<u32>(), expected, "{mode:?} {cluster}");
        }
    }
}

/// Invalid accesses of clusters of two, by number, with the codes of an H100.
const WRONG: &str = "
 add.u32 %w2, %rank, 100; st.shared.u32 [s], %w2; sub.u32 %w3, %ranks, 1; sub.u32 %w3, %w3, %rank;
 mapa.shared::cluster.u32 %w4, %s, %w3; mov.u32 %w9, 0;
 barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
 add.u32 %w5, %w4, 0x100000; mapa.shared::cluster.u32 %w6, %s, 7; and.b32 %w7, %s, 0xffffff; add.u32 %w8, %s, 0x100000;
 setp.eq.u32 %p0, %w0, 0; @%p0 ld.shared::cluster.u32 %w9, [%w4];
 setp.eq.u32 %p0, %w0, 1; @%p0 ld.shared::cluster.u32 %w9, [%w5];
 setp.eq.u32 %p0, %w0, 2; @%p0 ld.shared::cluster.u32 %w9, [%w6];
 setp.eq.u32 %p0, %w0, 4; @%p0 ld.shared::cta.u32 %w9, [%w4];
 setp.eq.u32 %p0, %w0, 5; @%p0 ld.shared::cta.u32 %w9, [%w7];
 setp.eq.u32 %p0, %w0, 6; @%p0 ld.shared::cluster.u32 %w9, [%w7];
 setp.eq.u32 %p0, %w0, 8; @%p0 ld.shared.u32 %w9, [%w8];
 setp.eq.u32 %p0, %w0, 11; @%p0 st.shared::cluster.u32 [%w5], %w9;
 setp.ne.u32 %p0, %w0, 3; @%p0 bra END;
 setp.eq.u32 %p0, %rank, 0; @%p0 exit; mov.u32 %w20, 0;
 WAIT: add.u32 %w20, %w20, 1; setp.lt.u32 %p0, %w20, 300000; @%p0 bra WAIT;
 mapa.shared::cluster.u32 %w4, %s, 0; ld.shared::cluster.u32 %w9, [%w4];
 END: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;";

#[test]
fn wrong_accesses_fault_as_on_an_h100() {
    let text = kernel(&(WRONG.to_owned() + STORE));
    for (number, cluster, kind, code) in [
        (1, 2, FaultKind::OutOfBounds, CUresult::CUDA_ERROR_ILLEGAL_ADDRESS),
        (2, 2, FaultKind::BlockNotPresent, CUresult::CUDA_ERROR_LAUNCH_FAILED),
        (2, 1, FaultKind::BlockNotPresent, CUresult::CUDA_ERROR_LAUNCH_FAILED),
        (3, 2, FaultKind::BlockNotPresent, CUresult::CUDA_ERROR_LAUNCH_FAILED),
        (4, 2, FaultKind::OtherBlock, CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION),
        (5, 2, FaultKind::OtherBlock, CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION),
        (8, 2, FaultKind::OutOfBounds, CUresult::CUDA_ERROR_ILLEGAL_ADDRESS),
        (11, 2, FaultKind::OutOfBounds, CUresult::CUDA_ERROR_ILLEGAL_ADDRESS),
    ] {
        let fault = fault_of(&text, number, cluster);
        assert_eq!((&fault.kind, fault.code()), (&kind, code), "{number}: {fault}");
        assert_eq!(fault.access.as_ref().map(|access| access.space), Some("shared"), "{number}: {fault}");
    }
    for (number, expected) in [(0, [101, 100, 101, 100]), (6, [100; 4])] {
        let device = Device::load(&text).unwrap_or_else(|error| panic!("{error}"));
        let out = device.buffer(&[0u32; 4]);
        launch(&device, 4, 1, Some([2, 1, 1]), &Args::default().buffer(&out).push(number)).unwrap();
        assert_eq!(out.read::<u32>(), expected, "{number}");
    }
}

#[test]
fn who_exits_counts_as_arrived_and_who_never_comes_is_told() {
    let body = format!("setp.eq.u32 %p0, %rank, 0; @%p0 exit; {MEET} mov.u32 %w9, 3; {STORE}");
    let device = Device::load(&kernel(&body)).unwrap_or_else(|error| panic!("{error}"));
    let out = device.buffer(&[0u32; 4]);
    launch(&device, 4, 1, Some([2, 1, 1]), &Args::default().buffer(&out).push(0u32)).unwrap();
    assert_eq!(out.read::<u32>(), [0, 3, 0, 3]);
    // One block waits for the cluster, the other at a barrier that half of its threads never reach.
    let stuck = "setp.eq.u32 %p0, %rank, 0; @%p0 bra W; setp.lt.u32 %p1, %t, 32; @%p1 bar.sync 1, 64;
        W: barrier.cluster.arrive; barrier.cluster.wait;";
    for mode in MODES {
        let mut device = Device::load(&kernel(stuck)).unwrap_or_else(|error| panic!("{error}"));
        device.options.mode = mode;
        let out = device.buffer(&[0u32; 4]);
        let args = Args::default().buffer(&out).push(0u32);
        let fault = launch(&device, 2, 64, Some([2, 1, 1]), &args).expect_err("nobody can go on");
        assert_eq!(fault.kind, FaultKind::BarrierDivergence, "{fault}");
    }
}

#[test]
fn what_the_barrier_of_a_cluster_orders_is_no_race_and_what_it_does_not_is_one() {
    let read = "mapa.shared::cluster.u32 %w3, %s, %w2; ld.shared::cluster.u32 %w9, [%w3];";
    let run = |between: &str| {
        let body =
            format!("st.shared.u32 [s], %rank; xor.b32 %w2, %rank, 1; {between} {read} {MEET} {STORE}");
        let mut device = Device::load(&kernel(&body)).unwrap_or_else(|error| panic!("{error}"));
        device.options.check_races = true;
        let out = device.buffer(&[0u32; 4]);
        launch(&device, 4, 1, Some([2, 1, 1]), &Args::default().buffer(&out).push(0u32))
    };
    run(MEET).unwrap();
    run("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;").unwrap();
    for between in ["", "barrier.cluster.arrive.relaxed; barrier.cluster.wait;"] {
        let fault = run(between).expect_err("a race");
        let kind = &fault.kind;
        assert!(matches!(kind, FaultKind::Race(Hazard::ReadAfterWrite | Hazard::WriteAfterRead)), "{fault}");
        assert_ne!(fault.related[0].block, fault.block, "{fault}");
    }
    // Uninitialized memory.
    let body =
        format!("{MEET} mapa.shared::cluster.u32 %w3, %s, 0; ld.shared::cluster.u32 %w9, [%w3]; {MEET}");
    let mut device = Device::load(&kernel(&body)).unwrap_or_else(|error| panic!("{error}"));
    device.options.check_init = true;
    let out = device.buffer(&[0u32; 4]);
    let args = Args::default().buffer(&out).push(0u32);
    let fault = launch(&device, 2, 1, Some([2, 1, 1]), &args).expect_err("a read of what nobody wrote");
    assert_eq!(fault.kind, FaultKind::UninitializedRead, "{fault}");
}

#[test]
fn a_grid_waits_for_all_its_clusters() {
    // Blocks of one cluster wait for another cluster, so only a cooperative launch completes.
    let body = format!(
        "setp.eq.u32 %p0, %t, 0; @%p0 red.global.add.u32 [%o+512], 1; mov.u32 %w3, %nctaid.x;
         WAIT: ld.volatile.global.u32 %w2, [%o+512]; setp.lt.u32 %p1, %w2, %w3; @%p1 bra WAIT;
         mov.u32 %w9, %w2; {MEET} {STORE}"
    );
    for workers in [1, 3] {
        let mut device = Device::load(&kernel(&body)).unwrap_or_else(|error| panic!("{error}"));
        device.options.workers = workers;
        let out = device.buffer(&[0u32; 129]);
        let args = Args::default().buffer(&out).push(0u32);
        let adjust = |launch: &mut cuprum_engine::exec::LaunchArgs<'_>| {
            (launch.cluster, launch.cooperative) = (Some([2, 1, 1]), true);
        };
        device.launch_with("k", 8, 4, &args, adjust).unwrap();
        assert_eq!(out.read::<u32>()[..32], [8; 32]);
    }
}

#[test]
fn what_only_the_own_block_has_names_no_other() {
    for refused in [
        "mbarrier.init.shared::cluster.b64 [%w1], 1;",
        "mbarrier.arrive.shared::cluster.b64 %token, [%w1];",
        "mbarrier.arrive.noComplete.shared::cluster.b64 _, [%w1], 1;",
        "mbarrier.test_wait.shared::cluster.b64 %p0, [%w1], %token;",
        "mapa.shared::cta.u32 %w1, %w2, 1;",
        "getctarank.shared.u32 %w1, %w2;",
        "barrier.cluster.arrive.acquire;",
        "barrier.cluster.wait.relaxed;",
        "cp.async.bulk.shared::cluster.shared::cluster.mbarrier::complete_tx::bytes [%w1], [%w2], 16, [%w3];",
        "cp.async.ca.shared::cluster.global [%w1], [%a0], 4;",
        "ldmatrix.sync.aligned.m8n8.x1.shared::cluster.b16 {%w1}, [%w2];",
    ] {
        assert!(Device::load(&kernel(refused)).is_err(), "{refused}");
    }
}
