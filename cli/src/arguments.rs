//! The words of a command line: options, their values, and a program after `--`.

use std::ffi::{OsStr, OsString};
use std::fmt;

/// Words after the command. Methods remove the words that they know; [`rest`](Arguments::rest)
/// refuses others.
#[derive(Debug)]
pub(crate) struct Arguments {
    words: Vec<OsString>,
    program: Option<Vec<OsString>>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Usage(String);

impl Usage {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Arguments {
    pub(crate) fn new(words: impl IntoIterator<Item = OsString>) -> Self {
        let mut words: Vec<_> = words.into_iter().collect();
        let program = words.iter().position(|word| word == "--").map(|at| {
            let program = words.split_off(at + 1);
            words.pop();
            program
        });
        Self { words, program }
    }

    /// True if an option without a value is present, once or more often.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        let before = self.words.len();
        self.words.retain(|word| word != name);
        self.words.len() < before
    }

    /// All values of an option, as `--name value` or `--name=value`, in order.
    pub(crate) fn values(&mut self, name: &str) -> Result<Vec<OsString>, Usage> {
        let (mut values, mut rest) = (Vec::new(), Vec::new());
        let mut words = std::mem::take(&mut self.words).into_iter();
        while let Some(word) = words.next() {
            if word == name {
                values.push(words.next().ok_or_else(|| Usage::new(format!("{name} is to have a value")))?);
            } else if let Some(value) = value_in(&word, name) {
                values.push(value);
            } else {
                rest.push(word);
            }
        }
        self.words = rest;
        Ok(values)
    }

    /// The value of an option that may occur at most once.
    pub(crate) fn value(&mut self, name: &str) -> Result<Option<OsString>, Usage> {
        let mut values = self.values(name)?;
        if values.len() > 1 {
            return Err(Usage::new(format!("{name} is given twice")));
        }
        Ok(values.pop())
    }

    /// The parsed value of an option. `wanted` describes it, as in "a number of seconds".
    pub(crate) fn parsed<T>(
        &mut self,
        name: &str,
        wanted: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, Usage> {
        let Some(value) = self.value(name)? else { return Ok(None) };
        let read = value.to_str().and_then(parse);
        read.map(Some)
            .ok_or_else(|| Usage::new(format!("{name} {}: expected {wanted}", value.to_string_lossy())))
    }

    /// The program after `--` with its arguments; `None` without `--`.
    pub(crate) fn program(&mut self) -> Option<Vec<OsString>> {
        self.program.take()
    }

    /// The words that are not options. Fails for unknown options and for an unused program.
    pub(crate) fn rest(self) -> Result<Vec<OsString>, Usage> {
        if self.program.is_some() {
            return Err(Usage::new("this command takes no program behind `--`"));
        }
        let option = |word: &&OsString| word.as_encoded_bytes().starts_with(b"-") && word.len() > 1;
        match self.words.iter().find(option) {
            Some(word) => Err(Usage::new(format!("there is no option `{}` here", word.to_string_lossy()))),
            None => Ok(self.words),
        }
    }
}

fn value_in(word: &OsStr, name: &str) -> Option<OsString> {
    // An option's name is ASCII, so this is a character boundary; text that is not UTF-8 has no
    // options.
    word.to_str()?.strip_prefix(name)?.strip_prefix('=').map(OsString::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Arguments {
        Arguments::new(line.split(' ').filter(|word| !word.is_empty()).map(OsString::from))
    }

    #[test]
    fn options_are_taken_wherever_they_stand_and_the_rest_is_left() {
        let mut arguments = of("a --json --cuda 12.2 b --file=x --file y");
        assert!(arguments.flag("--json"));
        assert!(!arguments.flag("--json"));
        assert_eq!(arguments.value("--cuda"), Ok(Some("12.2".into())));
        assert_eq!(arguments.values("--file"), Ok(vec!["x".into(), "y".into()]));
        assert_eq!(arguments.rest(), Ok(vec!["a".into(), "b".into()]));
    }

    #[test]
    fn a_program_keeps_its_own_options() {
        let mut arguments = of("--json -- prog --json -- x");
        assert!(arguments.flag("--json"));
        assert_eq!(arguments.program(), Some(vec!["prog".into(), "--json".into(), "--".into(), "x".into()]));
        assert_eq!(arguments.rest(), Ok(vec![]));
        assert!(of("-- prog").rest().is_err());
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_its_word() {
        let told = |result: Result<Vec<OsString>, Usage>| result.unwrap_err().to_string();
        assert!(told(of("--no").rest()).contains("`--no`"));
        assert!(told(of("--cuda").values("--cuda")).contains("--cuda"));
        assert!(of("--cuda=1 --cuda 2").value("--cuda").is_err());
        let number = |text: &str| text.parse::<u32>().ok();
        assert_eq!(of("--n 3").parsed("--n", "a number", number), Ok(Some(3)));
        assert_eq!(
            of("--n x").parsed("--n", "a number", number),
            Err(Usage::new("--n x: expected a number"))
        );
        assert_eq!(of("-").rest(), Ok(vec!["-".into()]));
    }
}
