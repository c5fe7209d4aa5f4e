//! NVIDIA's assembler, from the wheel that `kernels/regenerate.sh` also uses.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

const WHEEL: &str = "nvidia-cuda-nvcc";
const VERSION: &str = "13.0.88";

pub(crate) struct Assembler {
    program: PathBuf,
    folder: PathBuf,
}

impl Assembler {
    pub(crate) fn fetch() -> Assembler {
        // One test downloads while the others wait.
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock().unwrap();
        let wheels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.cache/wheels");
        let folder = wheels.join(format!("{WHEEL}-{VERSION}"));
        let program = folder.join("nvidia/cu13/bin/ptxas");
        if !program.exists() {
            let part = wheels.join(format!("{WHEEL}-{VERSION}.{}", std::process::id()));
            run(Command::new("python3")
                .args(["-m", "pip", "download", "--quiet", "--no-deps", "--dest"])
                .arg(&part)
                .arg(format!("{WHEEL}=={VERSION}")));
            for wheel in std::fs::read_dir(&part).unwrap() {
                let wheel = wheel.unwrap().path();
                run(Command::new("python3").args(["-m", "zipfile", "--extract"]).arg(&wheel).arg(&part));
                std::fs::remove_file(wheel).unwrap();
            }
            std::fs::rename(&part, &folder).unwrap();
        }
        drop(turn);
        run(Command::new("chmod").arg("+x").arg(&program));
        // Tests run in parallel, each with its own assembler.
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("cuprum-ptxas-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Assembler { program, folder }
    }

    /// Assembles a text. Returns the first error if it is refused. Workers may call it in parallel.
    pub(crate) fn check(&self, text: &str, capability: u32, worker: usize) -> Result<(), String> {
        let Some(said) = self.complaints(text, capability, worker) else { return Ok(()) };
        let complaint = said.lines().find(|line| line.contains("error") || line.contains("fatal"));
        let complaint =
            complaint.unwrap_or("no reason").rsplit_once(" : ").map_or("a crash", |(_, text)| text);
        Err(complaint.trim().to_owned())
    }

    /// Assembles a text. Returns the line of each error.
    pub(crate) fn refused_lines(&self, text: &str, capability: u32) -> Vec<usize> {
        let said = self.complaints(text, capability, 0).unwrap_or_default();
        let line = |line: &str| line.split_once(", line ")?.1.split_once("; error")?.0.parse().ok();
        said.lines().filter_map(line).collect()
    }

    /// Returns all messages of the assembler if it refuses a text.
    fn complaints(&self, text: &str, capability: u32, worker: usize) -> Option<String> {
        // Features of a single architecture need its full name.
        let own = if text.contains(&format!(".target sm_{capability}a")) { "a" } else { "" };
        let source = self.folder.join(format!("{worker}.ptx"));
        std::fs::write(&source, text).unwrap();
        let output = Command::new(&self.program)
            .args(["-O0", "--gpu-name", &format!("sm_{capability}{own}"), "--output-file", "/dev/null"])
            .arg(&source)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
        (!output.status.success()).then(|| said.into_owned())
    }
}

impl Drop for Assembler {
    fn drop(&mut self) {
        // Remaining files are in a temporary folder.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[track_caller]
fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(status.success(), "{command:?}: {status}");
}
