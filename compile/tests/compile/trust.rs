//! Trust in the cache of code: folders and entries that others could have written are not read, and
//! the key of `nvcc` includes the programs that it calls and the files that it reads.

use std::fs::{self, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

use crate::child::in_children;
use crate::nvcc;
use crate::nvrtc::compiler;
use crate::scratch;
use cuprum_compile::cache::{Cache, CacheUse};
use cuprum_compile::{Compiled, Options, Source};

/// A user that this process is not.
const SOMEBODY: u32 = 65_533;

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Compiles `text` with a cache in `folder`.
fn compile(folder: &Path, text: &str) -> Compiled {
    compiler().with_cache(Cache::new(folder)).compile(&Source::new(text), &Options::new()).unwrap()
}

/// A folder of a test, not there at its begin, in one of its own.
fn folder(name: &str) -> PathBuf {
    let above = scratch(name);
    let _ = fs::remove_dir_all(&above);
    above.join("cache")
}

/// The one entry of a folder.
fn entry(folder: &Path) -> PathBuf {
    let files: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    let [file] = &files[..] else { panic!("{files:?}") };
    file.clone()
}

/// The folder is neither read nor written, for a reason with these words.
fn is_refused(folder: &Path, words: &[&str]) {
    let before = fs::read(entry(folder)).unwrap();
    for text in ["text", "another"] {
        let code = compile(folder, text);
        let CacheUse::NotStored(why) = code.cache_use() else { panic!("{:?}", code.cache_use()) };
        assert!(words.iter().all(|word| why.contains(word)), "{why}");
        assert_eq!(code.ptx(), Some(text));
    }
    assert_eq!(fs::read(entry(folder)).unwrap(), before);
}

#[test]
fn a_folder_that_others_can_write_is_not_used() {
    let folder = folder("open-folder");
    compile(&folder, "text");
    for open in [0o777, 0o770, 0o702, 0o1777] {
        mode(&folder, open);
        is_refused(&folder, &["others can write in", folder.to_str().unwrap(), &format!("mode {open:o}")]);
    }
    mode(&folder, 0o755);
    assert_eq!(compile(&folder, "text").cache_use(), &CacheUse::Hit, "read by others, it is still ours");
}

#[test]
fn a_folder_that_others_can_replace_is_not_used() {
    let folder = folder("open-above");
    let above = folder.parent().unwrap();
    compile(&folder, "text");
    mode(above, 0o777);
    is_refused(&folder, &["others can write in", above.to_str().unwrap(), "mode 777"]);
    let link = above.with_extension("link");
    let _ = fs::remove_file(&link);
    symlink(&folder, &link).unwrap();
    is_refused(&link, &[above.to_str().unwrap(), "mode 777"]);
    mode(above, 0o1777);
    assert_eq!(compile(&folder, "text").cache_use(), &CacheUse::Hit, "nobody else can rename what is in it");
}

#[test]
fn an_entry_that_others_can_write_is_compiled_anew() {
    let folder = folder("open-entry");
    compile(&folder, "text");
    for open in [0o666, 0o620, 0o602] {
        let path = entry(&folder);
        mode(&path, open);
        assert_eq!(compile(&folder, "text").cache_use(), &CacheUse::Stored, "{open:o}");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(compile(&folder, "text").cache_use(), &CacheUse::Hit);
}

/// Only the system's user can give files away. For others it is the rule's own test, in `src`, that
/// shows this.
#[test]
fn files_of_other_users_are_not_used() {
    let folder = folder("foreign");
    compile(&folder, "text");
    let path = entry(&folder);
    if let Err(error) = chown(&path, Some(SOMEBODY), None) {
        assert_eq!(error.kind(), ErrorKind::PermissionDenied, "{error}");
        return;
    }
    assert_eq!(compile(&folder, "text").cache_use(), &CacheUse::Stored);
    assert_eq!(compile(&folder, "text").cache_use(), &CacheUse::Hit);
    chown(&folder, Some(SOMEBODY), None).unwrap();
    is_refused(&folder, &["belongs to another user", "65533"]);
    chown(&folder, Some(0), None).unwrap();
    chown(folder.parent().unwrap(), Some(SOMEBODY), None).unwrap();
    is_refused(&folder, &["belongs to another user", folder.parent().unwrap().to_str().unwrap()]);
}

#[test]
fn new_files_are_this_users_alone() {
    let name = concat!(module_path!(), "::new_files_are_this_users_alone");
    in_children(name, &[&[]], || {
        unsafe extern "C" {
            safe fn umask(mask: u32) -> u32;
        }
        umask(0);
        let folder = folder("made").join("deeper");
        assert_eq!(compile(&folder, "text").cache_use(), &CacheUse::Stored);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(
            (mode(&entry(&folder)), mode(&folder), mode(folder.parent().unwrap())),
            (0o600, 0o700, 0o700)
        );
        assert_eq!(compile(&folder, "text").cache_use(), &CacheUse::Hit);
    });
}

/// Checks the use of the cache by a compilation with `nvcc`, in children with these variables, one
/// after another.
fn uses_of_nvcc(name: &str, steps: &[(&[(&str, &str)], &str)]) {
    let environments: Vec<Vec<_>> =
        steps.iter().map(|(variables, used)| [&variables[..], &[("USED", used)]].concat()).collect();
    let environments: Vec<_> = environments.iter().map(Vec::as_slice).collect();
    let folder = scratch(name);
    in_children(&format!("{}::{name}", module_path!()), &environments, || {
        let compiler = nvcc::compiler().with_cache(Cache::new(&folder));
        let code = compiler.compile(&Source::new("int x;\n"), &Options::new().define("N", "1")).unwrap();
        let used = match code.cache_use() {
            CacheUse::NotStored(why) => format!("no: {why}"),
            other => format!("{other:?}"),
        };
        let expected = std::env::var("USED").unwrap();
        assert!(used.starts_with(&expected), "{used}, not {expected}");
    });
}

#[test]
fn programs_and_files_that_nvcc_uses_are_part_of_the_key() {
    if std::env::var_os("USED").is_none() {
        let _ = fs::remove_dir_all(scratch("programs_and_files_that_nvcc_uses_are_part_of_the_key"));
    }
    let mut steps: Vec<(&[_], _)> = vec![(&[], "Stored"), (&[], "Hit")];
    let others: [&[(&str, &str)]; 9] = [
        &[("NVCC_HOST", "13.1.0")],
        &[("NVCC_PREPEND_FLAGS", "-DA")],
        &[("NVCC_APPEND_FLAGS", "-DA")],
        &[("NVCC_CCBIN", "/opt/bin/g++")],
        &[("CPATH", "/opt/include")],
        &[("CPLUS_INCLUDE_PATH", "/opt/include")],
        &[("SOURCE_DATE_EPOCH", "1")],
        &[("CPATH", "a"), ("C_INCLUDE_PATH", "")],
        &[("CPATH", ""), ("C_INCLUDE_PATH", "a")],
    ];
    for other in others {
        steps.extend([(other, "Stored"), (other, "Hit")]);
    }
    let unknown: [(&[_], _); 2] = [
        (&[("NVCC_HOST", "none")], "no: nvcc does not tell its host's compiler: nvcc fatal"),
        (
            &[("NVCC_APPEND_FLAGS", "-DX -include x.h")],
            "no: the code depends on files by the option -include",
        ),
    ];
    steps.extend(unknown);
    uses_of_nvcc("programs_and_files_that_nvcc_uses_are_part_of_the_key", &steps);
}
