//! Meaning of result codes, and advice on each.

use crate::enums::CUresult;
use crate::fork;

/// Advice for a call that the operating system refused. Drivers also return it in a forked child.
fn refused_by_the_system() -> &'static str {
    if fork::generation() > 0 {
        return "This process was forked after a driver was loaded: start workers with exec instead.";
    }
    "The system refused a file, process or library that the call needs (calls of OpenGL need libGL): check that it exists and \
     may be opened; the system log may say more."
}

impl CUresult {
    /// True if this code is one of this crate's own, which no driver returns: the call was not
    /// made.
    pub const fn is_own(self) -> bool {
        matches!(self, Self::UNRESOLVED | Self::FORKED)
    }

    /// Advice on this code, in a sentence, if it has a usual cause or remedy.
    pub fn advice(self) -> Option<&'static str> {
        Some(match self {
            Self::CUDA_ERROR_INVALID_VALUE => "Check sizes, ranges, pointers, launch shapes, graph cycles.",
            Self::CUDA_ERROR_OUT_OF_MEMORY => {
                "Free memory or allocate less; other processes on the device count as well."
            }
            Self::CUDA_ERROR_NOT_INITIALIZED => "Call cuInit first; every process does so for itself.",
            Self::CUDA_ERROR_STUB_LIBRARY => {
                "Install the NVIDIA driver, or take the toolkit's stubs folder out of the library path."
            }
            Self::CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER
            | Self::CUDA_ERROR_INSUFFICIENT_LOADER_VERSION
            | Self::UNRESOLVED => "Update the driver, or do without this function.",
            Self::CUDA_ERROR_UNSUPPORTED_PTX_VERSION => {
                "Update the driver, or compile the PTX with a toolkit no newer than the driver."
            }
            Self::CUDA_ERROR_DEVICE_UNAVAILABLE => {
                "End the process that holds the device, or set its compute mode back to default."
            }
            Self::CUDA_ERROR_NO_DEVICE => {
                "Check that nvidia-smi lists a device and that CUDA_VISIBLE_DEVICES does not hide it."
            }
            Self::CUDA_ERROR_INVALID_DEVICE => "Use an ordinal below the device count.",
            Self::CUDA_ERROR_INVALID_CONTEXT => {
                "Make a context current on this thread, one that is not destroyed; each thread has its own current context."
            }
            Self::CUDA_ERROR_NO_BINARY_FOR_GPU => {
                "Compile for this device's compute capability, or add PTX of it or of a lower one."
            }
            Self::CUDA_ERROR_INVALID_PTX => "Read the error log of the module load: it names the line.",
            Self::CUDA_ERROR_JIT_COMPILER_NOT_FOUND => {
                "Install the driver's PTX compiler library (libnvidia-ptxjitcompiler), or load machine code."
            }
            Self::CUDA_ERROR_OPERATING_SYSTEM => refused_by_the_system(),
            Self::FORKED => {
                "Start workers with exec, or initialize CUDA only after the fork, never before it."
            }
            Self::CUDA_ERROR_INVALID_HANDLE => {
                "Use objects only while they live, and only with the context they were made in; only recorded events have times."
            }
            Self::CUDA_ERROR_NOT_FOUND => {
                "Check the spelling; kernels of C++ have mangled names unless they are extern \"C\"."
            }
            Self::CUDA_ERROR_NOT_READY => "Wait, or ask again later.",
            Self::CUDA_ERROR_ILLEGAL_ADDRESS | Self::CUDA_ERROR_MISALIGNED_ADDRESS => {
                "Run under compute-sanitizer to find the access; the kernel may be one launched long before."
            }
            Self::CUDA_ERROR_LAUNCH_FAILED
            | Self::CUDA_ERROR_HARDWARE_STACK_ERROR
            | Self::CUDA_ERROR_ILLEGAL_INSTRUCTION
            | Self::CUDA_ERROR_INVALID_ADDRESS_SPACE
            | Self::CUDA_ERROR_INVALID_PC => {
                "Run under compute-sanitizer; the kernel may be one launched long before."
            }
            Self::CUDA_ERROR_ASSERT => "Read the assertion that the device printed to standard error.",
            Self::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES => {
                "Launch smaller blocks, or compile the kernel for fewer registers."
            }
            Self::CUDA_ERROR_LAUNCH_TIMEOUT => {
                "Split the work into shorter kernels, or use a device without a display."
            }
            Self::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE => {
                "Launch no more blocks than occupancy times multiprocessors."
            }
            Self::CUDA_ERROR_NOT_SUPPORTED => "Ask the device attribute for this feature before using it.",
            Self::CUDA_ERROR_SYSTEM_NOT_READY => "Start the fabric manager, or wait for it.",
            Self::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH => {
                "Reboot, or reload the kernel module, after a driver update."
            }
            Self::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE => "Instantiate the new graph instead.",
            Self::CUDA_ERROR_FABRIC_NOT_READY => "Try again later.",
            _ => return self.advice_on_captures().or_else(|| self.advice_on_states()),
        })
    }

    fn advice_on_captures(self) -> Option<&'static str> {
        Some(match self {
            Self::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED | Self::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT => {
                "Keep calls that wait or allocate, and the default stream, out of captures; allocate before them."
            }
            Self::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED => "End the capture and begin again.",
            Self::CUDA_ERROR_STREAM_CAPTURE_UNJOINED => {
                "Before the capture ends, let its first stream wait for an event of each stream forked from it."
            }
            Self::CUDA_ERROR_STREAM_CAPTURE_UNMATCHED => "End the capture with the stream that began it.",
            Self::CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD => {
                "End the capture on the thread that began it, or begin it in relaxed mode."
            }
            Self::CUDA_ERROR_STREAM_CAPTURE_MERGE => {
                "Let streams wait only for events of their own capture; two captures cannot become one."
            }
            Self::CUDA_ERROR_STREAM_CAPTURE_ISOLATION => {
                "Captured work cannot wait for work before the capture: wait for that before the capture begins."
            }
            Self::CUDA_ERROR_CAPTURED_EVENT => {
                "The event was last recorded in a capture: wait for it only there, or record it anew outside."
            }
            _ => return None,
        })
    }

    /// Advice on calls that do or undo something twice, or too late.
    fn advice_on_states(self) -> Option<&'static str> {
        Some(match self {
            Self::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED => {
                "Enable access once for each direction: it lasts until it is disabled or the context ends."
            }
            Self::CUDA_ERROR_PEER_ACCESS_NOT_ENABLED => {
                "Enable access in this direction first; each direction has its own."
            }
            Self::CUDA_ERROR_PEER_ACCESS_UNSUPPORTED => {
                "Ask for peer access before enabling it; copies between the devices work without it."
            }
            Self::CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE => {
                "Set the flags of the primary context before anything retains it."
            }
            Self::CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED => {
                "Register a range once; a part of a registered range counts as registered."
            }
            Self::CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED => {
                "Unregister only ranges that were registered, by their first address."
            }
            _ => return None,
        })
    }
}

impl CUresult {
    /// Advice on this code from a driver [in software](crate::Library::is_software_device), which
    /// knows more about a fault than hardware does, and has no kernel module; else the text of
    /// [`advice`](Self::advice).
    pub fn advice_in_software(self) -> Option<&'static str> {
        Some(match self {
            Self::CUDA_ERROR_ILLEGAL_ADDRESS
            | Self::CUDA_ERROR_MISALIGNED_ADDRESS
            | Self::CUDA_ERROR_LAUNCH_FAILED
            | Self::CUDA_ERROR_ASSERT
            | Self::CUDA_ERROR_HARDWARE_STACK_ERROR
            | Self::CUDA_ERROR_ILLEGAL_INSTRUCTION
            | Self::CUDA_ERROR_INVALID_ADDRESS_SPACE
            | Self::CUDA_ERROR_INVALID_PC => {
                "The software device knows more: cuprum_emulator::last_fault(), or its report on standard error, names \
                 the kernel, the thread, the line and the allocation."
            }
            Self::CUDA_ERROR_LAUNCH_TIMEOUT => {
                "It reached CUPRUM_EMULATOR_BUDGET or CUPRUM_EMULATOR_TIME_LIMIT. A report on standard error describes the \
                 loop, and so does cuprum_emulator::last_fault() if it is in a kernel."
            }
            Self::CUDA_ERROR_NO_DEVICE => {
                "CUDA_VISIBLE_DEVICES hides all devices of the software driver: take it out of the environment."
            }
            Self::CUDA_ERROR_UNSUPPORTED_PTX_VERSION => {
                "Compile the PTX for an older version, or set CUPRUM_EMULATOR_DRIVER_VERSION to a newer one."
            }
            Self::CUDA_ERROR_NO_BINARY_FOR_GPU => {
                "The software device runs PTX and no machine code: compile to PTX, or keep PTX in the image."
            }
            _ => return self.advice(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_the_documented_sentence_without_its_version() {
        assert_eq!(CUresult::CUDA_ERROR_TIMEOUT.description(), Some("The wait ended before the work did."));
        assert_eq!(
            CUresult::CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER.description(),
            Some("The installed driver is too old for this call.")
        );
        assert_eq!(CUresult(123_456).description(), None);
    }

    #[test]
    fn every_known_code_is_described_in_one_clean_line() {
        for &(code, name) in CUresult::NAMES {
            let text = CUresult(code).description().unwrap_or_default();
            assert!(text.ends_with('.') && text.len() > 10, "{name}: {text:?}");
            assert!(
                !text.contains("CUDA 1") && !text.contains("  ") && !text.contains('\n'),
                "{name}: {text:?}"
            );
        }
    }

    #[test]
    fn advice_is_for_known_failures_only() {
        assert_eq!(CUresult::CUDA_SUCCESS.advice(), None);
        assert_eq!(CUresult(123_456).advice(), None);
        let memory = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
        assert_eq!(memory.advice_in_software(), memory.advice());
        let fault = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
        assert!(fault.advice_in_software().is_some_and(|text| text.contains("last_fault()")));
        assert!(fault.advice().is_some_and(|text| !text.contains("last_fault()")));
        let timeout = CUresult::CUDA_ERROR_LAUNCH_TIMEOUT;
        assert!(timeout.advice_in_software().is_some_and(|text| text.contains("CUPRUM_EMULATOR_TIME_LIMIT")));
        let advised = CUresult::NAMES.iter().filter(|entry| CUresult(entry.0).advice().is_some()).count();
        assert!(advised >= 46, "only {advised} codes have advice");
    }
}
