//! Seven real drivers, each in a process of its own, on a machine without a GPU.
//!
//! `cargo test -p cuprum-sys --test real_drivers -- --ignored`: fetches the drivers as packages on the first
//! run (x86-64 Debian, network) and fails when it cannot.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CString, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr;
use std::sync::Mutex;

use common::{cache, fork, in_child, run};
use cuprum_sys::left_out::LEFT_OUT;
use cuprum_sys::{CUresult, FnId, Library, StreamMode, Symbol, Version};

/// Exported by every driver or all but the oldest, and declared by no header.
const UNDOCUMENTED: [&str; 3] = ["cuEGLApiInit", "cuMemGetAttribute", "cuMemGetAttribute_v2"];

/// Functions that a driver of their version lacks: identifiers of Windows, on Linux only since CUDA 11.
const LATER_THAN_THEIR_VERSION: &[(&str, FnId)] = &[("418.226.00", FnId::cuDeviceGetLuid)];

#[test]
#[ignore = "fetches real drivers"]
fn driver_340_108() {
    check("driver_340_108", "340.108", Version::new(6, 5), CUresult::CUDA_ERROR_NO_DEVICE);
}

/// Answers 999 where the others answer 100: it fails to open its device file and does not say why.
#[test]
#[ignore = "fetches real drivers"]
fn driver_390_157() {
    check("driver_390_157", "390.157", Version::new(9, 1), CUresult::CUDA_ERROR_UNKNOWN);
}

#[test]
#[ignore = "fetches real drivers"]
fn driver_418_226_00() {
    check("driver_418_226_00", "418.226.00", Version::new(10, 1), CUresult::CUDA_ERROR_NO_DEVICE);
}

#[test]
#[ignore = "fetches real drivers"]
fn driver_470_256_02() {
    check("driver_470_256_02", "470.256.02", Version::new(11, 4), CUresult::CUDA_ERROR_NO_DEVICE);
}

#[test]
#[ignore = "fetches real drivers"]
fn driver_535_261_03() {
    check("driver_535_261_03", "535.261.03", Version::new(12, 2), CUresult::CUDA_ERROR_NO_DEVICE);
}

#[test]
#[ignore = "fetches real drivers"]
fn driver_550_163_01() {
    check("driver_550_163_01", "550.163.01", Version::new(12, 4), CUresult::CUDA_ERROR_NO_DEVICE);
}

#[test]
#[ignore = "fetches real drivers"]
fn driver_555_58_02() {
    check("driver_555_58_02", "555.58.02", Version::new(12, 5), CUresult::CUDA_ERROR_NO_DEVICE);
}

/// What `CUDA_VISIBLE_DEVICES` says changes nothing where there is no device, and breaks nothing.
#[test]
#[ignore = "fetches real drivers"]
fn visible_devices() {
    let path = fetched("555.58.02");
    for value in ["", "-1", "0", "abc", "NoDevFiles"] {
        in_child("visible_devices", &[("CUDA_VISIBLE_DEVICES", value)], || {
            let library = Library::open_from(&path).unwrap();
            assert_eq!(library.init(), CUresult::CUDA_ERROR_NO_DEVICE);
        });
    }
}

/// A driver whose second library is missing: the linker's words name that one, and so does the error.
#[test]
#[ignore = "fetches real drivers"]
fn missing_second_library() {
    let alone = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libcuda.so.390.157");
    std::fs::copy(fetched("390.157"), &alone).unwrap();
    let error = Library::open_from(&alone).unwrap_err().to_string();
    assert!(error.contains("libnvidia-fatbinaryloader.so.390.157"), "{error}");
}

fn fetched(driver: &str) -> PathBuf {
    static FETCH: Mutex<()> = Mutex::new(());
    let _one_at_a_time = FETCH.lock();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fetch/drivers.sh");
    let folder = cache().join("drivers");
    run(Command::new(script).arg(&folder));
    folder.join(driver).join("libcuda.so.1")
}

/// Every check of one driver.
fn check(test: &str, driver: &str, version: Version, init: CUresult) {
    let path = fetched(driver);
    // The old drivers find their second library beside them only by this variable.
    let folder = path.parent().unwrap().to_str().unwrap();
    in_child(test, &[("LD_LIBRARY_PATH", folder)], || {
        let library = Library::open_from(&path).unwrap();
        assert_eq!(library.version(), version);
        assert_eq!(Library::open_from(&path).unwrap(), library, "opening again gives the same");
        let per_thread = Library::options().per_thread_default_stream(true).open_from(&path).unwrap();

        let exported = exported(&path);
        check_presence(driver, library, &exported);
        check_presence(driver, per_thread, &exported);
        check_exports(&exported);
        check_queries(library);
        check_queries(per_thread);
        check_missing_function(library);
        check_error_names(library);
        check_fork_before_init(library, init);
        check_init(library, per_thread, init);
        check_fork_after_init(library);
    });
}

/// The names that a library exports, read by another program.
fn exported(path: &Path) -> BTreeSet<String> {
    let names = run(Command::new("nm").args(["-D", "--defined-only", "--format=just-symbols"]).arg(path));
    let names: BTreeSet<_> = names.lines().map(str::to_owned).collect();
    assert!(names.len() > 250, "{} exports {} names", path.display(), names.len());
    names
}

/// What the fact table says of each symbol: whether this driver has it.
fn facts(driver: &str) -> BTreeMap<&'static str, bool> {
    let mut rows = include_str!("data/symbols.tsv").lines().map(|row| row.split('\t'));
    let column = rows.next().unwrap().position(|name| name == driver).unwrap();
    rows.map(|mut row| (row.next().unwrap(), row.nth(column - 1).unwrap() == "1")).collect()
}

/// The table has exactly what the driver exports, which is what its version lets expect.
fn check_presence(driver: &str, library: Library, exported: &BTreeSet<String>) {
    let facts = facts(driver);
    let mut present = 0;
    for &function in FnId::ALL {
        let symbol = function.symbol_in(library.stream_mode());
        let name = symbol.name.to_str().unwrap();
        let has = library.has(function);
        assert_eq!(has, exported.contains(name), "{name}: in the table, exported");
        assert_eq!(has, facts[name], "{name}: in the table, known of this driver");
        let late = LATER_THAN_THEIR_VERSION.contains(&(driver, function));
        assert_eq!(has, symbol.since <= library.version() && !late, "{name} of {}", symbol.since);
        present += u32::from(has);
    }
    let (mode, version) = (library.stream_mode(), library.version());
    println!("{driver} (CUDA {version}, {mode:?}): {present} of {} functions", FnId::ALL.len());
}

/// Every driver function that the library exports is in the table or accounted for.
fn check_exports(exported: &BTreeSet<String>) {
    let symbols = FnId::ALL.iter().flat_map(|id| [Some(id.symbol()), id.per_thread_symbol()]).flatten();
    let mut known: BTreeSet<_> = symbols.map(|symbol| symbol.name.to_str().unwrap()).collect();
    known.extend(LEFT_OUT.iter().flat_map(|group| group.symbols));
    known.extend(UNDOCUMENTED);
    let is_driver_function =
        |name: &&String| name.starts_with("cu") && name[2..].starts_with(|c: char| c.is_ascii_uppercase());
    let unknown: Vec<_> =
        exported.iter().filter(is_driver_function).filter(|name| !known.contains(name.as_str())).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

/// `cuGetProcAddress` gives the addresses that the table has from dlsym, each asked with its own version.
fn check_queries(library: Library) {
    if !library.has(FnId::cuGetProcAddress) {
        assert!(library.version() < Version::new(11, 3));
        return;
    }
    let mut same = 0;
    for &function in FnId::ALL.iter().filter(|function| library.has(**function)) {
        let symbol = function.symbol_in(library.stream_mode());
        assert_eq!(query(library, &symbol), library.address(function), "{:?}", symbol.name);
        same += 1;
    }
    println!("cuGetProcAddress and dlsym agree on {same} functions");
}

/// The driver's answer for a symbol by base name and version.
fn query(library: Library, symbol: &Symbol) -> *const c_void {
    let base = CString::new(symbol.base).unwrap();
    let flags = match symbol.mode {
        StreamMode::Legacy => 1,
        StreamMode::PerThread => 2,
    };
    let since = i32::try_from(symbol.since.as_raw()).unwrap();
    let mut address = ptr::null_mut();
    // SAFETY: the name is a C string and the address is ours to write.
    let result = unsafe { (library.fns().cuGetProcAddress)(base.as_ptr(), &mut address, since, flags) };
    assert_eq!(result, CUresult::CUDA_SUCCESS, "{symbol:?}");
    address
}

/// A function newer than the driver is a typed error, and calling it all the same is harmless.
fn check_missing_function(library: Library) {
    let (driver, function) = (library.version(), FnId::cuTensorMapSetAllocationClass);
    let missing = library.require_fn(function).unwrap_err();
    assert_eq!((missing.function, missing.since, missing.driver), (function, Version::new(13, 5), driver));
    assert_eq!(
        missing.to_string(),
        format!("cuTensorMapSetAllocationClass needs CUDA 13.5, driver has {driver}")
    );
    // SAFETY: an absent function is a stub, which looks at no argument.
    let result = unsafe {
        (library.fns().cuTensorMapSetAllocationClass)(
            ptr::null_mut(),
            cuprum_sys::CUtensorMapAllocClass(0),
            ptr::null_mut(),
        )
    };
    assert_eq!(result, CUresult::UNRESOLVED);
}

/// The driver knows no name for our own codes, nor a code of ours for an error of its own.
fn check_error_names(library: Library) {
    let name = |code: CUresult| {
        let mut name = ptr::dangling();
        // SAFETY: the place is ours to write.
        let result = unsafe { (library.fns().cuGetErrorName)(code, &mut name) };
        assert_eq!(name.is_null(), result != CUresult::CUDA_SUCCESS, "{code:?}");
        // SAFETY: not null, so the driver's own string.
        (!name.is_null()).then(|| unsafe { std::ffi::CStr::from_ptr(name) }.to_str().unwrap().to_owned())
    };
    for ours in [CUresult::UNRESOLVED, CUresult::FORKED] {
        assert_eq!(name(ours), None, "{ours:?} is no code of a driver");
    }
    let mut known = 0;
    for code in (0..2000).map(CUresult) {
        if let Some(theirs) = name(code) {
            assert_eq!(code.name(), Some(theirs.as_str()), "code {}", code.0);
            known += 1;
        }
    }
    assert!(known >= 48, "the driver knows {known} codes");
    println!("{known} result codes have the driver's name");
}

fn check_fork_before_init(library: Library, init: CUresult) {
    let answer = fork(|| u8::from(library.init() == init && !library.forked()));
    assert_eq!(answer, 1, "a child may initialize what its parent only loaded");
}

/// The true answer, once: further calls ask nobody and open nothing.
fn check_init(library: Library, per_thread: Library, init: CUresult) {
    assert_eq!(library.init(), init);
    let files = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let open = files();
    for _ in 0..10 {
        assert_eq!(library.init(), init);
        assert_eq!(per_thread.init(), init, "one driver, one answer");
    }
    assert_eq!(files(), open, "cuInit was called again");
}

/// In 550 and 555 a child's own `cuInit` fails oddly; no driver lets a child use what the parent set up.
fn check_fork_after_init(library: Library) {
    let answer = fork(|| u8::from(library.forked() && library.init() == CUresult::FORKED));
    assert_eq!(answer, 1, "the child is told");
}
