//! What debuggers and tools around a program do through the driver, for programs that do it themselves: dumps of a device's
//! state after a fault, checkpoints of whole processes, and notices.

mod checkpoint;
mod coredump;
mod notice;

pub use self::checkpoint::{CheckpointProcess, ProcessState};
pub use self::coredump::{Coredump, CoredumpCallback, CoredumpFlags, CoredumpSwitch};
pub use self::notice::BudgetNotice;
