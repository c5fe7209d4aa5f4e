//! The types that a C compiler saw, read from its debugging information with `readelf`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use cuprum_testing::processes::run;

/// One entry of the debugging information.
#[derive(Debug, Default)]
struct Entry {
    tag: String,
    attributes: BTreeMap<String, String>,
    children: Vec<usize>,
}

/// All types of one C file.
#[derive(Debug)]
pub(crate) struct CTypes {
    entries: BTreeMap<usize, Entry>,
    top: Vec<usize>,
}

/// A part of a struct or union that has a name in C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) offset: u64,
    pub(crate) size: u64,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}+{}", self.offset, self.size)
    }
}

/// A struct or union. Members of unnamed parts have their own names, and members of parts with an
/// unnamed type are under `part.member`.
#[derive(Debug)]
pub(crate) struct CStruct {
    pub(crate) size: u64,
    pub(crate) members: BTreeMap<String, Place>,
}

impl CTypes {
    pub(crate) fn of_object(object: &Path) -> Self {
        let text = run(Command::new("readelf").arg("--debug-dump=info").arg(object));
        let mut types = Self { entries: BTreeMap::new(), top: Vec::new() };
        let mut open: Vec<usize> = Vec::new();
        for line in text.lines() {
            let line = line.trim_start();
            if let Some((offset, attribute)) = line.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
                if let Some((depth, rest)) = line.strip_prefix('<').and_then(|rest| rest.split_once("><")) {
                    let depth: usize = depth.parse().unwrap();
                    let (offset, tag) = rest.split_once('>').unwrap();
                    open.truncate(depth);
                    let Some((_, tag)) = tag.split_once('(') else { continue };
                    let offset = usize::from_str_radix(offset, 16).unwrap();
                    let tag = tag.trim_end_matches(')').trim_start_matches("DW_TAG_").to_owned();
                    types.entries.insert(offset, Entry { tag, ..Entry::default() });
                    match open.last() {
                        Some(parent) => types.entries.get_mut(parent).unwrap().children.push(offset),
                        None => types.top.push(offset),
                    }
                    open.push(offset);
                } else if usize::from_str_radix(offset, 16).is_ok() {
                    let (name, value) = attribute.split_once(':').unwrap();
                    let value = match value.trim().strip_prefix("(indirect string") {
                        Some(string) => string.split_once("): ").unwrap().1,
                        None => value.trim(),
                    };
                    let name = name.trim().trim_start_matches("DW_AT_").to_owned();
                    let entry = types.entries.get_mut(open.last().unwrap()).unwrap();
                    entry.attributes.insert(name, value.trim().to_owned());
                }
            }
        }
        types
    }

    fn all(&self, tag: &str) -> impl Iterator<Item = (usize, &Entry)> {
        self.entries.iter().filter(move |(_, entry)| entry.tag == tag).map(|(offset, entry)| (*offset, entry))
    }

    /// Entry that an entry's type attribute points to; `None` for `void`.
    fn type_of(&self, entry: &Entry) -> Option<&Entry> {
        let target = entry.attributes.get("type")?.trim_matches(['<', '>']);
        let offset = usize::from_str_radix(target.trim_start_matches("0x"), 16).unwrap();
        Some(&self.entries[&offset])
    }

    /// A type without its typedefs and qualifiers, and the innermost typedef's name.
    fn resolve<'a>(&'a self, mut entry: Option<&'a Entry>) -> (Option<&'a Entry>, Option<&'a str>) {
        let mut name = None;
        while let Some(here) = entry {
            match here.tag.as_str() {
                "typedef" => name = here.name(),
                "const_type" | "volatile_type" => {}
                _ => break,
            }
            entry = self.type_of(here);
        }
        (entry, name)
    }

    fn size(&self, entry: Option<&Entry>) -> u64 {
        let entry = self.resolve(entry).0.expect("a type with a size");
        match entry.tag.as_str() {
            "array_type" => {
                let ranges = entry.children.iter().map(|child| &self.entries[child]);
                let lengths = ranges.map(|range| range.number("upper_bound").unwrap() + 1);
                lengths.product::<u64>() * self.size(self.type_of(entry))
            }
            _ => entry.number("byte_size").unwrap(),
        }
    }

    /// Every struct and union by its innermost typedef name.
    pub(crate) fn structs(&self) -> BTreeMap<String, CStruct> {
        let mut structs = BTreeMap::new();
        for (_, typedef) in self.all("typedef") {
            let (target, innermost) = self.resolve(Some(typedef));
            let Some(target) = target.filter(|target| target.is_record() && target.size().is_some()) else {
                continue;
            };
            if typedef.name() == innermost {
                let mut members = BTreeMap::new();
                self.flatten(target, 0, "", &mut members);
                let layout = CStruct { size: target.size().unwrap(), members };
                structs.insert(innermost.unwrap().to_owned(), layout);
            }
        }
        structs
    }

    fn flatten(&self, record: &Entry, base: u64, prefix: &str, members: &mut BTreeMap<String, Place>) {
        for member in record.children.iter().map(|child| &self.entries[child]) {
            if member.tag != "member" {
                continue;
            }
            let offset = base + member.number("data_member_location").unwrap_or(0);
            let (kind, typedef) = self.resolve(self.type_of(member));
            let kind = kind.unwrap();
            let nameless = kind.is_record() && typedef.is_none() && kind.name().is_none();
            match member.name() {
                None => self.flatten(kind, offset, prefix, members),
                Some(name) if nameless => self.flatten(kind, offset, &format!("{prefix}{name}."), members),
                Some(name) => {
                    let place = Place { offset, size: self.size(self.type_of(member)) };
                    members.insert(format!("{prefix}{name}"), place);
                }
            }
        }
    }

    /// Every constant of every enum: its value in 32 bits.
    pub(crate) fn constants(&self) -> BTreeMap<String, u32> {
        let constant = |(_, entry): (usize, &Entry)| {
            let value = entry.attributes["const_value"].as_str();
            // Written in hexadecimal when it needs all 32 bits.
            let value = match value.strip_prefix("0x") {
                Some(digits) => i64::from_str_radix(digits, 16).unwrap(),
                None => value.parse().unwrap(),
            };
            (entry.name().unwrap().to_owned(), value as u32)
        };
        self.all("enumerator").map(constant).collect()
    }

    /// The parameters of the function that each variable `p_NAME` points to, as Rust would name
    /// their types.
    pub(crate) fn functions(&self) -> BTreeMap<String, Vec<String>> {
        let mut functions = BTreeMap::new();
        for (_, variable) in self.all("variable") {
            let Some(name) = variable.name().and_then(|name| name.strip_prefix("p_")) else { continue };
            let function = self.type_of(self.type_of(variable).unwrap()).unwrap();
            assert_eq!(function.tag, "subroutine_type", "{name}");
            assert_eq!(self.rust_name(self.type_of(function)), "CUresult", "{name}");
            functions.insert(name.to_owned(), self.parameters(function));
        }
        functions
    }

    fn parameters(&self, function: &Entry) -> Vec<String> {
        let parameters = function.children.iter().map(|child| &self.entries[child]);
        parameters.map(|parameter| self.rust_name(self.type_of(parameter))).collect()
    }

    /// A type's innermost typedef name in this header, given any of its names, with or without `*`
    /// before.
    pub(crate) fn innermost_name(&self, name: &str) -> String {
        let target = name.trim_start_matches('*');
        let stars = &name[..name.len() - target.len()];
        let typedef = self.all("typedef").find(|(_, typedef)| typedef.name() == Some(target));
        let innermost = typedef.and_then(|(_, typedef)| self.resolve(Some(typedef)).1);
        format!("{stars}{}", innermost.unwrap_or(target))
    }

    fn rust_name(&self, entry: Option<&Entry>) -> String {
        let (kind, typedef) = self.resolve(entry);
        let Some(kind) = kind else { return "c_void".into() };
        match kind.tag.as_str() {
            "pointer_type" => match self.resolve(self.type_of(kind)).0 {
                Some(target) if target.is_record() && target.size().is_none() && typedef.is_some() => {
                    typedef.unwrap().to_owned()
                }
                Some(target) if target.tag == "subroutine_type" => {
                    let result =
                        self.type_of(target).map(|result| format!(" -> {}", self.rust_name(Some(result))));
                    format!("fn({}){}", self.parameters(target).join(", "), result.unwrap_or_default())
                }
                _ => format!("*{}", self.rust_name(self.type_of(kind))),
            },
            "base_type" if typedef == Some("size_t") => "usize".into(),
            "base_type" => {
                let kind_letter = match kind.attributes["encoding"].split(['(', ')']).nth(1).unwrap() {
                    "unsigned" | "unsigned char" => 'u',
                    "signed" | "signed char" => 'i',
                    "float" => 'f',
                    other => panic!("a base type of encoding {other}"),
                };
                format!("{kind_letter}{}", 8 * kind.size().unwrap())
            }
            _ => typedef.or(kind.name()).unwrap().to_owned(),
        }
    }
}

impl Entry {
    fn name(&self) -> Option<&str> {
        self.attributes.get("name").map(String::as_str)
    }

    fn number(&self, attribute: &str) -> Option<u64> {
        self.attributes.get(attribute)?.parse().ok()
    }

    fn size(&self) -> Option<u64> {
        self.number("byte_size")
    }

    fn is_record(&self) -> bool {
        matches!(self.tag.as_str(), "structure_type" | "union_type")
    }
}
