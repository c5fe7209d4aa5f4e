//! The error log: details beyond result codes, for clients that use the driver's own log functions.
//!
//! It contains the messages of the message hook, and each error that a call returns. As in NVIDIA's
//! driver, too many messages push out the oldest.

use core::ffi::{c_char, c_void};
use std::collections::VecDeque;
use std::ffi::CString;
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cuprum_sys::*;

use crate::message::{self, Message};

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};
use crate::driver::call::{Kind, Out, Table, Text, calls, in_callback, tell_refusals};
use crate::driver::handle::Handle;

/// Maximum number of messages kept.
const MOST: usize = 100;

static CALLBACKS: Table<Callback> = Table::new(Kind::LogCallback);

/// A function of the client that receives each message.
#[derive(Debug)]
struct Callback {
    function: CUlogsCallback,
    data: *mut c_void,
}

// SAFETY: the pointer is only passed to the client's function, which the driver may call on any
// thread by the contract of `cuLogsRegisterCallback`.
unsafe impl Send for Callback {}
// SAFETY: as above.
unsafe impl Sync for Callback {}

/// The messages kept, and the number of messages dropped before them.
#[derive(Debug)]
struct Log {
    messages: VecDeque<String>,
    gone: u32,
}

static LOG: Mutex<Log> = Mutex::new(Log { messages: VecDeque::new(), gone: 0 });

fn log() -> MutexGuard<'static, Log> {
    LOG.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Log {
    fn end(&self) -> CUlogIterator {
        self.gone.wrapping_add(self.messages.len() as u32)
    }

    /// Returns the messages from a position, one per line, after a line that counts dropped ones.
    fn lines_from(&self, place: CUlogIterator) -> Vec<String> {
        let skipped = place.saturating_sub(self.gone) as usize;
        let lost = self.gone.saturating_sub(place);
        let note = (lost > 0).then(|| format!("{lost} older messages are gone\n"));
        let messages = self.messages.iter().skip(skipped).map(|message| format!("{message}\n"));
        note.into_iter().chain(messages).collect()
    }
}

/// Starts keeping messages. Called by `cuInit`.
pub(crate) fn begin() {
    message::keep(keep);
    tell_refusals(|function, code| {
        let name = code.name().unwrap_or("an unknown error");
        let text = format!("Returning {} ({name}) from {function}", code.0);
        write(CUlogLevel::CU_LOG_LEVEL_ERROR, text);
    });
}

fn keep(message: &Message<'_>) {
    let text = message.to_string();
    let level = match message {
        Message::Leaks(_) | Message::Held(_) | Message::Unoptimized => CUlogLevel::CU_LOG_LEVEL_WARNING,
        _ => CUlogLevel::CU_LOG_LEVEL_ERROR,
    };
    write(level, text);
}

fn write(level: CUlogLevel, text: String) {
    {
        let mut log = log();
        log.messages.push_back(text.clone());
        if log.messages.len() > MOST {
            log.messages.pop_front();
            log.gone = log.gone.wrapping_add(1);
        }
    }
    let mut callbacks = Vec::new();
    CALLBACKS.for_each(|_, _, callback| callbacks.push((callback.function, callback.data)));
    let Ok(message) = CString::new(text) else { return };
    for (function, data) in callbacks {
        if let Some(function) = function {
            let length = message.as_bytes().len();
            // SAFETY: the client's function with the pointer registered for it, and a text of that
            // length which lives during the call.
            in_callback(|| unsafe { function(data, level, message.as_ptr().cast_mut(), length) });
        }
    }
}

/// Returns the lines after a client's position, or all, and moves the position to the end.
fn unseen(iterator: Out<CUlogIterator>, flags: u32) -> Answer<Vec<String>> {
    ensure(flags == 0, INVALID_VALUE)?;
    let log = log();
    let place = if iterator.is_null() { log.gone } else { iterator.get()? };
    iterator.set_if_wanted(log.end());
    Ok(log.lines_from(place))
}

fn last_that_fit(lines: &[String], room: usize) -> String {
    let mut left = room;
    let fits = |line: &&String| {
        let rest = left.checked_sub(line.len());
        left = rest.unwrap_or(0);
        rest.is_some()
    };
    let count = lines.iter().rev().take_while(fits).count();
    lines.iter().skip(lines.len() - count).map(String::as_str).collect()
}

calls! {
    fn cuLogsRegisterCallback(
        _call,
        callbackFunc: CUlogsCallback,
        userData: *mut c_void,
        callback_out: Out<CUlogsCallbackHandle>,
    ) {
        ensure(callbackFunc.is_some(), INVALID_VALUE)?;
        let callback = Callback { function: callbackFunc, data: userData };
        let handle = CALLBACKS.insert(callback);
        callback_out.set_if_wanted(CUlogsCallbackHandle::from_addr(handle));
        Ok(())
    }

    fn cuLogsUnregisterCallback(_call, callback: CUlogsCallbackHandle) {
        CALLBACKS.remove(callback.addr()).map(drop).ok_or(INVALID_VALUE)
    }

    /// Flags are ignored, as in an H100's driver.
    fn cuLogsCurrent(_call, iterator_out: Out<CUlogIterator>, _flags: u32) {
        iterator_out.set(log().end())
    }

    fn cuLogsDumpToFile(_call, iterator: Out<CUlogIterator>, pathToFile: Text, flags: u32) {
        let path = pathToFile.get()?;
        let text: String = unseen(iterator, flags)?.concat();
        let file = OpenOptions::new().append(true).create(true).open(path);
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|_| CUresult::CUDA_ERROR_OPERATING_SYSTEM)
    }

    /// The size is input and output: the room, and the number of bytes written, followed by a NUL.
    fn cuLogsDumpToMemory(
        _call,
        iterator: Out<CUlogIterator>,
        buffer: Out<c_char>,
        size: Out<usize>,
        flags: u32,
    ) {
        buffer.check()?;
        let room = size.get()?;
        let lines = unseen(iterator, flags)?;
        let text = last_that_fit(&lines, room.saturating_sub(1));
        buffer.set_text(&text, room)?;
        size.set(text.len())
    }
}
