//! What the driver's compiler and linker are told, and room for what they say.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;

use cuprum_sys::CUjit_option;

use super::LoadOptions;

/// Bytes for what the driver's compiler writes.
const LOG_BYTES: usize = 16 << 10;

/// Options as the driver reads them, with room for its logs, to which it may write until what they were given to is gone.
pub(super) struct Jit {
    names: Vec<CUjit_option>,
    values: Vec<*mut c_void>,
    error_log: Room,
    info_log: Room,
}

/// Memory that the driver writes to.
struct Room(Box<[Cell<u8>]>);

// SAFETY: the pointers are numbers and the addresses of the rooms, which are this value's own.
unsafe impl Send for Jit {}
// SAFETY: a shared reference gives nothing out: the rooms are read, and lent to the driver, by a mutable one.
unsafe impl Sync for Jit {}

impl Jit {
    pub(super) fn new(options: &LoadOptions) -> Self {
        let error_log = Room::new(LOG_BYTES);
        let info_log = Room::new(if options.wants_info_log() { LOG_BYTES } else { 0 });
        let error_names =
            (CUjit_option::CU_JIT_ERROR_LOG_BUFFER, CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
        let info_names =
            (CUjit_option::CU_JIT_INFO_LOG_BUFFER, CUjit_option::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
        let others = options.values().iter().map(|&(name, value)| (name, ptr::without_provenance_mut(value)));
        let (names, values) =
            error_log.options(error_names).chain(info_log.options(info_names)).chain(others).unzip();
        Self { names, values, error_log, info_log }
    }

    /// Number, names and values of the options. The driver may read and write all of them while this lives.
    pub(super) fn options(&mut self) -> (u32, *mut CUjit_option, *mut *mut c_void) {
        (self.names.len() as u32, self.names.as_mut_ptr(), self.values.as_mut_ptr())
    }

    /// What it said of code that it refused.
    pub(super) fn error_log(&mut self) -> String {
        self.error_log.text()
    }

    /// What it said of code that it took, or did not; empty unless that was asked for.
    pub(super) fn info_log(&mut self) -> String {
        self.info_log.text()
    }
}

impl Room {
    fn new(bytes: usize) -> Self {
        Self(vec![Cell::new(0); bytes].into_boxed_slice())
    }

    /// The options that lend it to the driver; none for no room.
    fn options(
        &self,
        (buffer, size): (CUjit_option, CUjit_option),
    ) -> impl Iterator<Item = (CUjit_option, *mut c_void)> + use<> {
        let bytes = self.0.len();
        let start = self.0.as_ptr().cast::<c_void>().cast_mut();
        let lent = [(buffer, start), (size, ptr::without_provenance_mut(bytes))];
        lent.into_iter().filter(move |_| bytes > 0)
    }

    /// What the driver wrote, up to the NUL.
    fn text(&mut self) -> String {
        let written: Vec<u8> = self.0.iter().map(Cell::get).take_while(|&byte| byte != 0).collect();
        String::from_utf8_lossy(&written).trim_end().to_owned()
    }
}
