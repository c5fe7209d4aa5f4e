//! Joins the PTX of several inputs to one text.
//!
//! Each input keeps its header and follows a line that no compiler writes, so that the text can be
//! loaded later as the separate modules that it consists of.

use cuprum_sys::CUresult;

use crate::program::{Exports, PtxErrorKind};

use super::device_runtime::ptx_for;
use super::fatbin::MOST_TEXT;
use super::refused::Refused;

/// The line before each input.
const BEGINNING: &str = "// input of a link\n";

#[derive(Debug, Default)]
pub(super) struct Joined {
    text: String,
    inputs: Vec<Input>,
    exports: Exports,
    has_device_runtime: bool,
}

#[derive(Debug)]
struct Input {
    name: String,
    /// Number of lines before it.
    before: usize,
}

impl Joined {
    /// Adds a module under the client's name for it. Refuses one that defines the names of earlier
    /// ones again, or that declares them in another form.
    pub(super) fn add(&mut self, name: &str, ptx: &str) -> Result<(), Refused> {
        let bytes = self.text.len() as u64 + ptx.len() as u64;
        if bytes > MOST_TEXT {
            let log =
                format!("the inputs are {bytes} bytes of PTX; the software device links up to {MOST_TEXT}");
            return Err(Refused::new(CUresult::CUDA_ERROR_OUT_OF_MEMORY, log));
        }
        self.exports.add(name, ptx).map_err(|error| match error.kind {
            PtxErrorKind::Conflict => {
                Refused { code: CUresult::CUDA_ERROR_INVALID_SOURCE, ..Refused::of(&error) }
            }
            _ => Refused::of(&error),
        })?;
        self.text += BEGINNING;
        self.inputs.push(Input { name: name.to_owned(), before: lines(&self.text) });
        self.text += ptx;
        self.text.push('\n');
        Ok(())
    }

    /// Returns the input and its line, counted from 1, for a line of the text.
    pub(super) fn origin(&self, line: u32) -> Option<(&str, u32)> {
        let line = line as usize;
        let input = self.inputs.iter().rev().find(|input| input.before < line)?;
        let line = u32::try_from(line - input.before).ok()?;
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
        if !self.has_device_runtime {
            return self.text.clone();
        }
        format!("{}{BEGINNING}{}", self.text, ptx_for(&self.text))
    }

    /// Returns the inputs in a text of this form. Each includes the line before it.
    pub(super) fn inputs_in(text: &str) -> Option<Vec<&str>> {
        if !text.starts_with(BEGINNING) {
            return None;
        }
        let mut starts: Vec<usize> = text.match_indices(BEGINNING).map(|(at, _)| at).collect();
        starts.retain(|at| *at == 0 || text.as_bytes()[at - 1] == b'\n');
        let ends = starts.iter().skip(1).copied().chain([text.len()]);
        Some(starts.iter().zip(ends).map(|(start, end)| &text[*start..end]).collect())
    }
}

fn lines(text: &str) -> usize {
    text.bytes().filter(|&byte| byte == b'\n').count()
}
