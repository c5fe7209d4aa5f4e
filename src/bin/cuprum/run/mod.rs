//! `cuprum run`: a program on the software device, with checks.

use std::process::ExitCode;

use crate::arguments::{Arguments, Usage};

pub(crate) fn main(mut arguments: Arguments) -> Result<ExitCode, Usage> {
    let _program = arguments.program();
    arguments.rest()?;
    Err(Usage::new("`run` is being built"))
}
