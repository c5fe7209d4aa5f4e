//! Seven real drivers, each in a process of its own, on a machine without a GPU.
//!
//! `cargo test -p cuprum-sys --test real_drivers -- --ignored`: fetches the drivers as packages on
//! the first run (x86-64 Debian, network) and fails when it cannot.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use cuprum_testing::checks;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use cuprum_sys::left_out::LEFT_OUT;
use cuprum_sys::{CUresult, FnId, Library, Version};
use cuprum_testing::opened::{open_from, open_with};
use cuprum_testing::processes::{cache, in_child, run};

/// Exported by every driver or all but the oldest, and declared by no header.
const UNDOCUMENTED: [&str; 3] = ["cuEGLApiInit", "cuMemGetAttribute", "cuMemGetAttribute_v2"];

/// Functions that a driver of their version lacks: identifiers of Windows, on Linux only since
/// CUDA 11.
const LATER_THAN_THEIR_VERSION: &[(&str, FnId)] = &[("418.226.00", FnId::cuDeviceGetLuid)];

#[test]
#[ignore = "fetches real drivers"]
fn driver_340_108() {
    check("driver_340_108", "340.108", Version::new(6, 5), CUresult::CUDA_ERROR_NO_DEVICE);
}

/// Returns 999, unlike the others, which return 100: it fails to open its device file and does not
/// say why.
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

/// The value of `CUDA_VISIBLE_DEVICES` changes nothing without a device, and breaks nothing.
#[test]
#[ignore = "fetches real drivers"]
fn visible_devices() {
    let path = fetched("555.58.02");
    for value in ["", "-1", "0", "abc", "NoDevFiles"] {
        in_child("visible_devices", &[("CUDA_VISIBLE_DEVICES", value)], || {
            let library = open_from(&path).unwrap();
            assert_eq!(library.init(), CUresult::CUDA_ERROR_NO_DEVICE);
        });
    }
}

/// A driver whose second library is missing: the linker's words name that one, and so does the
/// error.
#[test]
#[ignore = "fetches real drivers"]
fn missing_second_library() {
    let alone = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libcuda.so.390.157");
    std::fs::copy(fetched("390.157"), &alone).unwrap();
    let error = open_from(&alone).unwrap_err().to_string();
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
    // The old drivers find the second library in their folder only by this variable.
    let folder = path.parent().unwrap().to_str().unwrap();
    in_child(test, &[("LD_LIBRARY_PATH", folder)], || {
        let library = open_from(&path).unwrap();
        assert_eq!(library.version(), version);
        assert_eq!(open_from(&path).unwrap(), library, "opening again gives the same");
        let per_thread = open_with(Library::options().per_thread_default_stream(true), &path).unwrap();

        let exported = exported(&path);
        check_presence(driver, library, &exported);
        check_presence(driver, per_thread, &exported);
        check_exports(&exported);
        let late = LATER_THAN_THEIR_VERSION.iter().filter(|(of, _)| *of == driver);
        checks::check(library, per_thread, &late.map(|(_, function)| *function).collect::<Vec<_>>(), init);
    });
}

/// The names that a library exports, read by another program.
fn exported(path: &Path) -> BTreeSet<String> {
    let names = run(Command::new("nm").args(["-D", "--defined-only", "--format=just-symbols"]).arg(path));
    let names: BTreeSet<_> = names.lines().map(str::to_owned).collect();
    assert!(names.len() > 250, "{} exports {} names", path.display(), names.len());
    names
}

/// True for each symbol that this driver has, according to the table of facts.
fn facts(driver: &str) -> BTreeMap<&'static str, bool> {
    let mut rows = include_str!("data/symbols.tsv").lines().map(|row| row.split('\t'));
    let column = rows.next().unwrap().position(|name| name == driver).unwrap();
    rows.map(|mut row| (row.next().unwrap(), row.nth(column - 1).unwrap() == "1")).collect()
}

/// The table has exactly the driver's exports, which agree with the known facts.
fn check_presence(driver: &str, library: Library, exported: &BTreeSet<String>) {
    let facts = facts(driver);
    for &function in FnId::ALL {
        let symbol = function.symbol_in(library.stream_mode());
        let name = symbol.name.to_str().unwrap();
        let has = library.has(function);
        assert_eq!(has, exported.contains(name), "{name}: in the table, exported");
        assert_eq!(has, facts[name], "{name}: in the table, known of this driver");
    }
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
