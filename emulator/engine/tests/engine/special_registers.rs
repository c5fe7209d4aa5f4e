//! Special registers equal their formula in all threads, modes, launch shapes and instructions.

use crate::device::{Args, Device};
use cuprum_engine::exec::{ExecOptions, Execution};

struct Thread {
    grid: [u32; 3],
    cluster: [u32; 3],
    shape: [u32; 3],
    block: [u32; 3],
    thread: [u32; 3],
}

impl Thread {
    fn linear([x, y, z]: [u32; 3], [width, height, _]: [u32; 3]) -> u32 {
        x + width * (y + height * z)
    }

    fn lane(&self) -> u32 {
        Self::linear(self.thread, self.shape) % 32
    }

    fn in_cluster(&self) -> [u32; 3] {
        std::array::from_fn(|axis| self.block[axis] % self.cluster[axis])
    }

    fn threads(&self) -> u32 {
        self.shape.iter().product()
    }
}

type Formula = fn(&Thread) -> u32;

const REGISTERS: &[(&str, Formula)] = &[
    ("%tid.x", |t| t.thread[0]),
    ("%tid.y", |t| t.thread[1]),
    ("%tid.z", |t| t.thread[2]),
    ("%ntid.x", |t| t.shape[0]),
    ("%ntid.y", |t| t.shape[1]),
    ("%ntid.z", |t| t.shape[2]),
    ("%ctaid.x", |t| t.block[0]),
    ("%ctaid.y", |t| t.block[1]),
    ("%ctaid.z", |t| t.block[2]),
    ("%nctaid.x", |t| t.grid[0]),
    ("%nctaid.y", |t| t.grid[1]),
    ("%nctaid.z", |t| t.grid[2]),
    ("%clusterid.x", |t| t.block[0] / t.cluster[0]),
    ("%clusterid.y", |t| t.block[1] / t.cluster[1]),
    ("%clusterid.z", |t| t.block[2] / t.cluster[2]),
    ("%nclusterid.x", |t| t.grid[0] / t.cluster[0]),
    ("%nclusterid.y", |t| t.grid[1] / t.cluster[1]),
    ("%nclusterid.z", |t| t.grid[2] / t.cluster[2]),
    ("%cluster_ctaid.x", |t| t.in_cluster()[0]),
    ("%cluster_ctaid.y", |t| t.in_cluster()[1]),
    ("%cluster_ctaid.z", |t| t.in_cluster()[2]),
    ("%cluster_nctaid.x", |t| t.cluster[0]),
    ("%cluster_nctaid.y", |t| t.cluster[1]),
    ("%cluster_nctaid.z", |t| t.cluster[2]),
    ("%cluster_ctarank", |t| Thread::linear(t.in_cluster(), t.cluster)),
    ("%cluster_nctarank", |t| t.cluster.iter().product()),
    ("%laneid", |t| t.lane()),
    ("%warpid", |t| Thread::linear(t.thread, t.shape) / 32),
    ("%nwarpid", |t| t.threads().div_ceil(32)),
    ("%lanemask_eq", |t| 1 << t.lane()),
    ("%lanemask_lt", |t| (1 << t.lane()) - 1),
    ("%lanemask_le", |t| u32::MAX >> (31 - t.lane())),
    ("%lanemask_gt", |t| !(u32::MAX >> (31 - t.lane()))),
    ("%lanemask_ge", |t| !((1 << t.lane()) - 1)),
    ("WARP_SZ", |_| 32),
];

const READS: &[(&str, &str)] = &[
    ("as it is", "mov.u32 %v, REG;"),
    (
        "computed with",
        "mov.u32 %v, REG; mad.lo.u32 %v, %v, 3, 5; sub.u32 %v, %v, 5; mul.lo.u32 %v, %v, 0xAAAAAAAB;",
    ),
    ("under a guard", "mov.u32 %v, 77; setp.ne.u32 %p, %n, 4096; @%p mov.u32 %v, REG;"),
    (
        "where lanes part",
        "mov.u32 %v, REG; and.b32 %w, %t, 1; setp.eq.u32 %p, %w, 0; @%p bra ON; mov.u32 %v, REG; ON:",
    ),
    (
        "after a loop",
        "mov.u32 %w, 0; L: add.u32 %w, %w, 1; mov.u32 %v, REG; setp.lt.u32 %p, %w, 3; @%p bra L;",
    ),
    (
        "in another lane",
        "mov.u32 %w, REG; mov.u32 %v, %w; match.any.sync.b32 %w, %w, -1; and.b32 %w, %w, 0; add.u32 %v, %v, %w;",
    ),
];

/// Returns a kernel that stores `registers` of each thread, in order.
fn kernel(registers: &[(&str, Formula)], read: &str) -> String {
    let mut body = String::new();
    for (index, (register, _)) in registers.iter().enumerate() {
        let read = read
            .replace("REG", register)
            .replace("ON", &format!("ON{index}"))
            .replace("L:", &format!("L{index}:"));
        let read = read.replace("bra L;", &format!("bra L{index};"));
        body += &format!("{read} st.global.u32 [%o+{}], %v;\n", 4 * index);
    }
    format!(
        ".version 8.1\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n{{\n\
         .reg .b64 %o, %a; .reg .b32 %v, %w, %t, %b, %n, %m; .reg .pred %p;\n\
         ld.param.u64 %o, [out];\n\
         mov.u32 %b, %ctaid.z; mov.u32 %n, %nctaid.y; mov.u32 %m, %ctaid.y; mad.lo.u32 %b, %b, %n, %m;\n\
         mov.u32 %n, %nctaid.x; mov.u32 %m, %ctaid.x; mad.lo.u32 %b, %b, %n, %m;\n\
         mov.u32 %t, %tid.z; mov.u32 %n, %ntid.y; mov.u32 %m, %tid.y; mad.lo.u32 %t, %t, %n, %m;\n\
         mov.u32 %n, %ntid.x; mov.u32 %m, %tid.x; mad.lo.u32 %t, %t, %n, %m;\n\
         mul.lo.u32 %b, %b, %n; mov.u32 %n, %ntid.y; mul.lo.u32 %b, %b, %n; mov.u32 %n, %ntid.z;\n\
         mad.lo.u32 %b, %b, %n, %t; mul.wide.u32 %a, %b, {}; add.u64 %o, %o, %a;\n{body}\nret;\n}}\n",
        4 * registers.len()
    )
}

fn coordinates(at: u32, [width, height, _]: [u32; 3]) -> [u32; 3] {
    [at % width, at / width % height, at / width / height]
}

fn ways() -> Vec<ExecOptions> {
    let plain = ExecOptions { mode: Execution::Plain, ..ExecOptions::default() };
    let checked = ExecOptions { check_races: true, check_init: true, check_barriers: true, ..plain.clone() };
    let barriers = ExecOptions { check_barriers: true, ..ExecOptions::default() };
    let seeded = ExecOptions { seed: Some(7), ..ExecOptions::default() };
    let workers = ExecOptions { workers: 3, ..ExecOptions::default() };
    let compiled = ExecOptions { mode: Execution::Compiled, ..ExecOptions::default() };
    vec![plain, ExecOptions::default(), compiled, checked, barriers, seeded, workers]
}

/// Launches the kernel of these registers in all ways and compares every word.
fn assert_formulas(registers: &[(&str, Formula)], read: &str, shapes: &[[[u32; 3]; 3]]) {
    let mut device = Device::load(&kernel(registers, read)).unwrap_or_else(|error| panic!("{error}"));
    for options in ways() {
        device.options = options;
        for [grid, cluster, shape] in shapes.iter().copied() {
            let (blocks, threads) = (grid.iter().product::<u32>(), shape.iter().product::<u32>());
            let out = device.buffer(&vec![u32::MAX; blocks as usize * threads as usize * registers.len()]);
            let ([x, y, z], [width, height, depth]) = (grid, shape);
            let launched = device.launch_with(
                "k",
                (x, y, z),
                (width, height, depth),
                &Args::default().buffer(&out),
                |launch| {
                    launch.cluster = (cluster != [1; 3]).then_some(cluster);
                },
            );
            launched.unwrap_or_else(|fault| panic!("{fault}"));
            for (at, words) in out.read::<u32>().chunks(registers.len()).enumerate() {
                let (block, thread) = (at as u32 / threads, at as u32 % threads);
                let thread = Thread {
                    grid,
                    cluster,
                    shape,
                    block: coordinates(block, grid),
                    thread: coordinates(thread, shape),
                };
                for ((name, formula), found) in registers.iter().zip(words) {
                    let expected = formula(&thread);
                    assert_eq!(
                        *found, expected,
                        "{name} of thread {:?} in block {:?}, grid {grid:?}, cluster {cluster:?}, block {shape:?}, {:?}\n{read}",
                        thread.thread, thread.block, device.options
                    );
                }
            }
        }
    }
}

const GRIDS: &[([u32; 3], [u32; 3])] = &[
    ([2, 2, 6], [1, 2, 3]),
    ([4, 2, 1], [2, 2, 1]),
    ([6, 4, 2], [3, 1, 2]),
    ([8, 1, 1], [8, 1, 1]),
    ([3, 4, 5], [1, 1, 1]),
    ([1, 4, 4], [1, 4, 4]),
];

#[test]
fn all_of_them_have_the_value_of_their_formula() {
    let shapes = [[1, 1, 1], [5, 1, 1], [32, 1, 1], [33, 1, 1], [3, 5, 2], [8, 4, 1], [4, 4, 4]];
    let shapes: Vec<_> =
        GRIDS.iter().flat_map(|(grid, cluster)| shapes.map(|shape| [*grid, *cluster, shape])).collect();
    for (_, read) in READS {
        assert_formulas(REGISTERS, read, &shapes);
    }
}

/// If a kernel has no other register, all readers may be computed only for the first lane.
#[test]
fn each_alone_has_it_in_blocks_of_all_sizes() {
    for register in REGISTERS {
        for (_, read) in READS {
            let sizes = [1, 2, 7, 31, 32, 33, 48, 64];
            let shapes: Vec<_> = GRIDS[..2]
                .iter()
                .flat_map(|(grid, cluster)| sizes.map(|size| [*grid, *cluster, [size, 1, 1]]))
                .collect();
            assert_formulas(&[*register], read, &shapes);
        }
    }
    let (grid, cluster) = GRIDS[0];
    let shapes: Vec<_> = (1..=64).map(|size| [grid, cluster, [size, 1, 1]]).collect();
    assert_formulas(REGISTERS, READS[0].1, &shapes);
}

/// Each block stores to its own buffer: a miss of the cached region, run by the plain mode.
#[test]
fn blocks_that_store_elsewhere_store_their_own_numbers() {
    let (grid, threads) = ([3, 2, 2], 7);
    for (name, formula) in REGISTERS {
        let text = format!(
            ".version 8.1\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 stride)\n{{\n\
             .reg .b64 %o, %a, %s; .reg .b32 %v, %w, %b, %n, %m; .reg .pred %p;\n\
             ld.param.u64 %o, [out]; ld.param.u64 %s, [stride]; mov.u32 %w, 0;\n\
             LOOP: add.u32 %w, %w, 1; mov.u32 %v, {name}; setp.lt.u32 %p, %w, 3; @%p bra LOOP;\n\
             mov.u32 %b, %ctaid.z; mov.u32 %n, %nctaid.y; mov.u32 %m, %ctaid.y; mad.lo.u32 %b, %b, %n, %m;\n\
             mov.u32 %n, %nctaid.x; mov.u32 %m, %ctaid.x; mad.lo.u32 %b, %b, %n, %m;\n\
             cvt.u64.u32 %a, %b; mad.lo.u64 %o, %a, %s, %o; mov.u32 %n, %tid.x; mul.wide.u32 %a, %n, 4;\n\
             add.u64 %o, %o, %a; st.global.u32 [%o], %v; ret;\n}}\n"
        );
        let mut device = Device::load(&text).unwrap_or_else(|error| panic!("{error}"));
        for options in ways() {
            device.options = options;
            let buffers: Vec<_> = (0..12).map(|_| device.buffer(&vec![u32::MAX; threads as usize])).collect();
            let stride = buffers[1].address() - buffers[0].address();
            let args = Args::default().buffer(&buffers[0]).push(stride);
            let [x, y, z] = grid;
            device.launch("k", (x, y, z), threads, &args).unwrap();
            for (block, buffer) in buffers.iter().enumerate() {
                let block = coordinates(block as u32, grid);
                let expected = (0..threads).map(|thread| {
                    let (cluster, shape) = ([1; 3], [threads, 1, 1]);
                    formula(&Thread { grid, cluster, shape, block, thread: [thread, 0, 0] })
                });
                let expected: Vec<_> = expected.collect();
                assert_eq!(buffer.read::<u32>(), expected, "{name}, block {block:?}, {:?}", device.options);
            }
        }
    }
}
