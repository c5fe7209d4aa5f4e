//! The programs that work, in one binary, so that only one is built: `cargo run -p cuprum-troubles
//! at_exit`.

mod at_exit {
    pub(crate) mod works;
}
mod device_memory {
    pub(crate) mod works;
}
mod innocent_call {
    pub(crate) mod works;
}
mod not_checked {
    pub(crate) mod works;
}
mod not_waited {
    pub(crate) mod works;
}
mod out_of_bounds {
    pub(crate) mod works;
}
mod race {
    pub(crate) mod works;
}
mod uninitialized {
    pub(crate) mod works;
}

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("at_exit") => at_exit::works::main(),
        Some("out_of_bounds") => out_of_bounds::works::main(),
        Some("race") => race::works::main(),
        Some("uninitialized") => uninitialized::works::main(),
        Some("not_waited") => not_waited::works::main(),
        Some("not_checked") => not_checked::works::main(),
        Some("device_memory") => device_memory::works::main(),
        Some("innocent_call") => innocent_call::works::main(),
        _ => Err("usage: troubles NAME, where NAME is a folder in examples/troubles, such as `race`".into()),
    }
}
