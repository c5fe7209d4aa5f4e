//! The cache of compiled code: stored entries, refused entries, and many processes on one folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::child::in_children;
use crate::nvrtc::{compiler, of_tomorrow, state};
use crate::scratch;
use cuprum_compile::cache::{Cache, CacheUse};
use cuprum_compile::nvrtc::FnId;
use cuprum_compile::{Architecture, CompileError, Compiled, Compiler, Options, Output, Source};

/// A folder of one test, not there at its begin.
fn folder(name: &str) -> PathBuf {
    let folder = scratch(name);
    let _ = fs::remove_dir_all(&folder);
    folder
}

fn cached(folder: &Path) -> Compiler {
    compiler().with_cache(Cache::new(folder))
}

fn compile(compiler: &Compiler, text: &str) -> Compiled {
    compiler.compile(&Source::new(text), &Options::new()).unwrap()
}

/// Compilations that this thread has seen.
fn compilations() -> usize {
    state(|state| state.calls.iter().filter(|call| **call == FnId::nvrtcCompileProgram).count())
}

/// The entries of a folder.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn compiled_code_comes_back_whole() {
    let folder = folder("hit");
    state(|state| state.log = b"a.cu(1): warning #1-D: w".to_vec());
    let source = Source::new("text").header("a.h", "x").expression("f<int>");
    let options = Options::new().architecture(Architecture::new(8, 0));
    let first = cached(&folder).compile(&source, &options).unwrap();
    assert_eq!(first.cache_use(), &CacheUse::Stored);
    let second = cached(&folder).compile(&source, &options).unwrap();
    assert_eq!((second.cache_use(), compilations()), (&CacheUse::Hit, 1));
    assert_eq!((second.ptx(), second.log()), (first.ptx(), first.log()));
    assert_eq!(second.name("f<int>"), Some("k"));
    assert_eq!(compiler().compile(&source, &options).unwrap().cache_use(), &CacheUse::Off);
}

#[test]
fn all_that_changes_the_code_is_another_entry() {
    let folder = folder("keys");
    let (source, cached) = (Source::new("text"), cached(&folder));
    let others = [
        cached.compile(&source, &Options::new()),
        cached.compile(&source, &Options::new().define("A", 1)),
        cached.compile(&source, &Options::new().architecture(Architecture::new(8, 0))),
        cached.compile(&source, &Options::new().architecture(Architecture::new(8, 0)).output(Output::Cubin)),
        cached.compile(&source.clone().header("a.h", ""), &Options::new()),
        cached.compile(&source.clone().named("other.cu"), &Options::new()),
        of_tomorrow().with_cache(Cache::new(&folder)).compile(&source, &Options::new()),
    ];
    for (i, code) in others.iter().enumerate() {
        assert_eq!(code.as_ref().unwrap().cache_use(), &CacheUse::Stored, "{i}");
    }
    assert_eq!((entries(&folder).len(), compilations()), (others.len(), others.len()));
}

#[test]
fn failed_compilations_are_not_kept() {
    let folder = folder("refused");
    for _ in 0..2 {
        let error = cached(&folder).compile(&Source::new("refused"), &Options::new()).unwrap_err();
        assert!(matches!(error, CompileError::Rejected { .. }));
    }
    assert!(!folder.exists(), "a cache makes its folder when it has something to keep");
    assert_eq!(compilations(), 2);
}

#[test]
fn an_entry_that_was_cut_changed_or_swapped_is_compiled_anew() {
    let folder = folder("corrupt");
    let cached = cached(&folder);
    compile(&cached, "text");
    let [path] = &entries(&folder)[..] else { panic!() };
    let whole = fs::read(path).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 4;
    let other = {
        compile(&cached, "other");
        let other = entries(&folder).into_iter().find(|other| other != path).unwrap();
        fs::read(other).unwrap()
    };
    for bad in [&[][..], &whole[..10], &whole[..whole.len() - 1], &flipped, &other, &[0; 100]] {
        fs::write(path, bad).unwrap();
        let code = compile(&cached, "text");
        assert_eq!((code.ptx(), code.cache_use()), (Some("text"), &CacheUse::Stored));
        assert_eq!(fs::read(path).unwrap(), whole, "it is whole again");
    }
    fs::remove_file(path).unwrap();
    fs::create_dir(path).unwrap();
    let code = compile(&cached, "text");
    assert!(matches!(code.cache_use(), CacheUse::NotStored(_)), "{code:?}");
    assert_eq!(code.ptx(), Some("text"));
}

#[test]
fn a_folder_that_cannot_be_written_is_no_error() {
    let file = folder("in-a-file");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "").unwrap();
    for place in
        [file.join("below"), file.clone(), PathBuf::from("/proc/no/such/folder"), PathBuf::from("a\0b")]
    {
        let code = compile(&cached(&place), "text");
        let CacheUse::NotStored(why) = code.cache_use() else { panic!("{:?}", code.cache_use()) };
        assert!(why.len() > place.to_string_lossy().len(), "{why}");
        assert_eq!(code.ptx(), Some("text"));
    }
    fs::remove_file(file).unwrap();
}

#[test]
fn code_that_depends_on_files_is_kept_with_a_fingerprint_alone() {
    let folder = folder("files");
    let source = Source::new("#include <cuda_fp16.h>\n");
    let code = cached(&folder).compile(&source, &Options::new()).unwrap();
    let CacheUse::NotStored(why) = code.cache_use() else { panic!("{:?}", code.cache_use()) };
    assert!(why.contains("cuda_fp16.h") && why.contains("fingerprint"), "{why}");
    let kept = |files| cached(&folder).compile(&source.clone().fingerprint(files), &Options::new()).unwrap();
    assert_eq!(kept("12.4").cache_use(), &CacheUse::Stored);
    assert_eq!(kept("12.4").cache_use(), &CacheUse::Hit);
    assert_eq!(kept("12.5").cache_use(), &CacheUse::Stored);
}

/// Sets when an entry was used last.
fn age(path: &Path, seconds: u64) {
    let time = SystemTime::now() - Duration::from_secs(seconds);
    fs::File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
}

#[test]
fn beyond_its_limit_the_least_used_goes_first() {
    let folder = folder("limit");
    let text = |i: usize| format!("{i:01000}");
    let cached = |limit| compiler().with_cache(Cache::new(&folder).limit(limit));
    let mut paths = Vec::new();
    for i in 0..4 {
        compile(&cached(1 << 20), &text(i));
        let path = entries(&folder).into_iter().find(|path| !paths.contains(path)).unwrap();
        age(&path, 100 - i as u64);
        paths.push(path);
    }
    let size = fs::metadata(&paths[0]).unwrap().len();
    assert_eq!(
        compile(&cached(1 << 20), &text(0)).cache_use(),
        &CacheUse::Hit,
        "used now, so no longer the oldest"
    );
    fs::write(folder.join("of another program"), "kept").unwrap();
    let part = |name: &str| folder.join(format!("{name}.1-2-3.part"));
    let (abandoned, unfinished) = (part(&"a".repeat(32)), part(&"b".repeat(32)));
    fs::write(&abandoned, "").unwrap();
    age(&abandoned, 7200);
    fs::write(&unfinished, "somebody writes this now").unwrap();
    // Other programs have unfinished files, too.
    let download = part("film");
    fs::write(&download, "").unwrap();
    age(&download, 7200);
    assert_eq!(compile(&cached(3 * size + 10), &text(4)).cache_use(), &CacheUse::Stored);
    assert!(paths[0].exists() && !paths[1].exists() && !paths[2].exists() && paths[3].exists());
    assert!(folder.join("of another program").exists() && download.exists());
    assert!(unfinished.exists() && !abandoned.exists());
    let large = compile(&cached(size / 2), &text(5));
    assert!(matches!(large.cache_use(), CacheUse::NotStored(why) if why.contains("may have")), "{large:?}");
}

#[test]
fn the_users_cache_is_where_the_environment_says() {
    let folder_of = |variables: [(&str, &str); 3], expected: &str| {
        let name = concat!(module_path!(), "::the_users_cache_is_where_the_environment_says");
        let variables = [&variables[..], &[("EXPECTED", expected)]].concat();
        in_children(name, &[&variables], || {
            let expected = std::env::var("EXPECTED").unwrap();
            let found = Cache::of_user().map(|cache| cache.folder().to_str().unwrap().to_owned());
            assert_eq!(found.unwrap_or_default(), expected);
        });
    };
    folder_of([("CUPRUM_CACHE", "/a"), ("XDG_CACHE_HOME", "/b"), ("HOME", "/c")], "/a");
    folder_of([("CUPRUM_CACHE", ""), ("XDG_CACHE_HOME", "/b"), ("HOME", "/c")], "/b/cuprum");
    folder_of([("CUPRUM_CACHE", ""), ("XDG_CACHE_HOME", ""), ("HOME", "/c")], "/c/.cache/cuprum");
    folder_of([("CUPRUM_CACHE", ""), ("XDG_CACHE_HOME", ""), ("HOME", "")], "");
}

/// Sixteen threads in each of four processes, on one folder with room for half of the entries: each
/// compilation returns the right code, and no unfinished file is left.
#[test]
fn many_processes_share_one_folder() {
    const NAME: &str = concat!(module_path!(), "::many_processes_share_one_folder");
    let shared = scratch("shared");
    if std::env::var_os("CUPRUM_TEST_CHILD").is_none() {
        let _ = fs::remove_dir_all(&shared);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| in_children(NAME, &[&[]], || ()));
            }
        });
        let left = entries(&shared);
        assert!(!left.is_empty());
        assert!(left.iter().all(|path| path.extension().is_some_and(|end| end == "cuprum")), "{left:?}");
        return;
    }
    let work = |thread: usize| {
        let cached = compiler().with_cache(Cache::new(&shared).limit(10_000));
        let (mut hits, mut odd) = (0, Vec::new());
        for i in 0..60 {
            let text = format!("{:0500}", (i * 7 + thread) % 20);
            let code = compile(&cached, &text);
            assert_eq!(code.ptx(), Some(text.as_str()));
            match code.cache_use() {
                CacheUse::Hit => hits += 1,
                CacheUse::Stored => {}
                other => odd.push(other.clone()),
            }
        }
        assert_eq!(odd, []);
        hits
    };
    let hits: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16).map(|thread| scope.spawn(move || work(thread))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert!(hits > 0);
}

/// The fake compiler's machine code is not whole, so the driver never sees such an entry, no matter
/// who wrote it.
#[test]
fn machine_code_that_is_not_whole_is_compiled_anew_and_not_loaded() {
    let folder = folder("damaged");
    let options = Options::new().architecture(Architecture::new(8, 0)).output(Output::Cubin);
    let source = Source::new("text");
    for _ in 0..2 {
        let code = cached(&folder).compile(&source, &options).unwrap();
        assert_eq!(code.cache_use(), &CacheUse::Stored);
        crate::common::in_context(|cx| assert!(matches!(code.load(cx), Err(CompileError::Damaged))));
    }
    assert_eq!(compilations(), 2);
}
