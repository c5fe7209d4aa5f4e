//! Results recorded on a GPU: `tests/data/goldens/opcodes.txt`, written by
//! `tests/gpu/probe_opcodes.py`.

mod scaffold;
mod tolerance;

use std::collections::HashMap;

pub(crate) struct Recording {
    pub(crate) grids: HashMap<String, Grid>,
    pub(crate) forms: Vec<Form>,
    pub(crate) warp_forms: Vec<WarpForm>,
}

pub(crate) struct Grid {
    pub(crate) width: u32,
    pub(crate) values: Vec<u64>,
}

/// An instruction on every combination of the inputs of its grids, one per thread.
pub(crate) struct Form {
    pub(crate) width: u32,
    pub(crate) grids: Vec<String>,
    pub(crate) text: String,
    pub(crate) results: Vec<u64>,
}

/// Instructions that one block runs; two results per thread.
pub(crate) struct WarpForm {
    pub(crate) directives: &'static str,
    pub(crate) threads: u32,
    pub(crate) text: String,
    pub(crate) results: Vec<u64>,
}

impl Recording {
    pub(crate) fn read() -> Recording {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/goldens/opcodes.txt");
        let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let mut recording = Recording { grids: HashMap::new(), forms: Vec::new(), warp_forms: Vec::new() };
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        while let Some(line) = lines.next() {
            let (kind, rest) = cut(line);
            let (first, rest) = cut(rest);
            match kind {
                "grid" => {
                    let (width, values) = cut(rest);
                    let grid = Grid { width: number(width), values: hexadecimals(values) };
                    recording.grids.insert(first.to_owned(), grid);
                }
                "form" => {
                    let (grids, text) = cut(rest);
                    recording.forms.push(Form {
                        width: number(first),
                        grids: grids.split(',').map(str::to_owned).collect(),
                        text: text.to_owned(),
                        results: results(line, lines.next()),
                    });
                }
                "warp" | "cluster" => recording.warp_forms.push(WarpForm {
                    directives: if kind == "cluster" { ".explicitcluster .reqnctapercluster 1" } else { "" },
                    threads: number(first),
                    text: rest.to_owned(),
                    results: results(line, lines.next()),
                }),
                other => panic!("no record starts with `{other}`"),
            }
        }
        recording
    }

    /// Returns one list per operand: every combination, the first operand varying slowest.
    pub(crate) fn inputs(&self, form: &Form) -> Vec<Vec<u64>> {
        let lists: Vec<&[u64]> = form.grids.iter().map(|name| self.grids[name].values.as_slice()).collect();
        let count: usize = lists.iter().map(|list| list.len()).product();
        let mut stride = count;
        let column = |list: &&[u64]| {
            stride /= list.len();
            (0..count).map(|thread| list[thread / stride % list.len()]).collect()
        };
        lists.iter().map(column).collect()
    }
}

/// Splits off the first word.
fn cut(line: &str) -> (&str, &str) {
    line.split_once(' ').unwrap_or_else(|| panic!("a line of one word: {line}"))
}

fn number(word: &str) -> u32 {
    word.parse().unwrap_or_else(|error| panic!("{word}: {error}"))
}

fn hexadecimals(words: &str) -> Vec<u64> {
    let value = |word| u64::from_str_radix(word, 16).unwrap_or_else(|error| panic!("{word}: {error}"));
    words.split(' ').map(value).collect()
}

fn results(form: &str, line: Option<&str>) -> Vec<u64> {
    let line = line.unwrap_or_else(|| panic!("no results of {form}"));
    assert!(!line.starts_with("failed"), "{form} ran into an error on the GPU: {line}");
    hexadecimals(line)
}
