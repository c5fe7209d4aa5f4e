//! The driver's log: messages that explain its errors.

use std::ffi::{CString, c_char, c_void};
use std::path::Path;
use std::ptr;

use cuprum_sys::{CUlogIterator, CUlogLevel, CUlogsCallbackHandle, CUresult, FnId};

use super::callback::{Callback, Registered};
use crate::driver::Driver;
use crate::error::Error;
use crate::raw::call::driver_call;
use crate::raw::listener;

/// A position in the driver's log: its end when the position was made.
///
/// ```
/// # cuprum::example!(driver);
/// let mut position = driver.log_position()?;
/// // The driver logs why it refused a call.
/// let text = driver.log_since(&mut position)?;
/// assert_eq!(text, "");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogPosition {
    raw: CUlogIterator,
    driver: Driver,
}

const MOST_BYTES: usize = 25_600;

type Listener = Box<dyn Fn(CUlogLevel, &str) + Send + Sync>;

impl Driver {
    /// Returns the current end of the log, from which [`log_since`](Driver::log_since) reads.
    ///
    /// Driver: `cuLogsCurrent`, CUDA 12.9+.
    #[doc(alias = "cuLogsCurrent")]
    #[inline]
    pub fn log_position(self) -> Result<LogPosition, Error> {
        let mut raw = 0;
        // SAFETY: `raw` outlives the call; flags must be 0.
        unsafe { driver_call!(self.library(), cuLogsCurrent(&raw mut raw, 0)) }?;
        Ok(LogPosition { raw, driver: self })
    }

    /// Returns the driver's log since `position`, and moves `position` to its end: one line per
    /// message, with time, thread and level. The driver keeps 100 messages and discards older ones.
    ///
    /// # Errors
    /// [Errors of any call](crate#errors); [`Error::WRONG_CONTEXT`] for a position in the log of
    /// another driver.
    ///
    /// Driver: `cuLogsDumpToMemory`, CUDA 12.9+.
    #[doc(alias = "cuLogsDumpToMemory")]
    #[inline]
    pub fn log_since(self, position: &mut LogPosition) -> Result<String, Error> {
        position.check(self, FnId::cuLogsDumpToMemory)?;
        let mut text = vec![0u8; MOST_BYTES];
        let mut bytes = text.len();
        let (to, size) = (text.as_mut_ptr().cast(), &raw mut bytes);
        // SAFETY: the text has this size, and all out-parameters outlive the call; flags must be 0.
        unsafe { driver_call!(self.library(), cuLogsDumpToMemory(&raw mut position.raw, to, size, 0)) }?;
        text.truncate(bytes);
        while text.last() == Some(&0) {
            text.pop();
        }
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Appends the driver's log, or the part since `position`, to a file.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for a path that cannot be opened, is not UTF-8, or contains a
    /// NUL; [`Error::WRONG_CONTEXT`] for a position in the log of another driver.
    ///
    /// Driver: `cuLogsDumpToFile`, CUDA 12.9+.
    #[doc(alias = "cuLogsDumpToFile")]
    #[inline]
    pub fn log_to_file(self, position: Option<&mut LogPosition>, path: &Path) -> Result<(), Error> {
        let call = FnId::cuLogsDumpToFile;
        if let Some(position) = &position {
            position.check(self, call)?;
        }
        let path = path.to_str().and_then(|path| CString::new(path).ok());
        let path = path.ok_or_else(|| Error::host(CUresult::CUDA_ERROR_INVALID_VALUE, call))?;
        let position = position.map_or(ptr::null_mut(), |position| &raw mut position.raw);
        // SAFETY: the path ends with a NUL and outlives the call, as the position does if there is
        // one.
        unsafe { driver_call!(self.library(), cuLogsDumpToFile(position, path.as_ptr(), 0)) }
    }

    /// Calls `listener` with each message from now on, on the thread where the error occurs.
    ///
    /// `listener` must not call the driver, and should be fast. A panic in it is caught. The
    /// closure is never freed, because the driver does not report when its last call on another
    /// thread has ended.
    ///
    /// Driver: `cuLogsRegisterCallback`, CUDA 12.9+; at its end `cuLogsUnregisterCallback`,
    /// CUDA 12.9+.
    #[doc(alias = "cuLogsRegisterCallback")]
    pub fn on_log(
        self,
        listener: impl Fn(CUlogLevel, &str) + Send + Sync + 'static,
    ) -> Result<Callback, Error> {
        let listener: Listener = Box::new(listener);
        let data = listener::leaked(listener);
        let mut raw = CUlogsCallbackHandle::null();
        // SAFETY: the data is of the callback's type and never freed; `raw` outlives the call.
        unsafe { driver_call!(self.library(), cuLogsRegisterCallback(Some(tell), data, &raw mut raw)) }?;
        Ok(Callback::new(Registered::Log(raw), self.library()))
    }
}

unsafe extern "C" fn tell(data: *mut c_void, level: CUlogLevel, message: *mut c_char, bytes: usize) {
    if message.is_null() {
        return;
    }
    // SAFETY: the data is the listener that was registered, which is never freed.
    let listener = unsafe { &*data.cast::<Listener>() };
    // SAFETY: the driver gives a message of `bytes` bytes, valid during this call.
    let text = unsafe { std::slice::from_raw_parts(message.cast::<u8>(), bytes) };
    let text = String::from_utf8_lossy(text);
    // If the listener calls the driver, it receives no messages about that call.
    listener::run(|| listener(level, text.trim_end_matches(['\0', '\n'])));
}

impl LogPosition {
    fn check(&self, driver: Driver, call: FnId) -> Result<(), Error> {
        if self.driver == driver { Ok(()) } else { Err(Error::wrong_context(call)) }
    }
}
