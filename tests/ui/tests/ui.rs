//! What must not compile: every order that the types enforce, with what the compiler says about it.
//!
//! It runs the compiler and nothing of the crate. The messages are stored beside the programs, as the pinned toolchain
//! prints them.
//! `TRYBUILD=overwrite cargo test -p cuprum-ui` stores them anew; read the difference before you commit it.

#[test]
fn wrong_orders_do_not_compile() {
    trybuild::TestCases::new().compile_fail("*.rs");
}
