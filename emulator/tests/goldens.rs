//! Every recorded form of every instruction gives here what it gave on a real GPU.

mod device;
mod recorded;

use cuprum_emulator::exec::Mode;
use recorded::{Form, Recording};

const MODES: [Mode; 1] = [Mode::Plain];

/// Forms that are known to be refused or to differ, and why. One that agrees must leave the list.
const NOT_YET: [(&str, &str); 0] = [];

/// What a list of forms came to.
#[derive(Default)]
struct Verdict {
    agreed: usize,
    not_yet: usize,
    wrong: Vec<String>,
}

impl Verdict {
    fn add(&mut self, mode: Mode, text: &str, difference: Result<(), String>) {
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

/// The first result that is not close enough.
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
        verdict.check(929);
    }
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
        verdict.check(393);
    }
}
