//! `cuprum trace`: records every driver call of a program.

mod command;
mod driver;
mod mirror;
mod watch;

pub(crate) use self::command::main;
