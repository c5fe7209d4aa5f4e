//! `cuprum trace`: every driver call of a program, written down.

use std::process::ExitCode;

use crate::arguments::{Arguments, Usage};

pub(crate) fn main(mut arguments: Arguments) -> Result<ExitCode, Usage> {
    let _program = arguments.program();
    arguments.rest()?;
    Err(Usage::new("`trace` is being built"))
}
