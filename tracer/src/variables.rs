//! Environment variables that configure the library in a traced program.

/// The driver to forward to: the path of a file.
pub const DRIVER: &str = "CUPRUM_TRACE_DRIVER";
/// The folder for the files with the calls. Without it none are written.
pub const FOLDER: &str = "CUPRUM_TRACE_FOLDER";
/// The maximum number of bytes that a process writes there.
pub const MOST_BYTES: &str = "CUPRUM_TRACE_MOST_BYTES";
/// Set to any value: events measure the times of the device's work.
pub const DEVICE_TIMES: &str = "CUPRUM_TRACE_DEVICE_TIMES";
