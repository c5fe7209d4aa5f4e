//! What must not compile: every order that the types enforce, with what the compiler says about it.
//!
//! A program of its own: it runs the compiler and nothing of the crate. The messages are stored beside the programs in `tests/ui/`, as the pinned toolchain prints them.
//! `TRYBUILD=overwrite cargo test --test ui` stores them anew; read the difference before you commit it.

#[test]
fn wrong_orders_do_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
