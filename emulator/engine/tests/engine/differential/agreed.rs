//! Runs random programs in all modes.

use super::launch::{Shape, run_random, run_unnoted, shape};
use super::{Generator, PREDICATES, RESULT_BYTES};
use crate::device::MODES;
use cuprum_engine::exec::Execution;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn random_programs_agree() {
    let first = setting("CUPRUM_FUZZ_SEED", 1);
    let count = setting("CUPRUM_FUZZ_PROGRAMS", 400);
    println!("seeds {first} to {}", first + count - 1);
    (first..first + count).for_each(|seed| assert_agreed(seed, shape(seed), &Generator::program(seed)));
}

/// Registers keep their values from one barrier of a loop to the next, however lanes parted.
#[test]
fn random_programs_agree_in_loops_with_barriers() {
    let first = setting("CUPRUM_FUZZ_SEED", 1000);
    let count = setting("CUPRUM_FUZZ_PROGRAMS", 400) / 10;
    println!("seeds {first} to {}", first + count - 1);
    for seed in first..first + count {
        // Half of them in blocks of more than eight warps.
        let large = [(1, (320, 1)), (1, (32, 10)), (2, (289, 1)), (1, (8, 40))][seed as usize / 2 % 4];
        let shape = if seed % 2 == 0 { shape(seed / 2) } else { large };
        assert_agreed(seed, shape, &in_a_loop(&Generator::program(seed)));
    }
}

/// Returns a random program with its body in a loop that all threads run three times.
fn in_a_loop(ptx: &str) -> String {
    let last = format!("setp.lt.u32 %p{}, %r{PREDICATES}, 40;\n", PREDICATES - 1);
    let (start, rest) = ptx.split_once(&last).expect("it sets the last predicate before its body");
    let at = rest.find("st.global.u32 [%result+0],").expect("it stores its registers after its body");
    let (body, stores) = rest.split_at(at);
    format!(
        "{start}{last}.reg .b32 %round;\nmov.u32 %round, 3;\nROUND:\nbar.sync 0;\n{body}sub.u32 %round, %round, 1;\n\
         setp.ne.u32 %again0, %round, 0;\n@%again0 bra ROUND;\n{stores}"
    )
}

/// Runs the program of a seed in all modes, and compares the results.
fn assert_agreed(seed: u64, (grid, block): Shape, ptx: &str) {
    let plain = run_random(ptx, Execution::Plain, grid, block);
    assert!(plain.is_ok(), "seed {seed}: {plain:?}\n{ptx}");
    let vector = run_random(ptx, Execution::Vector, grid, block);
    let results = plain.as_ref().map(|(results, ..)| results.clone()).map_err(Clone::clone);
    // Code for whole warps takes long to compile.
    let runs = |mode: &Execution| *mode != Execution::Warps || seed % 4 == 0;
    for mode in MODES.into_iter().filter(runs) {
        let other = run_unnoted(ptx, mode, grid, block);
        assert!(results == other, "seed {seed}, {mode:?}, grid {grid}, block {block:?}\n{ptx}");
    }
    if plain == vector {
        return;
    }
    let (Ok((plain, plain_stats, _)), Ok((vector, vector_stats, _))) = (&plain, &vector) else {
        panic!("seed {seed}: {vector:?}\n{ptx}");
    };
    let differs = |index: usize| plain[index].iter().zip(&vector[index]).position(|(a, b)| a != b);
    panic!(
        "seed {seed}, grid {grid}, block {block:?}: first difference at byte {:?} of the results ({RESULT_BYTES} a \
         thread), {:?} of the space; {plain_stats:?} {vector_stats:?}\n{ptx}",
        differs(0),
        differs(1),
    );
}
