//! Random programs whose results an H200 computed.
//!
//! They state roundings and initial values, and approximate nothing. Compiled without optimization,
//! 2,945 of them gave our results. With it, 23 of these did not: some read lanes that do not exist,
//! by shuffles, or the payload of a NaN, and others took another branch after a loop.

use super::launch::{run_unnoted, shape};
use super::{Generator, MOST_BLOCKS, MOST_THREADS, RESULT_BYTES, WORDS};
use cuprum_engine::exec::Execution;
use std::fmt::Write;

const PROGRAMS: u64 = 400;

/// Returns the program of a seed.
fn program(seed: u64) -> String {
    let mut text = Generator::program(seed);
    for (opcode, exact) in [
        ("add.f", "add.rn.f"),
        ("sub.f", "sub.rn.f"),
        ("mul.f32", "mul.rn.f32"),
        ("mul.f64", "mul.rn.f64"),
        ("mul.ftz", "mul.rn.ftz"),
        ("add.sat", "add.rn.sat"),
        ("ex2.approx", "neg"),
        ("rsqrt.approx", "abs"),
        ("div.approx", "div.rn"),
        ("rcp.approx", "rcp.rn"),
        ("sqrt.approx", "sqrt.rn"),
    ] {
        text = text.replace(opcode, exact);
    }
    let mut start = String::new();
    for number in 0..6 {
        writeln!(start, "mov.u32 %r{number}, 0; mov.u64 %l{number}, 0; mov.f32 %f{number}, 0f00000000;")
            .unwrap();
        writeln!(start, "mov.f64 %g{number}, 0d0000000000000000;").unwrap();
    }
    for number in 0..4 {
        for name in ["k", "c", "t", "count", "limit"] {
            writeln!(start, "mov.u32 %{name}{number}, 0;").unwrap();
        }
        writeln!(start, "setp.ne.u32 %p{number}, %r0, 0; setp.ne.u32 %again{number}, %r0, 0;").unwrap();
    }
    text.replacen("ld.param.u64 %result, [out];", &format!("{start}ld.param.u64 %result, [out];"), 1)
}

/// The hash by Fowler, Noll and Vo, as `tests/gpu/random_programs.py` computes it.
fn hash(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes
        .into_iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

#[test]
fn random_programs_give_the_results_of_an_h200() {
    let recorded = include_str!("../../../../../tests/data/goldens/random_programs.txt");
    let mut lines = recorded.lines().filter(|line| !line.starts_with('#'));
    for seed in 1..=PROGRAMS {
        let ptx = program(seed);
        let (grid, block) = shape(seed);
        let results = run_unnoted(&ptx, Execution::Vector, grid, block).unwrap();
        let threads = (grid * block.0 * block.1) as usize;
        let parts = results[0][..RESULT_BYTES * threads].iter().chain(&results[1][..4 * WORDS * threads]);
        let found = format!("{seed} {:016x} {:016x}", hash(ptx.bytes()), hash(parts.copied()));
        assert_eq!(
            Some(&*found),
            lines.next(),
            "the seed, and hashes of the program and of its results:\n{ptx}"
        );
    }
    assert_eq!(lines.next(), None);
}

/// For `tests/gpu/random_programs.py`, which runs them.
#[test]
#[ignore = "writes into the folder CUPRUM_RANDOM_PROGRAMS"]
fn write_random_programs() {
    let folder = std::env::var("CUPRUM_RANDOM_PROGRAMS").expect("CUPRUM_RANDOM_PROGRAMS");
    for seed in 1..=PROGRAMS {
        let (grid, block) = shape(seed);
        assert!((grid as usize) <= MOST_BLOCKS && ((block.0 * block.1) as usize) <= MOST_THREADS);
        let name = format!("{folder}/{seed}_{grid}_{}_{}.ptx", block.0, block.1);
        std::fs::write(name, program(seed)).expect("a folder that exists");
    }
}
