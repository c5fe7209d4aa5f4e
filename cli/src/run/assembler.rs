//! An assembler for programs that assemble PTX, such as Triton: the software device runs only PTX.

use std::env;
use std::io;
use std::path::Path;
use std::process::Command;

/// The script, which returns PTX unchanged.
const SCRIPT: &str = include_str!("ptxas");
/// The variables that name Triton's assembler: below compute capability 10.0, and from 10.0 on.
const VARIABLES: [&str; 2] = ["TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"];

/// Makes a program use the script, written to a folder, unless the environment names an assembler.
#[cfg(unix)]
pub(super) fn give_to(command: &mut Command, folder: &Path) -> io::Result<()> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let path = folder.join("ptxas");
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o700).open(&path)?;
    file.write_all(SCRIPT.as_bytes())?;
    command.envs(VARIABLES.iter().filter(|name| env::var_os(name).is_none()).map(|name| (name, &path)));
    Ok(())
}

#[cfg(not(unix))]
pub(super) fn give_to(_command: &mut Command, _folder: &Path) -> io::Result<()> {
    Ok(())
}
