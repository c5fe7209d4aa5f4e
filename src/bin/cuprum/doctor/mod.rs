//! `cuprum doctor`: what driver and devices this machine has, what they lack, and whether they work.

use std::process::ExitCode;

use crate::arguments::{Arguments, Usage};

pub(crate) fn main(arguments: Arguments) -> Result<ExitCode, Usage> {
    let _files = arguments.rest()?;
    Err(Usage::new("`doctor` is being built"))
}
