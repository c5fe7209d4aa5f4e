//! Joins the PTX of several inputs.
//!
//! Keeps only the first header, so that declarations and definitions are in one module.

use cuprum_sys::CUresult;

use super::device_runtime;
use super::fatbin::MOST_TEXT;
use super::refused::Refused;

#[derive(Debug, Default)]
pub(super) struct Joined {
    text: String,
    inputs: Vec<Input>,
    has_device_runtime: bool,
}

#[derive(Debug)]
struct Input {
    name: String,
    /// Number of lines before it.
    before: usize,
    /// Number of dropped header lines.
    dropped: usize,
}

impl Joined {
    /// Adds a module under the client's name for it.
    pub(super) fn add(&mut self, name: &str, ptx: &str) -> Result<(), Refused> {
        let part = if self.text.is_empty() { ptx } else { without_header(ptx) };
        let bytes = self.text.len() as u64 + part.len() as u64;
        if bytes > MOST_TEXT {
            let log =
                format!("the inputs are {bytes} bytes of PTX; the software device links up to {MOST_TEXT}");
            return Err(Refused::new(CUresult::CUDA_ERROR_OUT_OF_MEMORY, log));
        }
        let (before, dropped) = (lines(&self.text), lines(&ptx[..ptx.len() - part.len()]));
        self.inputs.push(Input { name: name.to_owned(), before, dropped });
        self.text += part;
        self.text.push('\n');
        Ok(())
    }

    /// Returns the input and its line, counted from 1, for a line of the text.
    pub(super) fn origin(&self, line: u32) -> Option<(&str, u32)> {
        let line = line as usize;
        let input = self.inputs.iter().rev().find(|input| input.before < line)?;
        let line = u32::try_from(line - input.before + input.dropped).ok()?;
        Some((&input.name, line))
    }

    /// Adds the supported definitions of the device runtime library, once.
    pub(super) fn add_device_runtime(&mut self) {
        self.has_device_runtime = true;
    }

    pub(super) fn text(&self) -> String {
        // Without inputs, hardware creates an empty module.
        if self.text.is_empty() {
            return ".version 7.0\n.target sm_52\n.address_size 64\n".to_owned();
        }
        let runtime = if self.has_device_runtime { device_runtime::PTX } else { "" };
        format!("{}{runtime}", self.text)
    }
}

fn lines(text: &str) -> usize {
    text.bytes().filter(|&byte| byte == b'\n').count()
}

/// Returns the PTX after its last header directive.
fn without_header(ptx: &str) -> &str {
    let headers = [".version", ".target", ".address_size"];
    let ends = headers.iter().filter_map(|header| {
        let start = ptx.find(header)?;
        let line = ptx[start..].find('\n')?;
        Some(start + line)
    });
    ptx.get(ends.max().unwrap_or(0)..).unwrap_or("")
}
