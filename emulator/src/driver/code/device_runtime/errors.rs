//! The errors that these functions return, in the numbers of the runtime API.

/// An error with its name and text on an H200.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Error {
    pub(super) code: u32,
    pub(super) name: &'static str,
    pub(super) text: &'static str,
}

pub(super) const SUCCESS: Error = Error { code: 0, name: "cudaSuccess", text: "no error" };
pub(super) const INVALID_VALUE: Error =
    Error { code: 1, name: "cudaErrorInvalidValue", text: "invalid argument" };
pub(super) const INVALID_CONFIGURATION: Error =
    Error { code: 9, name: "cudaErrorInvalidConfiguration", text: "invalid configuration argument" };
pub(super) const INVALID_PITCH: Error =
    Error { code: 12, name: "cudaErrorInvalidPitchValue", text: "invalid pitch argument" };
pub(super) const INVALID_DIRECTION: Error =
    Error { code: 21, name: "cudaErrorInvalidMemcpyDirection", text: "invalid copy direction for memcpy" };
pub(super) const TOO_MANY_LAUNCHES: Error = Error {
    code: 69,
    name: "cudaErrorLaunchPendingCountExceeded",
    text: "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount",
};
pub(super) const INVALID_DEVICE: Error =
    Error { code: 101, name: "cudaErrorInvalidDevice", text: "invalid device ordinal" };

/// Memory is exhausted: `cudaMalloc` returns it in PTX.
pub(super) const OUT_OF_MEMORY: Error =
    Error { code: 2, name: "cudaErrorMemoryAllocation", text: "out of memory" };

pub(super) const ALL: [Error; 8] = [
    SUCCESS,
    INVALID_VALUE,
    OUT_OF_MEMORY,
    INVALID_CONFIGURATION,
    INVALID_PITCH,
    INVALID_DIRECTION,
    TOO_MANY_LAUNCHES,
    INVALID_DEVICE,
];

/// The text for any other number.
pub(super) const UNKNOWN: &str = "unrecognized error code";
