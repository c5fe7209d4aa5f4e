//! Tests of the rooms on the software device in this process, and of names and layouts.

mod device;
mod execution;
mod exports;
mod external;
mod headers;
mod launches;
mod program;
mod resets;
mod threads;

use self::device::{call, device};
