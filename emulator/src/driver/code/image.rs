//! Images that a client passes as a module: PTX text, a (wrapped) fat binary, or machine code.

use core::ffi::{CStr, c_void};
use std::slice;

use crate::driver::answer::{Answer, INVALID_VALUE};
use crate::driver::call::Param;

use super::device_runtime::defines_runtime;
use super::fatbin;
use super::joined::Joined;
use super::refused::Refused;

#[derive(Debug, Clone, Copy)]
pub(super) struct Image {
    start: *const c_void,
    /// Maximum size; `None` for a client's pointer, because the image itself states its length.
    most: Option<usize>,
}

impl Param for Image {
    type Raw = *const c_void;

    unsafe fn from_raw(raw: *const c_void) -> Self {
        Self { start: raw, most: None }
    }
}

const ELF_MAGIC: [u8; 4] = *b"\x7fELF";
const FATBIN_MAGIC: [u8; 4] = 0xba55_ed50_u32.to_le_bytes();
/// The structure that compilers put around a fat binary. Its second word is the binary's address.
const WRAPPER_MAGIC: [u8; 4] = 0x4662_43b1_u32.to_le_bytes();
const WRAPPER_VERSION: usize = 4;
const WRAPPER_POINTER: usize = 8;
/// In version 2, the address of a null-terminated list of fat binaries that still have to be
/// linked: the result of relocatable device code (`-rdc=true`). The other pointer then leads to the
/// code that the compiler linked for the architectures that it knew.
const WRAPPER_LIST: usize = 16;
const LINK_VERSION: u32 = 2;
/// Maximum number of fat binaries in such a list.
const MOST_LINKED: usize = 1 << 16;

impl Image {
    pub(super) fn in_buffer(bytes: &[u8]) -> Self {
        Self { start: bytes.as_ptr().cast(), most: Some(bytes.len()) }
    }

    /// Returns the PTX text that suits a device of this compute capability best.
    pub(super) fn ptx(self, capability: u32) -> Answer<Result<String, Refused>> {
        if self.start.is_null() {
            return Err(INVALID_VALUE);
        }
        Ok(if self.begins(ELF_MAGIC) {
            Err(Refused::machine_code("the image"))
        } else if self.begins(FATBIN_MAGIC) {
            self.contained(capability)
        } else if self.begins(WRAPPER_MAGIC) && self.most.is_some() {
            // An address in a file is not an address of this process.
            Err(Refused::garbage())
        } else if self.begins(WRAPPER_MAGIC) {
            return self.wrapped(capability);
        } else if !self.begins_as_text() {
            // Neither a container nor text, so its length is unknown.
            Err(Refused::garbage())
        } else {
            // SAFETY: an image that is not a container is NUL-terminated text, by the contract of
            // the call; the bytes passed to `in_buffer` end with a NUL.
            match unsafe { CStr::from_ptr(self.start.cast()) }.to_str() {
                Ok(text) if text.contains(".version") => Ok(text.to_owned()),
                _ => Err(Refused::garbage()),
            }
        })
    }

    /// True if the first four bytes, up to a NUL, are ASCII.
    fn begins_as_text(self) -> bool {
        for index in 0..4 {
            let at = self.start.cast::<u8>().wrapping_add(index);
            // SAFETY: no earlier byte was a NUL, so this one belongs to the header or to the text.
            match unsafe { at.read() } {
                0 => break,
                byte if !byte.is_ascii() => return false,
                _ => {}
            }
        }
        true
    }

    /// Returns the PTX in a wrapper of a fat binary, or of a list of them. They must not be
    /// wrappers themselves, because a wrapper could contain itself.
    fn wrapped(self, capability: u32) -> Answer<Result<String, Refused>> {
        let version = self.start.wrapping_byte_add(WRAPPER_VERSION).cast::<u32>();
        // SAFETY: the magic number shows that this is a wrapper. A version and two pointers follow,
        // and the client keeps all of them during the call.
        let is_list = unsafe { version.read_unaligned() } == LINK_VERSION;
        let field = if is_list { WRAPPER_LIST } else { WRAPPER_POINTER };
        let field = self.start.wrapping_byte_add(field).cast::<*const c_void>();
        // SAFETY: one of the two pointers after the version of a wrapper.
        let start = unsafe { field.read_unaligned() };
        if start.is_null() {
            return Err(INVALID_VALUE);
        }
        if !is_list {
            return Ok(Self { start, most: None }.contained(capability));
        }
        let mut joined = Joined::default();
        for index in 0..MOST_LINKED {
            let place = start.cast::<*const c_void>().wrapping_add(index);
            // SAFETY: the list ends with null, and no earlier pointer was null.
            let start = unsafe { place.read_unaligned() };
            if start.is_null() {
                joined.add_device_runtime();
                return Ok(Ok(joined.text()));
            }
            let part = Self { start, most: None }.contained(capability);
            if let Err(refused) = part.and_then(|ptx| joined.add(&index.to_string(), &ptx)) {
                return Ok(Err(refused));
            }
        }
        Ok(Err(Refused::garbage()))
    }

    /// Returns the PTX of a fat binary.
    fn contained(self, capability: u32) -> Result<String, Refused> {
        if !self.begins(FATBIN_MAGIC) {
            return Err(Refused::garbage());
        }
        fatbin::ptx(self.fatbin()?, capability)
    }

    /// True if it is a fat binary with the device runtime library.
    pub(super) fn is_device_runtime(self) -> bool {
        self.begins(FATBIN_MAGIC)
            && self.fatbin().is_ok_and(|bytes| fatbin::every_ptx(bytes).any(|text| defines_runtime(&text)))
    }

    /// True if the image starts with these bytes, none of which is zero.
    fn begins(self, magic: [u8; 4]) -> bool {
        magic.into_iter().enumerate().all(|(index, byte)| {
            let at = self.start.cast::<u8>().wrapping_add(index);
            // SAFETY: an image has a whole header or is text up to its first NUL.
            unsafe { at.read() == byte }
        })
    }

    /// Returns the bytes of a fat binary. Its header states the length.
    fn fatbin(&self) -> Result<&[u8], Refused> {
        if self.most.is_some_and(|most| most < fatbin::HEADER) {
            return Err(Refused::garbage());
        }
        // SAFETY: the magic number shows that this is a fat binary, which starts with a header of
        // this size. A buffer was checked to be that long.
        let header = unsafe { slice::from_raw_parts(self.start.cast::<u8>(), fatbin::HEADER) };
        let len = fatbin::total_len(header).filter(|len| self.most.is_none_or(|most| *len <= most));
        let len = len.filter(|len| isize::try_from(*len).is_ok()).ok_or_else(Refused::garbage)?;
        // SAFETY: the header states this length, and a buffer was checked to be that long. The
        // bytes are used only during the call, while the client keeps them.
        Ok(unsafe { slice::from_raw_parts(self.start.cast::<u8>(), len) })
    }
}
