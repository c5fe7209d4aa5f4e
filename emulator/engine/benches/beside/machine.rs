//! Description of the machine, for readers of the table.

use std::process::Command;

/// Returns the date, processor, number of cores, operating system and compiler in a line.
pub(crate) fn description() -> String {
    let processor = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!(
        "{}: {cores} cores of {} with {}, {} {}, {}",
        answer("date", &["-u", "+%F"]),
        processor.unwrap_or_else(|| "an unknown processor".into()),
        vectors(),
        std::env::consts::OS,
        std::env::consts::ARCH,
        answer("rustc", &["--version"]),
    )
}

#[cfg(target_arch = "x86_64")]
fn vectors() -> &'static str {
    if is_x86_feature_detected!("avx512f") {
        "AVX-512"
    } else if is_x86_feature_detected!("avx2") {
        "AVX2"
    } else {
        "SSE2"
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn vectors() -> &'static str {
    "its own vectors"
}

fn answer(program: &str, args: &[&str]) -> String {
    match Command::new(program).args(args).output() {
        Ok(output) => String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        Err(_) => format!("({program}: unknown)"),
    }
}
