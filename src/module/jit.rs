//! Options of the driver's compiler and linker, and buffers for their logs.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;

use cuprum_sys::CUjit_option;

use super::LoadOptions;

const LOG_BYTES: usize = 16 << 10;

/// Options in the driver's form, with log buffers. The driver may write these as long as the object
/// that got the options exists.
pub(super) struct Jit {
    names: Vec<CUjit_option>,
    values: Vec<*mut c_void>,
    error_log: Room,
    info_log: Room,
}

struct Room(Box<[Cell<u8>]>);

// SAFETY: the pointers are numbers and addresses of buffers that this value owns.
unsafe impl Send for Jit {}
// SAFETY: a shared reference gives no access: using the buffers needs a mutable one.
unsafe impl Sync for Jit {}

impl Jit {
    pub(super) fn new(options: &LoadOptions) -> Self {
        let error_log = Room::new(LOG_BYTES);
        let info_log = Room::new(if options.wants_info_log() { LOG_BYTES } else { 0 });
        let error_names =
            (CUjit_option::CU_JIT_ERROR_LOG_BUFFER, CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
        let info_names =
            (CUjit_option::CU_JIT_INFO_LOG_BUFFER, CUjit_option::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
        let others =
            options.values().into_iter().map(|(name, value)| (name, ptr::without_provenance_mut(value)));
        let (names, values) =
            error_log.options(error_names).chain(info_log.options(info_names)).chain(others).unzip();
        Self { names, values, error_log, info_log }
    }

    /// Number, names and values of the options, which the driver may access while this lives.
    pub(super) fn options(&mut self) -> (u32, *mut CUjit_option, *mut *mut c_void) {
        (self.names.len() as u32, self.names.as_mut_ptr(), self.values.as_mut_ptr())
    }

    /// The log about code that the driver refused.
    pub(super) fn error_log(&mut self) -> String {
        self.error_log.text()
    }

    /// The log about all code; empty unless requested.
    pub(super) fn info_log(&mut self) -> String {
        self.info_log.text()
    }
}

impl Room {
    fn new(bytes: usize) -> Self {
        Self(vec![Cell::new(0); bytes].into_boxed_slice())
    }

    /// The options that lend a buffer to the driver; none for an empty buffer.
    fn options(
        &self,
        (buffer, size): (CUjit_option, CUjit_option),
    ) -> impl Iterator<Item = (CUjit_option, *mut c_void)> + use<> {
        let bytes = self.0.len();
        let start = self.0.as_ptr().cast::<c_void>().cast_mut();
        let lent = [(buffer, start), (size, ptr::without_provenance_mut(bytes))];
        lent.into_iter().filter(move |_| bytes > 0)
    }

    fn text(&mut self) -> String {
        let written: Vec<u8> = self.0.iter().map(Cell::get).take_while(|&byte| byte != 0).collect();
        String::from_utf8_lossy(&written).trim_end().to_owned()
    }
}
