//! Fuzzers of texts, containers and kernels, for a fixed time each.
//!
//! `CUPRUM_FUZZ_SECONDS` sets the duration of each (1 s by default), `CUPRUM_FUZZ_SEED` the first
//! seed. A turn that fails prints its seed, which makes it the first turn of another run. All of
//! them, for an hour each:
//!
//! ```sh
//! CUPRUM_FUZZ_SECONDS=3600 CUPRUM_FUZZ_SEED=$(date +%s) cargo test -p cuprum-emulator --lib --test fuzz fuzz_
//! ```
//!
//! A separate program, so that `CUPRUM_FUZZ_SECONDS` affects no other tests.

mod defined;
#[path = "../../../src/module/ptx.rs"]
#[expect(dead_code, reason = "the part of the safe layer that reads PTX, of which only the reader is run")]
mod signatures;

use core::ffi::c_void;
use core::ptr::null_mut;
use cuprum_engine::exec::Execution;
use cuprum_ptx::program::{LoadOptions, Program};
use cuprum_sys::*;
use cuprum_testing::device::{Buffer, Device};
use cuprum_testing::driver_calls::{self, TestContext};
use cuprum_testing::kernels::{Case, cases};
use cuprum_testing::mutation::{changed_bytes, changed_text};
use cuprum_testing::random::Random;
use std::time::{Duration, Instant};

/// Maximum duration of a turn, unoptimized and in parallel with others.
const LONGEST: Duration = Duration::from_secs(20);

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().expect("a number"))
}

/// Reports the seed of a turn that fails.
struct Turn(&'static str, u64);

impl Drop for Turn {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the fuzzer `{}` failed with CUPRUM_FUZZ_SEED={}", self.0, self.1);
        }
    }
}

/// Runs turns until the time is over.
fn fuzz(name: &'static str, mut turn: impl FnMut(&mut Random)) {
    let seconds = variable("CUPRUM_FUZZ_SECONDS").unwrap_or(1);
    let first = variable("CUPRUM_FUZZ_SEED").unwrap_or(1);
    let start = Instant::now();
    let mut turns = 0;
    while start.elapsed() < Duration::from_secs(seconds) {
        let _turn = Turn(name, first.wrapping_add(turns));
        let began = Instant::now();
        turn(&mut Random::new(first.wrapping_add(turns).wrapping_mul(0x2545_f491_4f6c_dd1d)));
        assert!(began.elapsed() < LONGEST, "a turn took {:?}", began.elapsed());
        turns += 1;
    }
    println!("{name}: {turns} turns from {first} on");
    assert!(turns > 0);
}

fn texts() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../kernels/");
    let mut texts = Vec::new();
    for folder in [folder.to_owned(), format!("{folder}dialect_100/")] {
        let mut paths: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "ptx"));
        texts.extend(paths.iter().map(|path| std::fs::read_to_string(path).unwrap()));
    }
    assert!(texts.len() > 20);
    texts
}

/// Returns a text, changed with lines and words of another one.
fn changed(random: &mut Random, texts: &[String]) -> String {
    let (text, other) = (random.below(texts.len()), random.below(texts.len()));
    changed_text(random, &texts[text], &texts[other])
}

#[test]
fn fuzz_texts_are_read_or_refused() {
    let texts = texts();
    let options = LoadOptions { compute_capability: 120, ..LoadOptions::default() };
    fuzz("texts", |random| {
        let text = if random.below(8) == 0 {
            let text = random.below(texts.len());
            let bytes = changed_bytes(random, texts[text].as_bytes());
            String::from_utf8_lossy(&bytes).into_owned()
        } else {
            changed(random, &texts)
        };
        if let Err(error) = Program::load(&text, &options) {
            assert!(error.message.len() < 1000 && error.line as usize <= text.lines().count() + 1, "{error}");
        }
    });
}

/// The safe layer's parser of signatures agrees with the loader, or returns nothing.
#[test]
fn fuzz_signatures_are_those_of_the_loader() {
    let texts = texts();
    let options = LoadOptions { compute_capability: 120, ..LoadOptions::default() };
    fuzz("signatures", |random| {
        let text = changed(random, &texts);
        let entries = signatures::entries(&text);
        for directive in [".version", ".target", ".address_size"] {
            signatures::directive(&text, directive).and_then(signatures::capability);
        }
        let Ok(program) = Program::load(&text, &options) else { return };
        for entry in entries {
            let Some(kernel) = program.kernel(&entry.name) else { continue };
            let Ok(parameters) = entry.parameters else { continue };
            let read: Vec<_> = parameters.iter().map(|param| (param.offset, param.size)).collect();
            let known: Vec<_> =
                kernel.params().iter().map(|param| (param.offset as usize, param.size as usize)).collect();
            assert_eq!(read, known, "{}:\n{text}", entry.name);
        }
    });
}

/// Links containers of all kinds, whose stated lengths must be checked.
#[test]
fn fuzz_containers_are_read_or_refused() {
    let containers: [&[u8]; 3] = [
        include_bytes!("../data/plain.fatbin"),
        include_bytes!("../data/lz4.fatbin"),
        include_bytes!("../data/zstd.fatbin"),
    ];
    let _context = TestContext::new();
    let table = driver_calls::fns();
    fuzz("containers", |random| {
        let container = random.below(3);
        let bytes = changed_bytes(random, containers[container]);
        let mut link = CUlinkState::null();
        // SAFETY: a valid output for the handle, and no options.
        let made = unsafe { (table.cuLinkCreate_v2)(0, null_mut(), null_mut(), &mut link) };
        assert_eq!(made, CUresult::CUDA_SUCCESS);
        if !bytes.is_empty() {
            let kind = CUjitInputType::CU_JIT_INPUT_FATBINARY;
            let data = bytes.as_ptr().cast_mut().cast();
            let name = c"x".as_ptr();
            // SAFETY: the length is the number of bytes.
            let code = unsafe {
                (table.cuLinkAddData_v2)(link, kind, data, bytes.len(), name, 0, null_mut(), null_mut())
            };
            assert!(
                [
                    CUresult::CUDA_SUCCESS,
                    CUresult::CUDA_ERROR_INVALID_IMAGE,
                    CUresult::CUDA_ERROR_INVALID_PTX,
                    // A changed digit; a GPU also returns this for `.version 27.7`.
                    CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
                    CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU,
                    CUresult::CUDA_ERROR_OUT_OF_MEMORY,
                ]
                .contains(&code),
                "{code:?}"
            );
        }
        // SAFETY: the handle is live.
        assert_eq!(unsafe { (table.cuLinkDestroy)(link) }, CUresult::CUDA_SUCCESS);
    });
}

/// Logs of any size are never written beyond their end, and end with a NUL.
#[test]
fn fuzz_logs_stay_in_their_buffers() {
    const GUARD: u8 = 0xa5;
    let texts = texts();
    let _context = TestContext::new();
    let table = driver_calls::fns();
    fuzz("logs", |random| {
        let mut text = changed(random, &texts).replace('\0', " ").into_bytes();
        text.push(0);
        let room = random.below(300);
        let mut log = vec![GUARD; room + 16];
        let mut options =
            [CUjit_option::CU_JIT_ERROR_LOG_BUFFER, CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        let mut values: [*mut c_void; 2] = [log.as_mut_ptr().cast(), core::ptr::without_provenance_mut(room)];
        let mut module = CUmodule::null();
        let image = text.as_ptr().cast();
        // SAFETY: the text is NUL-terminated, and the log is at least as long as stated.
        let code = unsafe {
            (table.cuModuleLoadDataEx)(&mut module, image, 2, options.as_mut_ptr(), values.as_mut_ptr())
        };
        assert!(log[room..].iter().all(|byte| *byte == GUARD), "{room}");
        if code == CUresult::CUDA_SUCCESS {
            // SAFETY: the module is live.
            assert_eq!(unsafe { (table.cuModuleUnload)(module) }, CUresult::CUDA_SUCCESS);
        } else if room > 0 {
            let end = log[..room].iter().position(|byte| *byte == 0).expect("a NUL");
            assert_eq!(values[1].addr(), end);
        }
    });
}

/// Contents of the buffers after a launch; `None` after a fault.
type Outcome = Option<Vec<Vec<u8>>>;

/// Maximum number of warp instructions of a kernel.
const BUDGET: u64 = 100_000;
/// Maximum size of variables of a kernel to run, in bytes.
const MOST_GLOBALS: u64 = 1 << 24;

fn run(case: &Case, text: &str, mode: Execution, checks: bool) -> Outcome {
    let mut device = Device::load(text).ok()?;
    device.options.mode = mode;
    device.options.workers = 1;
    device.options.budget = Some(BUDGET);
    device.options.time_limit = Some(Duration::from_secs(2));
    if checks {
        device.options.check_init = true;
        device.options.check_races = true;
        device.options.check_barriers = true;
    }
    device.program.kernel(case.kernel)?;
    let (mut args, buffers) = device.arguments(case);
    let end = device.kernel(case.kernel).params().last().map_or(0, |last| last.offset + last.size) as usize;
    if args.bytes().len() < end {
        args = args.bytes_at(end, &[]);
    }
    let [x, y, z] = case.grid.map(|blocks| blocks.min(3));
    let [bx, by, bz] = case.block;
    let launched = device.launch_with(case.kernel, (x, y, z), (bx, by, bz), &args, |launch| {
        launch.dynamic_shared = case.shared_bytes;
    });
    launched.ok()?;
    Some(buffers.iter().map(Buffer::read::<u8>).collect())
}

/// True if the results of a kernel only depend on its inputs, without races or uninitialized reads.
fn is_deterministic(text: &str) -> bool {
    let varying = [
        "clock",
        "globaltimer",
        "smid",
        "warpid",
        "gridid",
        "atom",
        "red.",
        "activemask",
        "nanosleep",
        "volatile",
    ];
    let is_defined = cuprum_ptx::ptx::parse(text).is_ok_and(|module| defined::is_defined(&module));
    is_defined && !varying.iter().any(|word| text.contains(word))
}

/// Changed kernels end, in both modes, with and without the checks. If the checks find nothing
/// undefined, the modes agree.
#[test]
fn fuzz_changed_kernels_run_alike_in_both_modes() {
    let cases = cases::all();
    let texts: Vec<&str> = cases.iter().map(|case| case.ptx).collect();
    let mut compared = 0;
    fuzz("kernels", |random| {
        let case = &cases[random.below(cases.len())];
        let other = random.pick(&texts);
        let own = case.ptx_dialect_100.filter(|_| random.below(3) == 0).unwrap_or(case.ptx);
        let text = changed_text(random, own, other);
        let Ok(program) =
            Program::load(&text, &LoadOptions { compute_capability: 120, ..LoadOptions::default() })
        else {
            return;
        };
        if program.globals().iter().map(|global| global.size).sum::<u64>() > MOST_GLOBALS {
            return;
        }
        let checked = run(case, &text, Execution::Plain, true);
        let plain = run(case, &text, Execution::Plain, false);
        let vector = run(case, &text, Execution::Vector, false);
        if checked.is_some() && is_deterministic(&text) {
            compared += 1;
            assert!(
                plain.is_some() && plain == checked,
                "{}: the checks change what it computes:\n{text}",
                case.name
            );
            assert!(plain == vector, "{}: the modes differ:\n{text}", case.name);
        }
    });
    println!("{compared} kernels compared");
    assert!(compared > 0);
}
