//! Programs that must not compile, with the compiler's messages: every order that the types
//! enforce, structs that are no plain data (`derive`), and collectives whose memory would be freed
//! or touched (`nccl`).
//!
//! It runs the compiler and nothing of the crate. The messages are stored next to the programs, as
//! the pinned toolchain prints them. `TRYBUILD=overwrite cargo test -p cuprum-ui` stores them anew;
//! read the difference before you commit it.

/// One test, because each test checks the dependencies of the programs before it begins.
#[test]
fn what_is_wrong_does_not_compile() {
    let programs = trybuild::TestCases::new();
    programs.compile_fail("*.rs");
    programs.compile_fail("derive/*.rs");
    programs.compile_fail("nccl/*.rs");
}

/// A closure without its result is refused for that alone, and hides the mistake that its program
/// is about.
#[test]
fn no_program_fails_because_a_closure_lacks_its_result() {
    let messages = std::fs::read_dir(env!("CARGO_MANIFEST_DIR")).expect("the programs");
    let messages = messages.map(|entry| entry.expect("a file").path());
    let mut seen = 0;
    for path in messages.filter(|path| path.extension().is_some_and(|extension| extension == "stderr")) {
        let message = std::fs::read_to_string(&path).expect("a message");
        assert!(!message.contains("AnyError>`, found `()`"), "{} lacks an `Ok(())`", path.display());
        seen += 1;
    }
    assert!(seen > 100, "{seen} messages");
}
