//! Loads, stores and atomics: translates addresses to bytes, and checks every access.

mod atomic;
mod place;
mod raw;
mod request;
mod text;
mod transfer;
pub(in crate::exec) mod watch;

pub(in crate::exec) use atomic::{Writers, apply, atomic, change};
pub(in crate::exec) use place::{find_region, find_window, place, place_near};
pub(in crate::exec) use raw::{read, update, write};
pub(in crate::exec) use request::{Place, Request};
pub(in crate::exec) use text::{bytes_at, text_at};
pub(in crate::exec) use transfer::{lane_address, load, store};
