//! Every enum constant, macro, struct, union and field against facts about NVIDIA's headers, in
//! `data/`.
//!
//! The facts were read from the headers once; `abi.rs` reads the headers themselves, where they can
//! be fetched. An item without a fact fails as surely as a fact without an item.

use std::collections::{BTreeMap, BTreeSet};

use crate::declared::{self, Field, Type, declared_type};

/// At least so many items must be found on both sides; a fact table cut short would otherwise pass.
const ENUM_CONSTANTS: usize = 1007;
const MACROS: usize = 72;
const TYPES: usize = 99;
const FIELDS: usize = 657;
const ALIASES: usize = 54;

// The facts.

/// One row of a fact table: the values in the headers of 11.8, 12.9 and 13.5, if any.
struct Fact {
    group: &'static str,
    item: &'static str,
    since: Option<Version>,
    in_headers: [Option<&'static str>; 3],
}

impl Fact {
    /// As in the newest of the three headers that has the item.
    fn newest(&self) -> &'static str {
        self.in_headers.iter().rev().flatten().next().expect("a fact is of some header")
    }

    /// As in the older headers, where those differ from the newest.
    fn changed(&self) -> bool {
        self.in_headers.iter().flatten().any(|value| *value != self.newest())
    }
}

type Version = (u32, u32);

fn facts(table: &'static str) -> Vec<Fact> {
    let known = |cell: &'static str| (cell != "-").then_some(cell);
    table
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<_> = line.split('\t').collect();
            let [group, item, since, a, b, c] = cells[..] else { panic!("not six cells: {line}") };
            let since = known(since).map(|cell| version(cell).expect("a version"));
            Fact { group, item, since, in_headers: [known(a), known(b), known(c)] }
        })
        .collect()
}

fn enum_facts() -> Vec<Fact> {
    facts(include_str!("../data/enums.tsv"))
}

fn layout_facts() -> Vec<Fact> {
    facts(include_str!("../data/layout.tsv"))
}

fn version(text: &str) -> Option<Version> {
    let (major, minor) = text.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

// The documentation.

/// The text of a doc comment, given its attributes as source.
fn doc_text(attributes: &[&str]) -> String {
    let quoted = |source: &str| Some(source.split_once('"')?.1.rsplit_once('"')?.0.to_owned());
    attributes.iter().filter(|source| source.starts_with("doc")).filter_map(|source| quoted(source)).collect()
}

/// The version that a doc comment names at its end, as in "CUDA 12.4+.".
fn noted(attributes: &[&str]) -> Option<Version> {
    let text = doc_text(attributes);
    version(text.rsplit_once("CUDA ")?.1.strip_suffix("+.")?)
}

fn assert_documented(item: &str, attributes: &[&str]) {
    let text = doc_text(attributes);
    assert!(text.trim().len() > 2 && text.ends_with('.'), "{item} needs a sentence, has {text:?}");
}

// Enums and macros.

#[test]
fn enum_constants_have_the_values_of_the_headers() {
    let facts = enum_facts();
    let facts: BTreeMap<_, _> = facts
        .iter()
        .filter(|fact| fact.group != "#define")
        .map(|fact| ((fact.group, fact.item), fact))
        .collect();
    let mut checked = 0;
    let mut ours_alone = Vec::new();
    for declared in declared::enums::ENUMS {
        assert_eq!(declared.size, 4, "{} is a C int", declared.name);
        for (value, name) in declared.constants {
            let Some(fact) = facts.get(&(declared.name, *name)) else {
                ours_alone.push(*name);
                continue;
            };
            let expected: i64 = fact.newest().parse().expect("a number");
            assert_eq!(i64::from(*value), expected & 0xFFFF_FFFF, "{}::{name}", declared.name);
            checked += 1;
        }
    }
    assert_eq!(ours_alone, ["UNRESOLVED", "FORKED"], "constants that no header has");
    assert_eq!(checked, facts.len(), "constants of the headers that are missing here");
    assert!(checked >= ENUM_CONSTANTS, "only {checked} constants checked");
    println!("{checked} constants of {} enums checked", declared::enums::ENUMS.len());
}

#[test]
fn macros_have_the_values_of_the_headers() {
    let facts = enum_facts();
    let facts: BTreeMap<_, _> =
        facts.iter().filter(|fact| fact.group == "#define").map(|fact| (fact.item, fact)).collect();
    let declared = declared::constants::constants();
    for constant in &declared {
        let fact = facts.get(constant.name).unwrap_or_else(|| panic!("no header has {}", constant.name));
        let expected: i64 = fact.newest().parse().expect("a number");
        assert_eq!(constant.bits, expected as u64 & 0xFFFF_FFFF, "{}", constant.name);
        assert_eq!(noted(constant.attributes), fact.since, "version noted for {}", constant.name);
        assert_documented(constant.name, constant.attributes);
    }
    assert_eq!(declared.len(), facts.len(), "macros of the headers that are missing here");
    assert!(declared.len() >= MACROS, "only {} macros checked", declared.len());
    println!("{} macros checked", declared.len());
}

/// A changed value means different things to drivers of different versions, so each is known by
/// name.
#[test]
fn few_values_changed_between_versions() {
    let facts = enum_facts();
    let changed: BTreeSet<_> = facts.iter().filter(|fact| fact.changed()).map(|fact| fact.item).collect();
    let counts = changed.iter().filter(|name| name.ends_with("_MAX") || name.contains("_NUM_")).count();
    let others: Vec<_> =
        changed.iter().filter(|name| !name.ends_with("_MAX") && !name.contains("_NUM_")).copied().collect();
    assert_eq!(
        others,
        [
            "CUDA_VERSION",
            "CU_COREDUMP_LIGHTWEIGHT_FLAGS",
            "CU_CTX_FLAGS_MASK",
            "CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS",
            "CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR",
        ]
    );
    assert!(counts > 0, "the counts of attributes grow");
}

#[test]
fn enum_docs_name_the_version_of_new_items() {
    let facts = enum_facts();
    for declared in declared::enums::ENUMS {
        assert_documented(declared.name, declared.attributes);
        let of_enum = |fact: &&Fact| fact.group == declared.name;
        let oldest = facts.iter().filter(of_enum).map(|fact| fact.since).min().expect("constants");
        assert_eq!(noted(declared.attributes), oldest, "version noted for {}", declared.name);
        assert_eq!(declared.constants.len(), declared.constant_attributes.len());
        for ((_, name), doc) in declared.constants.iter().zip(declared.constant_attributes) {
            assert_documented(name, doc);
            let Some(fact) = facts.iter().filter(of_enum).find(|fact| fact.item == *name) else { continue };
            assert_eq!(noted(doc).max(oldest), fact.since, "version noted for {name}");
        }
    }
}

// Structs and unions.

/// One field of a type, or of a type inside it, by its C path.
struct Place {
    offset: usize,
    size: usize,
    since: Option<Version>,
    /// The declared fields on the way, as type and field.
    through: Vec<(&'static str, &'static str)>,
}

/// All places of `declared`, which itself starts at `outer`.
fn places(declared: &'static Type, path: &str, outer: &Place, found: &mut BTreeMap<String, Place>) {
    for field in declared.fields {
        let inner = declared_type(field.type_name);
        let mut through = outer.through.clone();
        through.push((declared.name, field.name));
        let since = [outer.since, noted(field.attributes), inner.and_then(|inner| noted(inner.attributes))];
        let place = Place {
            offset: outer.offset + field.offset,
            size: field.size,
            since: since.into_iter().max().flatten(),
            through,
        };
        let c_name = match field.name {
            "type_" => "type",
            "fn_" => "fn",
            name => name,
        };
        // C's anonymous unions add nothing to the path.
        let anonymous = field.name == "u";
        let path = if anonymous { path.to_owned() } else { format!("{path}{c_name}") };
        if let Some(inner) = inner {
            let prefix = if anonymous { path.clone() } else { format!("{path}.") };
            places(inner, &prefix, &place, found);
        }
        if !anonymous {
            found.insert(path, place);
        }
    }
}

fn places_of(declared: &'static Type) -> BTreeMap<String, Place> {
    let start = |offset, since| Place { offset, size: 0, since, through: Vec::new() };
    let mut found = BTreeMap::new();
    places(declared, "", &start(0, noted(declared.attributes)), &mut found);
    // Our one deviation: the struct that C lays over `id` is a type by itself.
    if declared.name == "CUmemLocation_v1" {
        let localized = declared_type("CUmemLocation_localized").expect("it is declared");
        let since = noted(localized.attributes);
        let outer = start(found["id"].offset, since);
        places(localized, "localized.", &outer, &mut found);
        found.insert("localized".into(), Place { size: localized.size, ..outer });
    }
    found
}

#[test]
fn structs_are_laid_out_as_in_the_headers() {
    let facts = layout_facts();
    let mut types = BTreeSet::new();
    let mut fields = 0;
    let mut seen = BTreeSet::new();
    for fact in facts.iter().filter(|fact| fact.item == "-") {
        let declared = declared_type(fact.group).unwrap_or_else(|| panic!("{} is missing", fact.group));
        assert_eq!(format!("{}/{}", declared.size, declared.align), fact.newest(), "{}", fact.group);
        types.insert(fact.group);

        let places = places_of(declared);
        for fact in facts.iter().filter(|field| field.group == fact.group && field.item != "-") {
            let path = format!("{}.{}", fact.group, fact.item);
            let place = places.get(fact.item).unwrap_or_else(|| panic!("{path} is missing"));
            assert_eq!(format!("{}+{}", place.offset, place.size), fact.newest(), "{path}");
            seen.extend(place.through.iter().copied());
            fields += 1;
        }
    }
    for declared in declared::structs::TYPES {
        for field in declared.fields {
            let name = (declared.name, field.name);
            assert!(seen.contains(&name), "no header has {}.{}", name.0, name.1);
        }
    }
    assert!(types.len() >= TYPES, "only {} types checked", types.len());
    assert!(fields >= FIELDS, "only {fields} fields checked");
    println!(
        "{} types and {fields} fields checked, {} declared",
        types.len(),
        declared::structs::TYPES.len()
    );
}

#[test]
fn struct_docs_name_the_version_of_new_items() {
    for declared in declared::structs::TYPES {
        assert_documented(declared.name, declared.attributes);
        for field in declared.fields {
            assert_documented(&format!("{}.{}", declared.name, field.name), field.attributes);
        }
    }
    let facts = layout_facts();
    for fact in facts.iter().filter(|fact| !fact.item.starts_with('=')) {
        let declared = declared_type(fact.group).unwrap_or_else(|| panic!("{} is missing", fact.group));
        let noted = match fact.item {
            "-" if declared::structs::ALIASES.iter().any(|alias| alias.0 == fact.group) => continue,
            "-" => noted(declared.attributes),
            path => places_of(declared)[path].since,
        };
        assert_eq!(noted.max(fact_floor(&facts, fact)), fact.since, "{}.{}", fact.group, fact.item);
    }
}

/// The version of the type that a field is in: where a name is an alias here, its doc is not the
/// type's own.
fn fact_floor(facts: &[Fact], fact: &Fact) -> Option<Version> {
    let aliased = declared::structs::ALIASES.iter().any(|alias| alias.0 == fact.group);
    facts.iter().find(|of| aliased && of.group == fact.group && of.item == "-").and_then(|of| of.since)
}

#[test]
fn plain_names_mean_the_newest_type() {
    let facts = layout_facts();
    let mut checked = 0;
    for fact in &facts {
        let Some(target) = fact.item.strip_prefix('=') else { continue };
        let declared = declared_type(fact.group).unwrap_or_else(|| panic!("{} is missing", fact.group));
        assert_eq!(declared.name, target, "{}", fact.group);
        checked += 1;
    }
    assert!(checked >= ALIASES, "only {checked} names checked");
    println!("{checked} names checked");
}

/// The reason why one declaration of a struct serves drivers of all versions: only reserved room
/// ever moved, and any struct that grew is in a union that had room for it.
#[test]
fn structs_only_grew_where_there_was_room() {
    let facts = layout_facts();
    let changed = |separator| {
        let pair = move |text: &'static str| text.split_once(separator).expect("a pair of numbers");
        let first_differs = move |fact: &&Fact| {
            fact.in_headers.iter().flatten().any(|old| pair(old).0 != pair(fact.newest()).0)
        };
        facts
            .iter()
            .filter(move |fact| !fact.item.starts_with('=') && fact.newest().contains(separator))
            .filter(first_differs)
    };

    let moved: Vec<_> = changed('+').map(|field| (field.group, field.item)).collect();
    let reserved = ["CUcheckpointCheckpointArgs", "CUcheckpointRestoreArgs", "CUmemPoolProps_v1"];
    assert_eq!(moved, reserved.map(|name| (name, "reserved")));

    let unions =
        ["CUgraphNodeParams_u", "CUdevResource_u"].map(|name| declared_type(name).expect("it is declared"));
    let grown: Vec<_> = changed('/').map(|declared| declared.group).collect();
    assert_eq!(grown.len(), 5, "{grown:?}");
    for name in grown {
        let in_union = |field: &Field| field.type_name == name;
        assert!(unions.iter().any(|around| around.fields.iter().any(in_union)), "{name} grew on its own");
    }
}
