//! Results of NVRTC's functions.

cuprum_sys::c_enums! {
    /// Result of a function of NVRTC.
    pub described nvrtcResult: u32 {
        /// The call succeeded.
        NVRTC_SUCCESS = 0,
        /// There is no memory left.
        NVRTC_ERROR_OUT_OF_MEMORY = 1,
        /// The program could not be made.
        NVRTC_ERROR_PROGRAM_CREATION_FAILURE = 2,
        /// An argument is not valid.
        NVRTC_ERROR_INVALID_INPUT = 3,
        /// The handle is no program.
        NVRTC_ERROR_INVALID_PROGRAM = 4,
        /// An option is not known, or its value is not valid.
        NVRTC_ERROR_INVALID_OPTION = 5,
        /// The source does not compile; the log says why.
        NVRTC_ERROR_COMPILATION = 6,
        /// The second library, with the built-in code, was not found or failed.
        NVRTC_ERROR_BUILTIN_OPERATION_FAILURE = 7,
        /// Name expressions are added before compilation only.
        NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION = 8,
        /// Lowered names are there after compilation only.
        NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION = 9,
        /// The name expression was not added, or denotes nothing in the source.
        NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID = 10,
        /// NVRTC failed for reasons of its own.
        NVRTC_ERROR_INTERNAL_ERROR = 11,
        /// The file for times could not be written. CUDA 12.1+.
        NVRTC_ERROR_TIME_FILE_WRITE_FAILED = 12,
        /// No precompiled header was asked for. CUDA 12.8+.
        NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED = 13,
        /// The precompiled header needs more memory than was set aside. CUDA 12.8+.
        NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED = 14,
        /// The precompiled header could not be made. CUDA 12.8+.
        NVRTC_ERROR_PCH_CREATE = 15,
        /// The flow callback cancelled the compilation. CUDA 12.8+.
        NVRTC_ERROR_CANCELLED = 16,
        /// The trace of times could not be written. CUDA 13.0+.
        NVRTC_ERROR_TIME_TRACE_FILE_WRITE_FAILED = 17,
        /// Another process is installing the headers. CUDA 13.3+.
        NVRTC_ERROR_BUSY = 18,
        /// Ours, from no NVRTC: the library lacks this function, and nothing was called.
        UNRESOLVED = 0x7FFF_0001,
    }
}

#[cfg(test)]
mod tests {
    use super::nvrtcResult;

    #[test]
    fn every_known_code_is_described_in_one_clean_line() {
        for &(code, name) in nvrtcResult::NAMES {
            let text = nvrtcResult(code).description().unwrap_or_default();
            assert!(text.ends_with('.') && text.len() > 10, "{name}: {text:?}");
            assert!(
                !text.contains("CUDA") && !text.contains("  ") && !text.contains('\n'),
                "{name}: {text:?}"
            );
        }
        assert_eq!(nvrtcResult(123_456).description(), None);
        assert_eq!(nvrtcResult(123_456).name(), None);
    }
}
