//! Calls as JSON in the trace-event format.

use std::fmt::{self, Write};

use cuprum_sys::CUresult;

use super::entry::{Entries, Entry, micros};

/// Calls as a JSON text in the trace-event format, which Perfetto and the viewer of Chromium open: one bar per call on a
/// lane per thread, with its arguments and its answer; at that of a launch also the name of the kernel, where it is known.
///
/// It is made by [`Entries::timeline`] and written by [`Display`](fmt::Display).
///
/// Example: that of the [module](super), `timeline`.
#[derive(Clone, Copy, Debug)]
pub struct Timeline<'a>(&'a Entries);

impl<'a> Timeline<'a> {
    pub(super) const fn new(entries: &'a Entries) -> Self {
        Self(entries)
    }
}

impl fmt::Display for Timeline<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let process = std::process::id();
        f.write_str("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
        let mut separator = "\n";
        for (thread, name) in self.0.threads() {
            let name = if name.is_empty() { format!("thread {thread}") } else { name.to_owned() };
            write!(
                f,
                "{separator}{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{process},\"tid\":{thread}"
            )?;
            write!(f, ",\"args\":{{\"name\":{}}}}}", Text(&name))?;
            separator = ",\n";
        }
        for entry in self.0.iter() {
            write!(f, "{separator}{{\"ph\":\"X\",\"cat\":\"driver\",\"pid\":{process},{}}}", Bar(entry))?;
            separator = ",\n";
        }
        f.write_str("\n]}\n")
    }
}

/// The members of a call's object that are its own.
struct Bar<'a>(&'a Entry);

impl fmt::Display for Bar<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entry = self.0;
        write!(f, "\"tid\":{},\"name\":\"{}\"", entry.thread(), entry.function())?;
        write!(f, ",\"ts\":{:.3},\"dur\":{:.3}", micros(entry.start()), micros(entry.time()))?;
        f.write_str(",\"args\":{")?;
        for (name, value) in entry.arguments() {
            write!(f, "{}:{},", Text(name), Text(value))?;
        }
        if let Some(kernel) = entry.kernel() {
            write!(f, "\"kernel\":{},", Text(kernel))?;
        }
        if let Some(gave) = entry.gave() {
            write!(f, "\"gave\":{},", Text(gave))?;
        }
        let CUresult(code) = entry.result();
        write!(f, "\"result\":{}}}", Text(entry.result().name().unwrap_or(&code.to_string())))
    }
}

/// A string of JSON.
struct Text<'a>(&'a str);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for character in self.0.chars() {
            match character {
                '"' | '\\' => write!(f, "\\{character}")?,
                '\0'..='\x1f' => write!(f, "\\u{:04x}", u32::from(character))?,
                _ => f.write_char(character)?,
            }
        }
        f.write_char('"')
    }
}
