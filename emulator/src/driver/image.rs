//! What a client hands over as a module: PTX text, a fat binary around it, or machine code.

use core::ffi::{CStr, c_void};
use std::slice;

use cuprum_sys::CUresult;

use super::call::{Answer, INVALID_VALUE, Param};
use super::fatbin;

/// A module's image: a pointer whose length the image itself tells.
#[derive(Debug, Clone, Copy)]
pub(super) struct Image(*const c_void);

impl Param for Image {
    type Raw = *const c_void;

    unsafe fn from_raw(raw: *const c_void) -> Self {
        Self(raw)
    }
}

/// Why an image cannot be loaded: the code, and what the log says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) code: CUresult,
    pub(super) log: String,
}

impl Refused {
    pub(super) fn new(code: CUresult, log: impl Into<String>) -> Self {
        Self { code, log: log.into() }
    }

    /// Neither PTX nor a container.
    fn garbage() -> Self {
        Self::new(CUresult::CUDA_ERROR_INVALID_IMAGE, "the image is neither PTX text nor a fat binary")
    }

    /// Only machine code.
    pub(super) fn machine_code(what: &str) -> Self {
        Self::new(
            CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU,
            format!(
                "{what} holds machine code for NVIDIA hardware only, which the software device \
                 cannot run; keep the PTX: compile for a virtual architecture (NVRTC: \
                 --gpu-architecture=compute_XX, nvcc: -gencode arch=compute_XX,code=compute_XX, \
                 or --ptx)"
            ),
        )
    }
}

const ELF_MAGIC: [u8; 4] = *b"\x7fELF";
const FATBIN_MAGIC: [u8; 4] = 0xba55_ed50_u32.to_le_bytes();
/// The structure that compilers put around a fat binary; the address of that is its second word.
const WRAPPER_MAGIC: [u8; 4] = 0x4662_43b1_u32.to_le_bytes();
const WRAPPER_POINTER: usize = 8;

impl Image {
    /// An image in a buffer that ends with a NUL.
    pub(super) fn in_buffer(bytes: &[u8]) -> Self {
        Self(bytes.as_ptr().cast())
    }

    /// The PTX text of the image that suits a device of this compute capability best.
    pub(super) fn ptx(self, capability: u32) -> Answer<Result<String, Refused>> {
        if self.0.is_null() {
            return Err(INVALID_VALUE);
        }
        let start = self.start();
        let begins = |magic: [u8; 4]| start == magic;
        Ok(if begins(ELF_MAGIC) {
            Err(Refused::machine_code("the image"))
        } else if begins(FATBIN_MAGIC) {
            self.fatbin().and_then(|bytes| fatbin::ptx(bytes, capability))
        } else if begins(WRAPPER_MAGIC) {
            let field = self.0.wrapping_byte_add(WRAPPER_POINTER);
            // SAFETY: the wrapper is a magic number, a version and this pointer.
            let inner = unsafe { field.cast::<*const c_void>().read_unaligned() };
            return Self(inner).ptx(capability);
        } else if !start.is_ascii() {
            // Neither an image nor a text: nothing says where it ends.
            Err(Refused::garbage())
        } else {
            // SAFETY: what begins like a text ends with a NUL, by the contract of the call.
            match unsafe { CStr::from_ptr(self.0.cast()) }.to_str() {
                Ok(text) if text.contains(".version") => Ok(text.to_owned()),
                _ => Err(Refused::garbage()),
            }
        })
    }

    /// The first four bytes, or fewer of a text that ends before.
    fn start(self) -> Vec<u8> {
        let mut start = Vec::with_capacity(4);
        while start.len() < 4 {
            let at = self.0.cast::<u8>().wrapping_add(start.len());
            // SAFETY: no byte before was a NUL, so this one belongs to the header or to the text.
            match unsafe { at.read() } {
                0 => break,
                byte => start.push(byte),
            }
        }
        start
    }

    /// The bytes of a fat binary, whose header has the length.
    fn fatbin(self) -> Result<&'static [u8], Refused> {
        // SAFETY: a fat binary starts with a header of this size, by its magic number.
        let header = unsafe { slice::from_raw_parts(self.0.cast::<u8>(), fatbin::HEADER) };
        let len = fatbin::total_len(header).ok_or_else(Refused::garbage)?;
        // SAFETY: the header says that the container is this long. The bytes are used during the
        // call only, in which the client keeps them.
        Ok(unsafe { slice::from_raw_parts(self.0.cast::<u8>(), len) })
    }
}
