//! A program with the setuid bit obeys no variable that names a library, a program or a file.
//!
//! A program of its own: it copies itself, sets that bit on the copy, which root owns, and runs it
//! as another user. Only root can do that; the tests fail for other users. `.ci/run` has a step for
//! it:
//!
//!     cargo test -p cuprum-compile --features cache --test secure -- --ignored
#![cfg(target_os = "linux")]

use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cuprum::Library;
use cuprum::sys::environment;
use cuprum_compile::nvrtc;

/// User and group of the one who starts the copy.
const NOBODY: u32 = 65534;

/// A variable, and a value that shows where it is obeyed.
const SET: [(&str, &str); 11] = [
    ("CUPRUM_DRIVER", "/tmp/cuprum-evil/libcuda.so.1"),
    ("CUPRUM_NVRTC", "/tmp/cuprum-evil/libnvrtc.so"),
    ("CUPRUM_NVCC", "/tmp/cuprum-evil/nvcc"),
    ("CUPRUM_CACHE", "/tmp/cuprum-evil/cache"),
    ("CUDA_HOME", "/tmp/cuprum-evil/cuda"),
    ("CUDA_PATH", "/tmp/cuprum-evil/cuda"),
    ("VIRTUAL_ENV", "/tmp/cuprum-evil/python"),
    ("HOME", "/tmp/cuprum-evil/home"),
    ("PATH", "/tmp/cuprum-evil/bin"),
    ("TMPDIR", "/tmp/cuprum-evil"),
    ("CUPRUM_EMULATOR_MODE", "evil"),
];

/// A copy of this program, in a folder that everybody can enter and root alone can write to.
struct Copy {
    folder: PathBuf,
    _lock: MutexGuard<'static, ()>,
}

impl Copy {
    fn new(mode: u32) -> Self {
        // While a copy is written, a process that another thread starts has the file open for a
        // moment, and the copy does not start then.
        static ONE: Mutex<()> = Mutex::new(());
        let lock = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = Path::new("/tmp").join(format!("cuprum-secure-{mode:o}-{}", std::process::id()));
        std::fs::DirBuilder::new().mode(0o755).create(&folder).expect("a folder of root's");
        let copy = Self { folder, _lock: lock };
        std::fs::copy(std::env::current_exe().unwrap(), copy.program()).unwrap();
        std::fs::set_permissions(copy.program(), PermissionsExt::from_mode(mode)).unwrap();
        copy
    }

    fn program(&self) -> PathBuf {
        self.folder.join("program")
    }

    /// Runs a test of it as another user.
    #[track_caller]
    fn run(&self, test: &str) {
        let mut command = Command::new(self.program());
        command.args(["--exact", test, "--ignored", "--nocapture"]).current_dir("/").uid(NOBODY).gid(NOBODY);
        let ran = command.envs(SET).env("CUPRUM_TEST_CHILD", "1").output().expect("it starts");
        let out = String::from_utf8_lossy(&ran.stdout);
        let whole = ran.status.success() && out.contains("1 passed");
        assert!(whole, "{}\n{out}{}", ran.status, String::from_utf8_lossy(&ran.stderr));
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn is_child() -> bool {
    std::env::var_os("CUPRUM_TEST_CHILD").is_some()
}

/// A program that obeys variables sees the test's values: otherwise the other test would prove
/// nothing.
#[test]
#[ignore = "only root can make a program with the setuid bit"]
fn with_the_rights_of_its_user_a_program_obeys_variables() {
    if !is_child() {
        return Copy::new(0o755).run("with_the_rights_of_its_user_a_program_obeys_variables");
    }
    assert!(environment::is_trusted());
    for (name, value) in SET {
        assert_eq!(environment::variable(name).as_deref(), Some(value.as_ref()), "{name}");
    }
    let tried = [Library::open().unwrap_err().to_string(), nvrtc::Library::open().unwrap_err().to_string()];
    assert!(tried.iter().all(|error| error.contains("/tmp/cuprum-evil")), "{tried:?}");
    assert!(cuprum_emulator::Settings::from_env().is_err());
}

#[test]
#[ignore = "only root can make a program with the setuid bit"]
fn with_the_setuid_bit_a_program_obeys_none() {
    if !is_child() {
        return Copy::new(0o4755).run("with_the_setuid_bit_a_program_obeys_none");
    }
    assert!(!environment::is_trusted(), "/tmp ignores setuid bits, or the copy has none: nothing is tested");
    for (name, _) in SET {
        assert_eq!(environment::variable(name), None, "{name}");
    }
    assert_eq!(environment::temporary_folder(), Path::new("/tmp"));
    // The files that they name are not even tried.
    let errors = [
        Library::open().map_or_else(|error| error.to_string(), |library| library.origin().to_owned()),
        nvrtc::Library::open().map_or_else(|error| error.to_string(), |library| format!("{library:?}")),
        format!("{:?}", cuprum_compile::Compiler::nvcc().map(|_| ())),
    ];
    assert!(errors.iter().all(|error| !error.contains("cuprum-evil")), "{errors:?}");
    #[cfg(feature = "cache")]
    assert_eq!(cuprum_compile::cache::Cache::of_user(), None);
    assert_eq!(cuprum_emulator::Settings::from_env(), Ok(cuprum_emulator::Settings::default()));
}
