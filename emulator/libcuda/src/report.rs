//! Messages as lines of a file, which all processes of a run append to.
//!
//! ```text
//! {"kind":"fault","pid":4711,"text":"out-of-bounds access in kernel `off_by_one`\n  block (3,0,0), ..."}
//! ```
//!
//! Kinds are `fault`, `refused`, `not supported`, `leak` and `settings`; more may come.

use core::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;

use cuprum_emulator::Message;

/// Names the file.
const VARIABLE: &str = "CUPRUM_EMULATOR_REPORT_FILE";

/// Appends a message, if there is a file. What cannot be written was printed all the same.
pub(crate) fn append(message: &Message<'_>) {
    let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) else { return };
    if let Ok(mut file) = File::options().append(true).create(true).open(path) {
        // One write, so that lines of several processes do not mix.
        let _ = file.write_all(line(message).as_bytes());
    }
}

fn line(message: &Message<'_>) -> String {
    let kind = match message {
        Message::Fault(_) => "fault",
        Message::ModuleRefused { .. } | Message::InputRefused { .. } => "refused",
        Message::NotSupported { .. } => "not supported",
        Message::Leaks(_) => "leak",
        Message::Settings(_) => "settings",
        _ => "other",
    };
    let mut line = format!("{{\"kind\":\"{kind}\",\"pid\":{},\"text\":\"", std::process::id());
    for character in message.to_string().chars() {
        match character {
            '"' | '\\' => line.extend(['\\', character]),
            '\n' => line.push_str("\\n"),
            // A string has no limit that a write could meet.
            ..' ' => _ = write!(line, "\\u{:04x}", u32::from(character)),
            _ => line.push(character),
        }
    }
    line.push_str("\"}\n");
    line
}
