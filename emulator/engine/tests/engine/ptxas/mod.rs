//! The loader accepts exactly the programs that NVIDIA's assembler accepts.
//!
//! The test changes correct texts in one position each, token by token, and passes them to both. It
//! downloads the assembler to `.cache/`, so it only runs on request:
//!
//! ```sh
//! cargo test -p cuprum-engine --test engine -- --ignored --nocapture ptxas::
//! ```

mod assembler;
mod declarations;
mod grammar;
mod hopper;
mod mutation;
mod versions;

use crate::device::{Args, Device, MODES};
use crate::recorded::{self, Recording};
use assembler::Assembler;
use cuprum_engine::exec::Execution;
use cuprum_engine::report::FaultKind;
use cuprum_ptx::program::{LoadOptions, Program, PtxErrorKind};
use cuprum_ptx::ptx;
use cuprum_testing::random::Random;
use mutation::Pools;
use std::collections::{BTreeMap, HashSet};
use std::sync::Mutex;

/// A text that both accept unchanged.
struct Original {
    text: String,
    /// Its bytes that may be changed.
    range: std::ops::Range<usize>,
    capability: u32,
}

fn originals() -> Vec<Original> {
    let mut all = Vec::new();
    for (folder, capability) in [("", 90), ("dialect_100/", 100)] {
        let path = format!("{}/../../kernels/{folder}", env!("CARGO_MANIFEST_DIR"));
        for entry in std::fs::read_dir(&path).unwrap() {
            let path = entry.unwrap().path();
            // Faults and planted bugs are long and similar to each other.
            let long = ["bugs.ptx", "faults.ptx"].iter().any(|name| path.ends_with(name));
            if path.extension().is_some_and(|extension| extension == "ptx") && !long {
                let text = std::fs::read_to_string(path).unwrap();
                let start = text.find(".address_size").unwrap();
                all.push(Original { range: start..text.len(), text, capability });
            }
        }
    }
    all.sort_by(|a, b| a.text.cmp(&b.text));
    let recording = Recording::read();
    let forms = recording.forms.iter().map(|form| recording.kernel(form));
    let warp_forms = recording.warp_forms.iter().map(recorded::WarpForm::kernel);
    for (text, form) in forms
        .zip(recording.forms.iter().map(|form| &form.text))
        .chain(warp_forms.zip(recording.warp_forms.iter().map(|form| &form.text)))
    {
        let form = form.replace('$', "%");
        let start = text.find(&form).unwrap();
        all.push(Original { range: start..start + form.len(), text, capability: 90 });
    }
    all
}

enum Ours {
    Loads,
    /// Not PTX, or invalid PTX, for this reason.
    Wrong(String),
    /// PTX that the software device does not support.
    Unsupported(String),
    Panics,
}

fn ours(text: &str, capability: u32) -> (bool, Ours) {
    let outcome = std::panic::catch_unwind(|| {
        let options = LoadOptions { compute_capability: capability, ..LoadOptions::default() };
        (ptx::parse(text).is_ok(), Program::load(text, &options).err())
    });
    match outcome {
        Err(_) => (false, Ours::Panics),
        Ok((parsed, None)) => (parsed, Ours::Loads),
        Ok((parsed, Some(error))) if error.kind == PtxErrorKind::Unsupported => {
            (parsed, Ours::Unsupported(error.message))
        }
        Ok((parsed, Some(error))) => (parsed, Ours::Wrong(error.message)),
    }
}

/// Counts of kinds of disagreement, with examples of each.
#[derive(Default)]
struct Tally(BTreeMap<String, (usize, Vec<String>)>);

const EXAMPLES: usize = 4;

impl Tally {
    fn add(&mut self, class: String, example: &str) {
        let (count, examples) = self.0.entry(class).or_default();
        *count += 1;
        if examples.len() < EXAMPLES {
            examples.push(example.to_owned());
        }
    }

    fn count(&self) -> usize {
        self.0.values().map(|(count, _)| count).sum()
    }

    fn print(&self, title: &str) {
        println!("{title}: {}", self.count());
        let mut classes: Vec<_> = self.0.iter().collect();
        classes.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
        for (class, (count, examples)) in classes {
            println!("  {count:4} {class}\n       {}", examples.join("\n       "));
        }
    }
}

#[derive(Default)]
struct Verdict {
    both_accept: usize,
    accepted: HashSet<String>,
    both_refuse: usize,
    /// Panics, and texts that the assembler accepts and the parser cannot read.
    broken: Vec<String>,
    /// Accepted by the assembler; by the reason for which the loader refuses.
    too_strict: Tally,
    not_supported: Tally,
    /// Accepted by the loader; by the reason for which the assembler refuses.
    too_loose: Tally,
}

/// Ignores quoted names and numbers in messages.
fn class_of(message: &str) -> String {
    let mut class = String::new();
    let mut quote = None;
    for c in message.chars() {
        match quote {
            Some(open) if c == open => {
                quote = None;
                class.push(c);
            }
            Some(_) => {}
            None if c == '`' || c == '\'' => {
                quote = Some(c);
                class.push(c);
            }
            None if c.is_ascii_digit() => class.push('#'),
            None => class.push(c),
        }
    }
    class
}

/// `CUPRUM_FUZZ_SEED` and `CUPRUM_FUZZ_ROUNDS` change the fixed seed and the rounds.
#[test]
#[ignore = "fetches NVIDIA's assembler"]
fn the_loader_agrees_with_the_assembler() {
    let seed = setting("CUPRUM_FUZZ_SEED", 20_261_121);
    let rounds = setting("CUPRUM_FUZZ_ROUNDS", 1600) as usize;
    println!("CUPRUM_FUZZ_SEED={seed} CUPRUM_FUZZ_ROUNDS={rounds}");
    let originals = originals();
    let pools = Pools::of(originals.iter().map(|original| &original.text[original.range.clone()]));
    let (kernels, forms) = originals.split_at(originals.iter().filter(|o| o.range.len() > 2000).count());
    let mut random = Random::new(seed);
    let jobs: Vec<(String, String, u32)> = (0..rounds)
        .map(|round| {
            // One text in five is a whole kernel.
            let from = if round % 5 == 0 { kernels } else { forms };
            let original = &from[random.below(from.len())];
            let (text, changed) = pools.mutate(&original.text, original.range.clone(), &mut random);
            (text, changed, original.capability)
        })
        .collect();
    let verdict = judge(&jobs);
    verdict.print();
    assert!(verdict.broken.is_empty(), "{}", verdict.broken.join("\n"));
    assert!(
        verdict.both_accept > rounds / 20 && verdict.both_refuse > rounds / 4,
        "hardly anything was tested"
    );
    // The rates that other seeds find, with a margin: 1 in 100, and 1 in 50.
    assert!(verdict.too_strict.count() <= rounds / 100, "too strict");
    assert!(verdict.too_loose.count() <= rounds / 50, "too loose");
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().unwrap_or_else(|_| panic!("{name}={value}")))
}

/// Returns the assembler's and the loader's results for texts with a change and a capability.
fn judge(jobs: &[(String, String, u32)]) -> Verdict {
    let assembler = Assembler::fetch();
    let verdict = Mutex::new(Verdict::default());
    let next = std::sync::atomic::AtomicUsize::new(0);
    std::panic::set_hook(Box::new(|_| {}));
    std::thread::scope(|scope| {
        for worker in 0..2 {
            let (assembler, verdict, next) = (&assembler, &verdict, &next);
            scope.spawn(move || {
                while let Some((text, changed, capability)) =
                    jobs.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
                {
                    let theirs = assembler.check(text, *capability, worker);
                    let (parsed, ours) = ours(text, *capability);
                    verdict.lock().unwrap().add(text, changed, theirs, parsed, ours);
                }
            });
        }
    });
    drop(std::panic::take_hook());
    verdict.into_inner().unwrap()
}

/// Returns the memory after a program in a mode, or the kind of its fault.
fn outcome(text: &str, mode: Execution) -> Result<[Vec<u8>; 2], FaultKind> {
    let mut device = Device::load(text).unwrap();
    device.options.mode = mode;
    let out = device.buffer(&[0u8; 128 * 40]);
    let launched = device.launch("k", 1, 40, &Args::default().buffer(&out));
    launched.map(|_| [out.read(), device.global(0).read()]).map_err(|fault| fault.kind)
}

/// Programs from the grammar with one statement that may be invalid. Both modes run accepted ones.
#[test]
#[ignore = "fetches NVIDIA's assembler"]
fn the_loader_agrees_with_the_assembler_on_the_grammar() {
    let seed = setting("CUPRUM_FUZZ_SEED", 20_261_122);
    let rounds = setting("CUPRUM_FUZZ_ROUNDS", 2400) as usize;
    println!("CUPRUM_FUZZ_SEED={seed} CUPRUM_FUZZ_ROUNDS={rounds}");
    let mut random = Random::new(seed);
    let programs: Vec<grammar::Program> =
        (0..rounds).map(|_| grammar::Program::random(&mut random)).collect();
    let jobs: Vec<_> =
        programs.iter().map(|program| (program.text.clone(), program.statement.clone(), 90)).collect();
    let verdict = judge(&jobs);
    verdict.print();
    let mut ran = 0;
    for program in &programs {
        if !verdict.accepted.contains(&program.text) {
            continue;
        }
        let [plain, others @ ..] = MODES.map(|mode| outcome(&program.text, mode));
        for other in &others {
            assert!(plain == *other, "{}\n{plain:?}\n{other:?}", program.statement);
        }
        ran += usize::from(plain.is_ok());
    }
    println!("{ran} ran to their end in both modes");
    assert!(verdict.broken.is_empty(), "{}", verdict.broken.join("\n"));
    assert!(ran > rounds / 8 && verdict.both_refuse > rounds / 5, "hardly anything was tested");
    assert!(verdict.too_strict.count() <= rounds / 100, "too strict");
    assert!(verdict.not_supported.count() <= rounds / 50, "too much is not supported");
    assert!(verdict.too_loose.count() <= rounds / 50, "too loose");
}

/// Tests the features of `sm_90a`, form by form.
#[test]
#[ignore = "fetches NVIDIA's assembler"]
fn the_loader_agrees_with_the_assembler_on_warp_groups_and_tensors() {
    let jobs: Vec<_> =
        hopper::programs().into_iter().map(|(text, statement)| (text, statement, 90)).collect();
    let verdict = judge(&jobs);
    verdict.print();
    assert!(verdict.broken.is_empty(), "{}", verdict.broken.join("\n"));
    assert!(verdict.both_accept > 150 && verdict.both_refuse > 200, "hardly anything was tested");
    let odd = [&verdict.not_supported, &verdict.too_strict, &verdict.too_loose].map(Tally::count);
    // The assembler waits for one more group of products than hardware has.
    assert!(odd.iter().sum::<usize>() <= 4, "{odd:?}");
}

impl Verdict {
    fn print(&self) {
        self.not_supported.print("accepted by ptxas, not supported here");
        self.too_strict.print("accepted by ptxas, wrong here");
        self.too_loose.print("accepted here, wrong for ptxas");
        println!("{} accepted by both, {} refused by both", self.both_accept, self.both_refuse);
    }

    fn add(&mut self, text: &str, changed: &str, theirs: Result<(), String>, parsed: bool, ours: Ours) {
        match (theirs, ours) {
            (_, Ours::Panics) => self.broken.push(format!("panics: {changed}")),
            (Ok(()), _) if !parsed => {
                self.broken.push(format!("ptxas reads it, the parser does not: {changed}"))
            }
            (Ok(()), Ours::Loads) => {
                self.both_accept += 1;
                self.accepted.insert(text.to_owned());
            }
            (Ok(()), Ours::Unsupported(reason)) => self.not_supported.add(class_of(&reason), changed),
            (Ok(()), Ours::Wrong(reason)) => self.too_strict.add(class_of(&reason), changed),
            (Err(reason), Ours::Loads) => self.too_loose.add(class_of(&reason), changed),
            (Err(_), _) => self.both_refuse += 1,
        }
    }
}
