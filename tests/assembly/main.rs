//! Zero cost, read from the code that the compiler makes of a few hot wrappers (`wrappers/lib.rs`).
//!
//! The test checks the driver calls on the paths of each wrapper, and that nothing else is called:
//! no allocator, no panic, no lock, no loop. Error paths are recognized by their cold code.
//!
//! A program of its own: it runs the compiler and nothing of the crate.
//!
//! `wrappers.s` stores the instructions on the paths, for readers, with symbols and slots by name.
//! The test compares it if the compiler is the one that made it. `CUPRUM_ASSEMBLY=overwrite cargo
//! test --test assembly -- --ignored` stores it anew; read the difference before you commit it.

#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

mod listing;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use cuprum::sys::FnId;
use listing::{Listing, Slot};

/// Each wrapper, and the calls of the driver on its paths. A path without any is an early return:
/// an argument that was refused, or nothing to do.
const EXPECTED: &[(&str, &[&[FnId]])] = &[
    ("alloc", &[&[], &[FnId::cuMemAlloc_v2]]),
    // If the context is not current, it is made so for the call.
    (
        "free_buffer",
        &[
            &[],
            &[FnId::cuMemFree_v2],
            &[FnId::cuCtxPushCurrent_v2, FnId::cuMemFree_v2, FnId::cuCtxPopCurrent_v2],
        ],
    ),
    ("copy_from_host", &[&[], &[FnId::cuMemcpyHtoD_v2]]),
    ("copy_to_host", &[&[], &[FnId::cuMemcpyDtoH_v2]]),
    ("copy_within", &[&[], &[FnId::cuMemcpyDtoD_v2]]),
    ("fill", &[&[], &[FnId::cuMemsetD32_v2]]),
    ("launch", &[&[], &[FnId::cuLaunchKernel]]),
    ("push_and_pop", &[&[FnId::cuCtxPushCurrent_v2, FnId::cuCtxPopCurrent_v2]]),
    ("record", &[&[], &[FnId::cuEventRecord]]),
    ("synchronize", &[&[], &[FnId::cuStreamSynchronize]]),
];

const SLOT_BYTES: Slot = size_of::<usize>() as Slot;

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn output_of(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{errors}", output.status);
    String::from_utf8(output.stdout).expect("text")
}

/// Compiles the wrappers and their dependencies, and reads the assembly of the crates that they
/// call into.
fn compile() -> Listing {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let messages = output_of(
        Command::new(cargo)
            .args(["build", "--release", "--offline", "--quiet", "--package", "cuprum-assembly"])
            .args(["--target", "x86_64-unknown-linux-gnu", "--message-format", "json"])
            .current_dir(repository())
            .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("assembly"))
            // Static, as the linker would leave a program: calls are direct, a thread's variable is
            // one load away.
            .env("RUSTFLAGS", "--emit=asm -C relocation-model=static")
            .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1")
            .env("CARGO_PROFILE_RELEASE_DEBUG", "0")
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            // Incremental builds inline less.
            .env_remove("CARGO_INCREMENTAL"),
    );
    let mut listing = Listing::default();
    for name in ["cuprum_assembly", "cuprum", "cuprum_sys"] {
        let file = assembly_file(&messages, name).unwrap_or_else(|| panic!("cargo names no file of {name}"));
        listing.add(&fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display())));
    }
    listing
}

/// The assembly is next to each library in cargo's messages.
fn assembly_file(messages: &str, name: &str) -> Option<PathBuf> {
    messages.split('"').filter(|part| part.ends_with(".rmeta")).map(Path::new).find_map(|library| {
        let stem = library.file_stem()?.to_str()?.strip_prefix("lib")?;
        let (crate_name, _hash) = stem.rsplit_once('-')?;
        (crate_name == name).then(|| library.with_file_name(stem).with_extension("s"))
    })
}

#[test]
#[ignore = "builds the crate once more; CI runs it"]
fn a_wrapper_is_its_driver_calls_and_compares() {
    let listing = compile();
    let paths = |name| listing.paths(name).unwrap_or_else(|error| panic!("{name}: {error}"));

    // The table has a fixed place in the library's data: one wrapper shows the place, the others
    // must agree.
    let only = paths("synchronize").iter().find_map(|path| path.first().copied()).expect("a driver call");
    let table = only - FnId::cuStreamSynchronize as Slot * SLOT_BYTES;
    let end = table + FnId::ALL.len() as Slot * SLOT_BYTES;
    let function = |slot: Slot| {
        let index = usize::try_from((slot - table) / SLOT_BYTES).ok()?;
        FnId::ALL.get(index).copied().filter(|_| slot >= table)
    };
    for (name, expected) in EXPECTED {
        let found: BTreeSet<Vec<FnId>> = paths(name)
            .iter()
            .map(|path| path.iter().map(|&slot| function(slot).expect("a slot of the table")).collect())
            .collect();
        let expected: BTreeSet<Vec<FnId>> = expected.iter().map(|path| path.to_vec()).collect();
        assert_eq!(found, expected, "driver calls on the paths of {name}");
    }

    let name_place = |is_call, place| match function(place) {
        Some(function) if is_call => Some(function.to_string()),
        // Data after the table moves when a function is added.
        _ => (place >= end).then(|| format!("table_end+{}", place - end)),
    };
    let names: Vec<&str> = EXPECTED.iter().map(|&(name, _)| name).collect();
    compare(&listing.print(&names, name_place).expect("the same paths"));
}

fn compare(text: &str) {
    let rustc =
        output_of(Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())).arg("--version"));
    let text = format!("# {rustc}{text}");
    let file = repository().join("tests/assembly/wrappers.s");
    if env::var_os("CUPRUM_ASSEMBLY").is_some_and(|what| what == "overwrite") {
        fs::write(&file, text).expect("the file can be written");
        return;
    }
    let stored = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    if stored.lines().next() == text.lines().next() {
        let differs = stored.lines().zip(text.lines()).position(|(stored, now)| stored != now);
        assert!(
            stored == text,
            "the code is not what is stored, from line {} of {} on; now it is:\n{text}",
            differs.map_or(0, |line| line + 1),
            file.display()
        );
    }
}

/// Tests the listing itself: it finds an instruction that is not plain if it is on a path, and only
/// then.
#[test]
fn instructions_that_are_not_plain_are_seen() {
    let paths = |body: &str| {
        let mut listing = Listing::default();
        listing.add(&format!(
            "\t.section .text.f,\"ax\"\n\t.type f,@function\nf:\n{body}\n\t.size f, 1\n\
             \t.section .text.unlikely.cold,\"ax\"\n\t.type cold,@function\ncold:\n\tlock incl (%rax)\n\t.size cold, 1\n"
        ));
        listing.paths("f").map(|paths| (*paths).clone())
    };
    let found = |slots: &[&[Slot]]| Ok(slots.iter().map(|path| path.to_vec()).collect::<BTreeSet<_>>());
    assert_eq!(paths("ret"), found(&[&[]]));
    assert_eq!(paths("callq *8(%rax)\n callq *16(%rbx)\n retq"), found(&[&[8, 16]]));
    assert_eq!(paths("jne .L1\n callq *8(%rax)\n.L1:\n retq"), found(&[&[], &[8]]));
    assert_eq!(paths("jne .L1\n retq\n.L1:\n callq cold@PLT\n callq malloc\n retq"), found(&[&[]]));
    assert_eq!(paths("jne cold\n jmpq *8(%rax)"), found(&[&[8]]));
    for (body, complaint) in [
        ("callq malloc@PLT\n retq", "malloc"),
        ("jmp *_ZN4core9panicking5panic17h0123456789abcdefE@GOTPCREL(%rip)", "core::panicking::panic"),
        ("lock\n incl (%rax)\n retq", "lock"),
        ("xchgl %eax, (%rdi)\n retq", "exchange"),
        (".L1:\n decl %eax\n jne .L1\n retq", "loop"),
        ("callq *%rax\n retq", "*%rax"),
        ("ud2", "ud2"),
        ("nop", "end without return"),
    ] {
        let error = paths(body).expect_err(body);
        assert!(error.contains(complaint), "{body}: {error}");
    }
}
