//! `cuprum doctor FILE...` on files that are damaged, endless, or none: an answer, and the right
//! one.

use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::json::Json;
use super::schema::At;
use super::{compiled, cuprum, folder, ran};

/// The doctor's verdicts on some files, in the order of the files, with its exit code.
#[track_caller]
fn needs(files: &[PathBuf]) -> (i32, Vec<Json>) {
    // It builds the software device first.
    let mut doctor = cuprum();
    let start = Instant::now();
    let ran = ran(doctor.args(["doctor", "--json", "--software", "--no-smoke-test"]).args(files));
    assert!(start.elapsed() < Duration::from_secs(60), "it took {:?}", start.elapsed());
    assert_eq!(ran.error, "", "nothing but the report");
    let report = Json::read(&ran.out).expect("JSON");
    let needs = report.at("needs").list().to_vec();
    assert_eq!(needs.len(), files.len());
    (ran.code.expect("an exit code"), needs)
}

fn is_damaged(need: &Json) -> bool {
    matches!(need.at("damaged"), Json::Text(_))
}

fn is_whole(need: &Json) -> bool {
    !is_damaged(need) && need.at("missing").list().is_empty()
}

/// Versions of a file, each under a name of its own.
fn written(name: &str, versions: impl IntoIterator<Item = Vec<u8>>) -> Vec<PathBuf> {
    let place = folder("damage").join(name);
    let _ = std::fs::remove_dir_all(&place);
    std::fs::create_dir_all(&place).unwrap();
    let write = |(number, bytes): (usize, Vec<u8>)| {
        let path = place.join(number.to_string());
        std::fs::write(&path, bytes).unwrap();
        path
    };
    versions.into_iter().enumerate().map(write).collect()
}

fn program() -> Vec<u8> {
    static PROGRAM: OnceLock<Vec<u8>> = OnceLock::new();
    let source = "int cuInit(unsigned); int f(void) { return cuInit(0); }\n";
    let read = || std::fs::read(compiled(source, "libcut.so", &["-shared", "-fPIC"])).unwrap();
    PROGRAM.get_or_init(read).clone()
}

fn fatbin() -> Vec<u8> {
    std::fs::read("../emulator/tests/data/plain.fatbin").unwrap()
}

/// Some lengths of a file that lack something of it, all of its beginning and end among them.
fn lengths(whole: usize) -> impl Iterator<Item = usize> {
    (1..whole).filter(move |length| *length <= 80 || whole - length <= 16 || length % (whole / 100 + 1) == 0)
}

#[test]
fn a_file_that_is_cut_off_is_never_whole() {
    for (name, whole) in [("program", program()), ("fatbin", fatbin())] {
        let (code, needs_of_whole) = needs(&written(name, [whole.clone()]));
        assert!(code == 0 && is_whole(&needs_of_whole[0]), "{needs_of_whole:?}");
        let cut: Vec<usize> = lengths(whole.len()).collect();
        let (code, needs) = needs(&written(name, cut.iter().map(|length| whole[..*length].to_vec())));
        assert_eq!(code, 6);
        for (length, need) in cut.iter().zip(&needs) {
            assert!(!is_whole(need), "{name}, {length} of {}: {need:?}", whole.len());
            assert!(*length < 64 || is_damaged(need), "{name}, {length} of {}: {need:?}", whole.len());
        }
    }
}

#[test]
fn a_flipped_bit_ends_in_an_answer() {
    for (name, whole, header) in [("flipped program", program(), 64), ("flipped fatbin", fatbin(), 80)] {
        let flipped = (0..header * 8).map(|bit| {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            bytes
        });
        let flipped: Vec<_> = flipped.collect();
        needs(&written(name, flipped.iter().cloned()));
        let half = needs(&written(name, flipped.iter().map(|bytes| bytes[..whole.len() / 2].to_vec()))).1;
        let whole: Vec<_> = half.iter().filter(|need| is_whole(need)).collect();
        assert!(whole.is_empty(), "{name}: {whole:?}");
    }
}

/// Each of these once filled the memory, blocked, or took the tables of a file at their word.
#[test]
fn only_regular_files_are_read_and_not_more_than_there_is() {
    let place = folder("no files");
    let (pipe, socket, long) = (place.join("pipe"), place.join("socket"), place.join("long"));
    let _ = std::fs::remove_file(&pipe);
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let _ = std::fs::remove_file(&socket);
    let _listener = UnixListener::bind(&socket).unwrap();
    std::fs::File::create(&long).unwrap().set_len(2 << 30).unwrap();
    let files: Vec<(PathBuf, &str)> = vec![
        ("/dev/zero".into(), "it is a device, and only regular files are read"),
        (pipe, "it is a pipe, and only"),
        (socket, "it is a socket, and only"),
        (place, "it is a folder, and only"),
        ("/proc/kmsg".into(), "it is empty"),
        ("/proc/self/maps".into(), "it is empty"),
        (long, "it has 2147483648 bytes of device code, and up to 1 GiB are read"),
    ];
    let paths: Vec<_> = files.iter().map(|file| file.0.clone()).collect();
    let (code, needs) = needs(&paths);
    assert_eq!(code, 1);
    for ((path, words), need) in files.iter().zip(&needs) {
        let missing = need.at("missing.0").text();
        assert!(missing.contains(words), "{}: {missing}", path.display());
    }
}

/// Tables that name each other's bytes a million times over, or places that are not there.
#[test]
fn tables_of_garbage_take_neither_memory_nor_time() {
    let whole = program();
    let number = |at: usize, bytes: usize| {
        let mut word = [0; 8];
        word[..bytes].copy_from_slice(&whole[at..at + bytes]);
        usize::try_from(u64::from_le_bytes(word)).unwrap()
    };
    let (sections, count, names) = (number(40, 8), number(60, 2), number(62, 2));
    let with = |at: usize, bytes: &[u8]| {
        let mut changed = whole.clone();
        changed[at..at + bytes.len()].copy_from_slice(bytes);
        changed
    };
    let mut files = vec![
        // The table of sections is the whole file over and over, and beyond it.
        with(60, &u16::MAX.to_le_bytes()),
        with(40, &u64::MAX.to_le_bytes()),
        with(sections + names * 64 + 32, &u64::MAX.to_le_bytes()),
    ];
    for section in 1..count {
        files.push(with(sections + section * 64 + 32, &(u64::MAX - 7).to_le_bytes()));
        files.push(with(sections + section * 64 + 24, &(1u64 << 62).to_le_bytes()));
    }
    for (file, need) in files.iter().zip(&needs(&written("garbage", files.clone())).1) {
        // A section without room in the file may have any size.
        let is_bss = need.at("damaged") == &Json::Null;
        assert!(!is_bss || file.len() == whole.len(), "{need:?}");
    }
    let damaged = needs(&written("garbage", files.clone())).1.iter().filter(|need| is_damaged(need)).count();
    assert!(damaged + 2 >= files.len(), "{damaged} of {}", files.len());
}

#[test]
fn names_of_files_cannot_control_the_terminal() {
    let path = folder("damage").join("a\x1b[2J\nCUDA works here\u{9b}.ptx");
    std::fs::write(&path, ".version 8.4\x1b]0;x\x07\n").unwrap();
    for json in [&["--json"][..], &[]] {
        let ran = ran(cuprum().args(["doctor", "--software", "--no-smoke-test"]).args(json).arg(&path));
        assert_eq!(ran.code, Some(6), "{}", ran.out);
        assert!(ran.out.chars().all(|one| one == '\n' || !one.is_control()), "{:?}", ran.out);
        assert!(!ran.out.lines().any(|line| line.starts_with("CUDA works here\\u{9b}")), "{}", ran.out);
    }
    let unknown = ran(cuprum().args(["doctor", "--\x1b[2J"]));
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.error.contains("`--\\u{1b}[2J`"), "{}", unknown.error);
    let run = ran(cuprum().args(["run", "--", "no\x1bprogram"]));
    assert_eq!(run.code, Some(127));
    assert!(run.error.contains("`no\\u{1b}program`"), "{}", run.error);
}
