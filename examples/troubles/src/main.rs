//! The programs that work, in one binary, so that only one is built: `cargo run -p cuprum-troubles at_exit`.

#[path = "../at_exit/works.rs"]
mod at_exit;
#[path = "../device_memory/works.rs"]
mod device_memory;
#[path = "../innocent_call/works.rs"]
mod innocent_call;
#[path = "../not_checked/works.rs"]
mod not_checked;
#[path = "../not_waited/works.rs"]
mod not_waited;
#[path = "../out_of_bounds/works.rs"]
mod out_of_bounds;
#[path = "../race/works.rs"]
mod race;
#[path = "../uninitialized/works.rs"]
mod uninitialized;

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("at_exit") => at_exit::main(),
        Some("out_of_bounds") => out_of_bounds::main(),
        Some("race") => race::main(),
        Some("uninitialized") => uninitialized::main(),
        Some("not_waited") => not_waited::main(),
        Some("not_checked") => not_checked::main(),
        Some("device_memory") => device_memory::main(),
        Some("innocent_call") => innocent_call::main(),
        _ => Err("usage: troubles NAME, where NAME is a folder in examples/troubles, such as `race`".into()),
    }
}
