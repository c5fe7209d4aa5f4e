//! Finds `nvcc` and its version.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use cuprum::sys::environment;

use super::libraries::toolkits;

/// The first `nvcc` in `PATH`, otherwise of a toolkit, with the version that it reports.
pub(crate) fn nvcc() -> Option<(PathBuf, Option<String>)> {
    let name = if cfg!(windows) { "nvcc.exe" } else { "nvcc" };
    let folders = environment::variable("PATH").unwrap_or_default();
    let folders = env::split_paths(&folders).chain(toolkits().into_iter().map(|folder| folder.join("bin")));
    let path = folders.map(|folder| folder.join(name)).find(|path| path.is_file())?;
    let output = Command::new(&path).arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).output();
    let version = output.ok().and_then(|output| release(&String::from_utf8_lossy(&output.stdout)));
    Some((path, version))
}

/// The version in `Cuda compilation tools, release 12.4, V12.4.131`.
fn release(text: &str) -> Option<String> {
    let rest = text.split("release ").nth(1)?;
    rest.split([',', '\n']).next().map(|version| version.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_release_is_read() {
        let text = "nvcc: NVIDIA (R) Cuda compiler driver\nCuda compilation tools, release 12.4, V12.4.131\n";
        assert_eq!(release(text).as_deref(), Some("12.4"));
        assert_eq!(release("nothing"), None);
    }
}
