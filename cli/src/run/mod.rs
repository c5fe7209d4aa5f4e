//! `cuprum run`: a program on the software device, with checks.

mod assembler;
mod check;
mod command;
mod processes;
mod reports;
mod sarif;
mod settings;

pub(crate) use self::command::main;
