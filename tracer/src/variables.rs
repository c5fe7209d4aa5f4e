//! Environment variables by which a program that is to be traced tells its library what to do.

/// The driver to forward to: the path of a file.
pub const DRIVER: &str = "CUPRUM_TRACE_DRIVER";
/// The folder for the files with the calls. Without it none are written.
pub const FOLDER: &str = "CUPRUM_TRACE_FOLDER";
/// The most bytes that a process writes there.
pub const MOST_BYTES: &str = "CUPRUM_TRACE_MOST_BYTES";
/// Set to anything: when the device works is measured with events.
pub const DEVICE_TIMES: &str = "CUPRUM_TRACE_DEVICE_TIMES";
