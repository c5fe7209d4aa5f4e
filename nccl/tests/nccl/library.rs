//! Finding, loading and refusing libraries.

use std::path::{Path, PathBuf};
use std::process::Command;

use cuprum_nccl::raw::FnId;
use cuprum_nccl::{Nccl, NcclError, NcclVersion};

use crate::support::{Failure, is_child, nccl, rerun};

/// The stand-in as a library, which cargo builds together with the tests.
pub(crate) fn library() -> Result<PathBuf, Failure> {
    let folder = std::env::current_exe()?.parent().map(Path::to_owned).unwrap_or_default();
    Ok(folder.join("libcuprum_nccl_stand_in.so"))
}

#[test]
fn the_stand_in_says_what_it_is() -> Result<(), Failure> {
    let nccl = nccl()?;
    assert_eq!((nccl.version(), nccl.origin()), (NcclVersion::new(2, 27, 99), "the stand-in"));
    assert!(!cuprum_nccl_stand_in::address("cuprum_nccl_stand_in").is_null());
    FnId::ALL.iter().try_for_each(|function| nccl.require(*function))?;
    Ok(())
}

#[test]
fn a_library_is_loaded_by_its_path_and_only_once() -> Result<(), Failure> {
    // SAFETY: it is the stand-in.
    let first = unsafe { Nccl::open_from(library()?) }?;
    // SAFETY: as above.
    let second = unsafe { Nccl::open_from(library()?) }?;
    assert_eq!(first, second);
    assert_ne!(first, nccl()?, "that one is linked into this program");
    Ok(())
}

/// Compiles a library that poses as NCCL.
fn fake(name: &str, source: &str) -> Result<PathBuf, Failure> {
    let folder = std::env::temp_dir().join(format!("cuprum-nccl-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let (c, so) = (folder.join("fake.c"), folder.join("libnccl.so.2"));
    std::fs::write(&c, source)?;
    let status = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&so).arg(&c).status()?;
    if status.success() { Ok(so) } else { Err("cc failed".into()) }
}

#[test]
fn an_older_library_lacks_single_calls() -> Result<(), Failure> {
    let path = fake("older", "int ncclGetVersion(int *v) { *v = 21805; return 0; }")?;
    // SAFETY: its one function is as NCCL's.
    let nccl = unsafe { Nccl::open_from(path) }?;
    assert_eq!(nccl.version(), NcclVersion::new(2, 18, 5));
    let Err(NcclError::Missing(missing)) = nccl.require(FnId::ncclCommShrink).map_err(NcclError::from) else {
        return Err("it has the function".into());
    };
    assert_eq!(missing.to_string(), "ncclCommShrink needs NCCL 2.27.0, this is 2.18.5");
    let text = nccl.unique_id().unwrap_err().to_string();
    assert_eq!(text, "ncclGetUniqueId came with NCCL 2.18.0, but this one of version 2.18.5 lacks it");
    Ok(())
}

#[test]
fn what_is_no_nccl_or_too_old_is_refused_with_the_reason() -> Result<(), Failure> {
    let refused = |name, source| -> Result<String, Failure> {
        // SAFETY: its functions are as NCCL's.
        Ok(unsafe { Nccl::open_from(fake(name, source)?) }.unwrap_err().to_string())
    };
    let too_old = refused("too_old", "int ncclGetVersion(int *v) { *v = 21705; return 0; }")?;
    assert!(too_old.contains("NCCL 2.17.5 is too old: 2.18.0 or newer is needed"), "{too_old}");
    let other = refused("other", "int other(void) { return 0; }")?;
    assert!(other.contains("not NCCL: it does not export ncclGetVersion"), "{other}");
    let broken = refused("broken", "int ncclGetVersion(int *v) { return 3; }")?;
    assert!(broken.contains("answered ncclInternalError"), "{broken}");
    Ok(())
}

/// Reads the output of the process that opened a library.
fn opened(variables: &[(&str, &str)]) -> Result<String, Failure> {
    let output = rerun("library::child_that_opens", variables)?.wait_with_output()?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
#[ignore = "started by other tests"]
fn child_that_opens() {
    if is_child() {
        match Nccl::open() {
            Ok(nccl) => println!("opened {} {}", nccl.version(), nccl.origin()),
            Err(error) => println!("refused: {error}"),
        }
    }
}

#[test]
fn the_variable_names_the_only_library() -> Result<(), Failure> {
    let path = library()?.display().to_string();
    assert!(opened(&[("CUPRUM_NCCL", &path)])?.contains(&format!("opened 2.27.99 {path}")));
    let refused = opened(&[("CUPRUM_NCCL", "/nowhere/libnccl.so.2")])?;
    assert!(refused.contains("refused: no NCCL could be loaded: /nowhere/libnccl.so.2"), "{refused}");
    assert!(refused.contains("pip install nvidia-nccl-cu12"), "{refused}");
    Ok(())
}

#[test]
fn wheels_are_found() -> Result<(), Failure> {
    let site = std::env::temp_dir().join(format!("cuprum-nccl-{}-site", std::process::id()));
    let folder = site.join("nvidia/nccl/lib");
    std::fs::create_dir_all(&folder)?;
    std::fs::copy(library()?, folder.join("libnccl.so.2"))?;
    let site = site.display().to_string();
    let found = opened(&[("PYTHONPATH", &site), ("CUPRUM_NCCL", "")])?;
    // Unless the machine has one of its own, which comes first.
    assert!(found.contains(&format!("opened 2.27.99 {site}")) || found.contains("opened 2."), "{found}");
    Ok(())
}
