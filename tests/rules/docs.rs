//! The driver functions that the documentation names, compared with the table.
//!
//! The last line of a function that calls the driver reads ``Driver: `cuMemAlloc_v2`, CUDA 3.2+.``
//! with the names of the table. Several names can share a version; the first is also a
//! `doc(alias)`, for searches.

use std::collections::{BTreeMap, BTreeSet};

use cuprum::sys::{FnId, Version};

use crate::source::{self, Function, Visibility};

/// The names of a function's driver line with the version given for each; `None` if it has no such
/// line.
fn driver_line(function: &Function) -> Option<Result<Vec<(&str, Version)>, String>> {
    let start = function.docs.iter().position(|line| line.starts_with("Driver: "))?;
    Some(read_driver_line(&function.docs[start..]))
}

fn read_driver_line(lines: &[String]) -> Result<Vec<(&str, Version)>, String> {
    let (mut named, mut waiting) = (Vec::new(), Vec::new());
    for line in lines {
        if line.is_empty() {
            return Err("the driver line is not the last".to_owned());
        }
        for (index, piece) in line.split('`').enumerate() {
            if index % 2 == 1 {
                waiting.extend(Some(piece).filter(|piece| piece.starts_with("cu")));
                continue;
            }
            for after in piece.split("CUDA ").skip(1) {
                let number = after.split('+').next().unwrap_or_default();
                let (major, minor) =
                    number.split_once('.').ok_or_else(|| format!("no version in {after:?}"))?;
                let part = |text: &str| text.parse().map_err(|_| format!("no version in {after:?}"));
                let version = Version::new(part(major)?, part(minor)?);
                named.extend(waiting.drain(..).map(|name| (name, version)));
            }
        }
    }
    if waiting.is_empty() { Ok(named) } else { Err(format!("no version after {waiting:?}")) }
}

#[test]
fn driver_lines_are_read_as_they_are_written() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let shared = lines("Driver: `cuA` and `cuB`, CUDA 3.2+, or\n`cuC`, CUDA 12.4+ (see `other`).");
    let (old, new) = (Version::new(3, 2), Version::new(12, 4));
    assert_eq!(read_driver_line(&shared), Ok(vec![("cuA", old), ("cuB", old), ("cuC", new)]));
    assert!(read_driver_line(&lines("Driver: `cuA`, CUDA 3.2+, then `cuB`.")).is_err());
    assert!(read_driver_line(&lines("Driver: `cuA`, CUDA three+.")).is_err());
    assert!(read_driver_line(&lines("Driver: `cuA`, CUDA 3.2+.\n\nMore.")).is_err());
}

#[test]
fn every_public_function_names_the_driver_functions_that_it_calls() {
    let since: BTreeMap<String, Version> =
        FnId::ALL.iter().map(|id| (id.to_string(), id.symbol().since)).collect();
    let (mut wrong, mut lines) = (Vec::new(), 0);
    let (mut called, mut documented) = (BTreeSet::new(), BTreeSet::new());
    for file in source::files("src") {
        called.extend(file.calls.iter().map(FnId::to_string));
        for function in file.functions.iter().filter(|function| function.visibility == Visibility::Public) {
            let mut complain =
                |what: String| wrong.push(format!("{} {}: {what}", function.place, function.name));
            let named = match driver_line(function) {
                None => {
                    let reached = file.reached_from(function);
                    if !reached.is_empty() {
                        complain(format!("has no driver line and calls {reached:?}"));
                    }
                    continue;
                }
                Some(Err(what)) => {
                    complain(what);
                    continue;
                }
                Some(Ok(named)) => named,
            };
            lines += 1;
            for (name, version) in &named {
                match since.get(*name) {
                    None => complain(format!("{name} is no function of the table")),
                    Some(since) if since != version => {
                        complain(format!("{name} is from CUDA {since}, not {version}"))
                    }
                    Some(_) => {}
                }
            }
            let names: BTreeSet<&str> = named.iter().map(|(name, _)| *name).collect();
            for call in
                function.calls.iter().map(FnId::to_string).filter(|call| !names.contains(call.as_str()))
            {
                complain(format!("calls {call}, which its driver line does not name"));
            }
            match named.first() {
                None => complain("names no function in its driver line".to_owned()),
                Some((main, _)) if !function.aliases.contains(*main) => {
                    complain(format!("has no doc(alias = \"{main}\"), only {:?}", function.aliases));
                }
                Some(_) => {}
            }
            for alias in function.aliases.iter().filter(|alias| !names.contains(alias.as_str())) {
                complain(format!("has an alias {alias} that its driver line does not name"));
            }
            documented.extend(names.into_iter().map(str::to_owned));
        }
    }
    wrong.extend(
        called.difference(&documented).map(|name| format!("no public function says that it calls {name}")),
    );
    assert!(wrong.is_empty(), "{} complaints:\n{}", wrong.len(), wrong.join("\n"));
    assert!(lines > 50, "only {lines} driver lines were read");
}
