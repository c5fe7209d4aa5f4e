//! The list of functions compared with the known facts about the driver's symbols.

use std::collections::{BTreeMap, BTreeSet};

use cuprum_sys::left_out::LEFT_OUT;
use cuprum_sys::{FnId, StreamMode, Version};

/// The list of the crate, as a list of its lines.
mod fns {
    use core::ffi::{c_char, c_void};

    use cuprum_sys::{enums::*, structs::*, types::*};
    use cuprum_testing::list_of;

    cuprum_sys::for_each_function!(list_of);
}

/// The parameter class of a type, in the words of the fact table.
fn class(name: &str) -> String {
    let last = name.rsplit("::").next().unwrap();
    if name.starts_with('*') {
        "p".into()
    } else if name.starts_with("core::option::Option<unsafe extern") {
        "fn".into()
    } else if name.contains("::enums::") {
        "e32".into()
    } else if name.contains("::structs::") {
        format!("struct:{last}")
    } else if name.contains("::types::") {
        "h".into()
    } else {
        name.into()
    }
}

struct Fact {
    since: u32,
    parameters: &'static str,
}

fn facts() -> BTreeMap<&'static str, Fact> {
    let mut facts = BTreeMap::new();
    for row in include_str!("data/symbols.tsv").lines().skip(1) {
        let mut columns = row.split('\t');
        let symbol = columns.next().unwrap();
        let since = columns.next().unwrap().parse().unwrap();
        let parameters = columns.nth(1).unwrap();
        assert!(facts.insert(symbol, Fact { since, parameters }).is_none(), "{symbol} twice");
    }
    assert_eq!(facts.len(), 723);
    facts
}

/// The library's symbols: the symbols of the lines and their twins.
fn symbols() -> Vec<cuprum_sys::Symbol> {
    FnId::ALL.iter().flat_map(|id| [Some(id.symbol()), id.per_thread_symbol()]).flatten().collect()
}

#[test]
fn names_are_unique() {
    let names: Vec<_> = symbols().iter().map(|symbol| symbol.name).collect();
    let unique: BTreeSet<_> = names.iter().collect();
    assert_eq!(unique.len(), names.len());
}

#[test]
fn ids_lines_and_names_agree() {
    let lines = fns::lines();
    assert_eq!(lines.len(), FnId::ALL.len());
    for (i, (line, id)) in lines.iter().zip(FnId::ALL).enumerate() {
        assert_eq!(i, *id as usize);
        assert_eq!(line.name, id.to_string());
        assert_eq!(id.symbol().since, Version::from_raw(line.since), "{id}");
        assert_eq!(id.symbol().mode, StreamMode::Legacy);
        let twin = id.per_thread_symbol().map(|twin| twin.name.to_str().unwrap());
        let expected = (!line.twin.is_empty()).then(|| format!("{}_{}", line.name, line.twin));
        assert_eq!(twin, expected.as_deref());
        let served = id.symbol_in(StreamMode::PerThread).name;
        assert_eq!(served.to_str().unwrap(), expected.as_deref().unwrap_or(line.name));
    }
}

#[test]
fn base_names() {
    assert_eq!(FnId::cuMemcpyHtoD_v2.symbol().base, "cuMemcpyHtoD");
    assert_eq!(FnId::cuMemcpyHtoD_v2.per_thread_symbol().unwrap().base, "cuMemcpyHtoD");
    assert_eq!(FnId::cuCtxCreate_v4.symbol().base, "cuCtxCreate");
    assert_eq!(FnId::cuInit.symbol().base, "cuInit");
    assert_eq!(FnId::cuMemsetD2D32.symbol().base, "cuMemsetD2D32");
}

#[test]
fn versions_and_parameters_are_the_known_ones() {
    let facts = facts();
    for line in fns::lines() {
        let fact = &facts[line.name];
        assert_eq!(line.since, fact.since, "{}", line.name);
        let classes: Vec<_> = line.parameters.iter().map(|name| class(name)).collect();
        let parameters = if classes.is_empty() { "-".to_owned() } else { classes.join(",") };
        assert_eq!(parameters, fact.parameters, "{}", line.name);
    }
    for id in FnId::ALL {
        if let Some(twin) = id.per_thread_symbol() {
            let name = twin.name.to_str().unwrap();
            assert_eq!(twin.since.as_raw(), facts[name].since, "{name}");
            assert_eq!(facts[name].parameters, facts[id.to_string().as_str()].parameters, "{name}");
        }
    }
}

#[test]
fn every_symbol_is_in_the_table_or_left_out_with_a_reason() {
    let have: BTreeSet<_> = symbols().iter().map(|symbol| symbol.name.to_str().unwrap()).collect();
    let mut left_out = BTreeSet::new();
    for group in LEFT_OUT {
        assert!(!group.reason.is_empty());
        for symbol in group.symbols {
            assert!(left_out.insert(*symbol), "{symbol} is left out twice");
            assert!(!have.contains(symbol), "{symbol} is in the table and left out");
        }
    }
    let accounted: BTreeSet<_> = have.union(&left_out).copied().collect();
    assert_eq!(accounted, facts().into_keys().collect());
}
