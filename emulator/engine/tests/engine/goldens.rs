//! Every recorded form of every instruction has the same result here as on a real GPU.

use crate::device::MODES;
use crate::recorded::{Form, Recording};
use cuprum_engine::exec::{ExecOptions, Execution};
use std::collections::BTreeSet;

/// Forms known to be refused or to differ, and the reason. A form that agrees must leave the list.
const NOT_YET: [(&str, &str); 0] = [];

#[derive(Default)]
struct Verdict {
    agreed: usize,
    not_yet: usize,
    wrong: Vec<String>,
}

impl Verdict {
    fn add(&mut self, mode: Execution, text: &str, difference: Result<(), String>) {
        let listed = NOT_YET.iter().any(|(form, _)| *form == text);
        match difference {
            Ok(()) if listed => self.wrong.push(format!("{mode:?} {text}\n    agrees, but is in NOT_YET")),
            Ok(()) => self.agreed += 1,
            Err(_) if listed => self.not_yet += 1,
            Err(difference) => self.wrong.push(format!("{mode:?} {text}\n    {difference}")),
        }
    }

    fn check(self, least: usize) {
        let Verdict { agreed, not_yet, wrong } = self;
        let total = agreed + not_yet + wrong.len();
        assert!(total >= least, "{total} forms: the recording is cut off");
        let list = wrong.join("\n");
        assert!(
            wrong.is_empty(),
            "{list}\n{} of {total} forms are wrong, {agreed} agree, {not_yet} are not there yet",
            wrong.len()
        );
    }
}

/// Returns the first result that is not close enough.
fn compare(recording: &Recording, form: &Form, ours: &[u64]) -> Result<(), String> {
    let differs = |thread: &usize| !form.accepts(ours[*thread], form.results[*thread]);
    let different: Vec<usize> = (0..form.results.len()).filter(differs).collect();
    let Some(first) = different.first() else { return Ok(()) };
    let inputs: Vec<String> =
        recording.inputs(form).iter().map(|column| format!("{:x}", column[*first])).collect();
    Err(format!(
        "{} of {} differ; of {}: {:x}, recorded {:x}",
        different.len(),
        ours.len(),
        inputs.join(" "),
        ours[*first],
        form.results[*first]
    ))
}

#[test]
fn forms_give_what_a_gpu_gave() {
    let recording = Recording::read();
    for mode in MODES {
        let mut verdict = Verdict::default();
        for form in &recording.forms {
            let outcome = recording.run(form, mode);
            verdict.add(mode, &form.text, outcome.and_then(|ours| compare(&recording, form, &ours)));
        }
        verdict.check(2240);
    }
}

/// The recorded inputs are chosen numbers. On random bits, the modes at least agree.
#[test]
fn forms_agree_on_random_bits() {
    let mut recording = Recording::read();
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for name in BTreeSet::from_iter(recording.grids.keys().cloned()) {
        let grid = recording.grids.get_mut(&name).unwrap();
        for value in &mut grid.values {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            *value = (state >> 16 ^ state << 40) & u64::MAX >> (64 - grid.width);
        }
    }
    let mut different = Vec::new();
    for form in &recording.forms {
        let [plain, others @ ..] = MODES.map(|mode| recording.run(form, mode));
        if others.iter().any(|other| *other != plain) {
            different.push(&form.text);
        }
    }
    assert!(different.is_empty(), "{different:#?}");
}

#[test]
fn warp_forms_give_what_a_gpu_gave() {
    let recording = Recording::read();
    for mode in MODES {
        let mut verdict = Verdict::default();
        for form in &recording.warp_forms {
            let difference = form.run(mode).and_then(|ours| {
                let different = (0..ours.len()).find(|i| ours[*i] != form.results[*i]);
                different.map_or(Ok(()), |i| {
                    let register = ["d", "e"][i % 2];
                    Err(format!(
                        "%{register} of thread {}: {:x}, recorded {:x}",
                        i / 2,
                        ours[i],
                        form.results[i]
                    ))
                })
            });
            verdict.add(mode, &format!("{} threads: {}", form.threads, form.text), difference);
        }
        verdict.check(529);
    }
}

/// A GPU gives one result of a race, which another order of lanes may change: the compiled mode has
/// such an order.
#[test]
fn warp_forms_do_not_race() {
    let check = || ExecOptions { check_races: true, ..ExecOptions::default() };
    for form in &Recording::read().warp_forms {
        if let Err(fault) = form.run_with(check()) {
            panic!("{}\n{fault}", form.text);
        }
    }
}

/// Comparisons of pairs were not recorded, but comparisons of their halves were.
#[test]
fn pairs_compare_as_their_halves_do() {
    let recording = Recording::read();
    let form = |text: String, grid: &str| Form {
        width: 32,
        grids: vec![grid.to_owned(); 2],
        text: text + " selp.b32 %w0, 1, 0, %p; selp.b32 %w1, 2, 0, %q; or.b32 $d, %w0, %w1;",
        results: Vec::new(),
    };
    for (comparison, half) in [("lt", "f16"), ("geu.ftz", "f16"), ("nan", "bf16"), ("eq", "bf16")] {
        let grid = format!("{half}x2.2");
        let pair = form(format!("setp.{comparison}.{half}x2 %p|%q, $a, $b;"), &grid);
        let halves = form(
            format!(
                "{{ .reg .b16 %la, %ha, %lb, %hb; mov.b32 {{%la, %ha}}, $a; mov.b32 {{%lb, %hb}}, $b;
                 setp.{comparison}.{half} %p, %la, %lb; setp.{comparison}.{half} %q, %ha, %hb; }}"
            ),
            &grid,
        );
        for mode in MODES {
            let (ours, expected) =
                (recording.run(&pair, mode).unwrap(), recording.run(&halves, mode).unwrap());
            assert_eq!(ours, expected, "{mode:?} {}", pair.text);
            let seen: std::collections::HashSet<u64> = ours.into_iter().collect();
            assert!(seen.len() == 4 || comparison == "eq", "{}: {seen:?}", pair.text);
        }
    }
}
