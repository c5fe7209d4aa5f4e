//! What must not compile, with what the compiler says about it: every order that the types enforce, and structs that are no
//! plain data (`derive`).
//!
//! It runs the compiler and nothing of the crate. The messages are stored beside the programs, as the pinned toolchain
//! prints them.
//! `TRYBUILD=overwrite cargo test -p cuprum-ui` stores them anew; read the difference before you commit it.

/// One test, since each checks what the programs depend on before it begins.
#[test]
fn what_is_wrong_does_not_compile() {
    let programs = trybuild::TestCases::new();
    programs.compile_fail("*.rs");
    programs.compile_fail("derive/*.rs");
}
