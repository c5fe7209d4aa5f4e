//! Reads the compiler's assembly (x86-64, AT&T syntax) and follows a function's paths without
//! errors.
//!
//! A path goes from the first instruction to the return, through the functions called. One that
//! calls a cold function (the compiler puts those into `.text.unlikely`) is an error path and is
//! left out. The rest must be plain: no loop, no lock, and no calls except of functions that are
//! listed too, and of the driver through its table.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::rc::Rc;

/// A call of the driver: the displacement of its slot from the start of the library's data.
pub(crate) type Slot = i64;

/// The driver calls of each path, in order. Empty: every path is an error path.
pub(crate) type Paths = BTreeSet<Vec<Slot>>;

#[derive(Debug)]
enum Line {
    Label(String),
    Instruction { name: String, operands: String },
}

#[derive(Debug, Default)]
struct Function {
    cold: bool,
    lines: Vec<Line>,
    labels: HashMap<String, usize>,
}

/// All functions of some assembly files.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    functions: HashMap<String, Function>,
}

/// Successors of an instruction.
enum Next<'a> {
    Through,
    Return,
    Jump(&'a str),
    Branch(&'a str),
    Call(&'a str),
    TailCall(&'a str),
}

impl Listing {
    /// Adds the functions of a file.
    pub(crate) fn add(&mut self, text: &str) {
        let mut cold = false;
        let mut open: Option<(String, Function)> = None;
        for line in text.lines().map(|line| line.split('#').next().unwrap_or_default().trim()) {
            if line.starts_with(".section") || line.starts_with(".text") {
                cold = line.contains(".text.unlikely");
            } else if let Some(declared) =
                line.strip_prefix(".type").and_then(|rest| rest.strip_suffix(",@function"))
            {
                open = Some((declared.trim().to_owned(), Function { cold, ..Function::default() }));
            } else if line.starts_with(".size") {
                self.functions.extend(open.take());
            } else if let Some((_, function)) = &mut open {
                function.add(line);
            }
        }
    }

    /// The driver calls of each path through a function.
    ///
    /// # Errors
    /// Returns the first instruction that is not plain, and its place.
    pub(crate) fn paths(&self, function: &str) -> Result<Rc<Paths>, String> {
        Walk { listing: self, known: HashMap::new() }.from(function, 0)
    }

    /// The instructions on the paths of these functions and of their callees. `name_place` returns
    /// the text to print for a displacement; its first argument says whether the displacement
    /// belongs to a call.
    ///
    /// # Errors
    /// As [`paths`](Self::paths).
    pub(crate) fn print(
        &self,
        functions: &[&str],
        name_place: impl Fn(bool, Slot) -> Option<String>,
    ) -> Result<String, String> {
        let mut walk = Walk { listing: self, known: HashMap::new() };
        for function in functions {
            walk.from(function, 0)?;
        }
        let mut reached: BTreeMap<(bool, &str), BTreeSet<usize>> = BTreeMap::new();
        for ((function, at), paths) in &walk.known {
            if paths.as_ref().is_some_and(|paths| !paths.is_empty()) {
                reached.entry((!functions.contains(function), function)).or_default().insert(*at);
            }
        }
        let mut text = String::new();
        for ((_, name), places) in reached {
            self.functions[name].print(name, &places, &name_place, &mut text);
        }
        Ok(text)
    }
}

impl Function {
    fn add(&mut self, line: &str) {
        if let Some(label) = line.strip_suffix(':') {
            self.labels.insert(label.to_owned(), self.lines.len());
            self.lines.push(Line::Label(label.to_owned()));
        } else if !line.is_empty() && !line.starts_with('.') {
            let (name, operands) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            let (name, operands) = (name.to_owned(), operands.trim().to_owned());
            self.lines.push(Line::Instruction { name, operands });
        }
    }

    fn print(
        &self,
        name: &str,
        places: &BTreeSet<usize>,
        name_place: &impl Fn(bool, Slot) -> Option<String>,
        text: &mut String,
    ) {
        let targets: HashMap<&str, usize> = places
            .iter()
            .filter_map(|&at| match &self.lines[at] {
                Line::Instruction { operands, .. } => self.labels.get_key_value(operands),
                Line::Label(_) => None,
            })
            .filter(|(_, at)| places.contains(at))
            .map(|(label, &at)| (label.as_str(), at))
            .collect();
        let mut order: Vec<usize> = targets.values().copied().collect();
        order.sort_unstable();
        let number = |at: usize| order.iter().position(|&other| other == at).map_or(0, |index| index + 1);

        let _ = writeln!(text, "\n{}:", readable(name));
        for &at in places {
            match &self.lines[at] {
                Line::Label(label) if targets.contains_key(label.as_str()) => {
                    let _ = writeln!(text, ".{}:", number(at));
                }
                Line::Label(_) => {}
                Line::Instruction { name, operands } => {
                    let operands = match (targets.get(operands.as_str()), self.labels.get(operands)) {
                        (Some(&target), _) => format!(".{}", number(target)),
                        (None, Some(_)) => ".cold".to_owned(),
                        (None, None) => plain(operands, name_place),
                    };
                    let _ = writeln!(text, "    {name} {operands}").map(|()| trim_end(text));
                    let goes_on =
                        matches!(next(name, operands.as_str()), Ok(Next::Through | Next::Branch(_)));
                    if goes_on && !places.contains(&(at + 1)) {
                        text.push_str("    # else to .cold\n");
                    }
                }
            }
        }
    }
}

fn trim_end(text: &mut String) {
    text.truncate(text.trim_end().len());
    text.push('\n');
}

/// Effect of an instruction on the flow.
fn next<'a>(name: &str, operands: &'a str) -> Result<Next<'a>, String> {
    let is_label = operands.starts_with('.');
    Ok(match name {
        "retq" | "ret" => Next::Return,
        "jmp" | "jmpq" if is_label => Next::Jump(operands),
        "jmp" | "jmpq" => Next::TailCall(operands),
        "callq" | "call" => Next::Call(operands),
        _ if name.starts_with('j') => Next::Branch(operands),
        _ if name.starts_with("lock") => return Err("a lock".to_owned()),
        _ if name.starts_with("xchg") && operands.contains('(') => {
            return Err("an exchange with memory".to_owned());
        }
        "ud2" | "int3" | "syscall" | "hlt" => return Err(format!("an instruction {name}")),
        _ => Next::Through,
    })
}

/// A call's target: `*344(%rax)` is a slot, and `*name@GOTPCREL(%rip)`, `name@PLT` and `name` are a
/// function.
fn target(operand: &str) -> Result<Target<'_>, String> {
    let inner = operand.trim_start_matches('*');
    if let Some(name) = inner.split('@').next().filter(|name| operand.contains('@') && !name.is_empty()) {
        return Ok(Target::Function(name));
    }
    if inner == operand {
        return Ok(Target::Function(operand));
    }
    let slot = inner.split_once("(%r").and_then(|(displacement, _)| displacement.parse().ok());
    slot.map(Target::Slot).ok_or_else(|| format!("a call of {operand}"))
}

enum Target<'a> {
    Function(&'a str),
    Slot(Slot),
}

/// Paths found so far, by function and place; `None` while they are looked for.
struct Walk<'a> {
    listing: &'a Listing,
    known: HashMap<(&'a str, usize), Option<Rc<Paths>>>,
}

impl<'a> Walk<'a> {
    fn from(&mut self, name: &str, at: usize) -> Result<Rc<Paths>, String> {
        let Some((name, function)) = self.listing.functions.get_key_value(name) else {
            return Err(format!("a call of {}", readable(name)));
        };
        if function.cold {
            return Ok(Rc::default());
        }
        match self.known.get(&(name.as_str(), at)) {
            Some(Some(paths)) => return Ok(Rc::clone(paths)),
            Some(None) => return Err(format!("a loop in {}", readable(name))),
            None => {}
        }
        self.known.insert((name, at), None);
        let paths = self.look(name, function, at)?;
        self.known.insert((name, at), Some(Rc::clone(&paths)));
        Ok(paths)
    }

    fn look(&mut self, name: &'a str, function: &'a Function, at: usize) -> Result<Rc<Paths>, String> {
        let (instruction, operands) = match function.lines.get(at) {
            Some(Line::Instruction { name, operands }) => (name, operands),
            Some(Line::Label(_)) => return self.from(name, at + 1),
            None => return Err(format!("an end without return in {}", readable(name))),
        };
        let in_function = |what: String| format!("{what} in {}", readable(name));
        match next(instruction, operands).map_err(in_function)? {
            Next::Through => self.from(name, at + 1),
            Next::Return => Ok(Rc::new(Paths::from([Vec::new()]))),
            Next::Jump(label) => self.to(name, function, label),
            Next::Branch(label) => {
                let taken = self.to(name, function, label)?;
                let not_taken = self.from(name, at + 1)?;
                Ok(Rc::new(taken.union(&not_taken).cloned().collect()))
            }
            Next::TailCall(operand) => self.called(operand).map_err(in_function),
            Next::Call(operand) => {
                let first = self.called(operand).map_err(in_function)?;
                if first.is_empty() {
                    return Ok(first);
                }
                let rest = self.from(name, at + 1)?;
                let join = |one: &Vec<Slot>| {
                    let one = one.clone();
                    rest.iter().map(move |other| [one.as_slice(), other].concat()).collect::<Vec<_>>()
                };
                Ok(Rc::new(first.iter().flat_map(join).collect()))
            }
        }
    }

    /// To a label of this function, or to another function, where a branch is a tail call.
    fn to(&mut self, name: &'a str, function: &'a Function, label: &str) -> Result<Rc<Paths>, String> {
        match function.labels.get(label) {
            Some(&at) => self.from(name, at),
            None => self.called(label),
        }
    }

    fn called(&mut self, operand: &str) -> Result<Rc<Paths>, String> {
        match target(operand)? {
            Target::Slot(slot) => Ok(Rc::new(Paths::from([vec![slot]]))),
            Target::Function(name) => self.from(name, 0),
        }
    }
}

/// Operands without the parts that change from build to build: hashes of symbols, displacements in
/// the library's data.
fn plain(operands: &str, name_place: &impl Fn(bool, Slot) -> Option<String>) -> String {
    let is_part = |c: char| c.is_alphanumeric() || "_$.-".contains(c);
    let mut text = String::new();
    let mut rest = operands;
    while let Some(c) = rest.chars().next() {
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end.max(c.len_utf8()));
        let displacement = word.parse().ok().filter(|_| after.starts_with("(%r"));
        let place = displacement.and_then(|place| name_place(operands.starts_with('*'), place));
        text += &place.unwrap_or_else(|| readable(word));
        rest = after;
    }
    text
}

/// `_ZN6cuprum5error6forked17h7bb1aca128b683a9E` as `cuprum::error::forked`; other names as they
/// are.
fn readable(symbol: &str) -> String {
    let Some(mut rest) = symbol.strip_prefix("_ZN") else { return symbol.to_owned() };
    let mut parts = Vec::new();
    while let Some(digits) = rest.find(|c: char| !c.is_ascii_digit()).filter(|&digits| digits > 0) {
        let (length, after) = rest.split_at(digits);
        let Some((part, after)) = length.parse().ok().and_then(|length| after.split_at_checked(length))
        else {
            break;
        };
        parts.push(part);
        rest = after;
    }
    // The hash, and the names that a macro of the standard library wraps around the name.
    parts.pop();
    parts.retain(|part| !part.contains("$u7b$") && !part.starts_with("__RUST_STD"));
    parts.join("::")
}
