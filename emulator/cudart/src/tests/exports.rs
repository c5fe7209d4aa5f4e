//! The list of exports, `exports.tsv`, against the functions of this crate.

use std::collections::{BTreeMap, BTreeSet};

use crate::calls;
use crate::exported::Exported;

/// Symbols of the archive, each with the sizes of its parameters, `None` for a stub.
pub(crate) fn symbols() -> BTreeMap<String, Option<&'static [usize]>> {
    let files: &[&[Exported]] = &[
        calls::access::EXPORTED,
        calls::any_node::EXPORTED,
        calls::array::EXPORTED,
        calls::array_row::EXPORTED,
        calls::boxes::EXPORTED,
        calls::capture::EXPORTED,
        calls::copy::EXPORTED,
        calls::device::EXPORTED,
        calls::event::EXPORTED,
        calls::execution::EXPORTED,
        calls::external::EXPORTED,
        calls::function::EXPORTED,
        calls::host::EXPORTED,
        calls::launch::EXPORTED,
        calls::launch::OTHERS,
        calls::library::EXPORTED,
        calls::log::EXPORTED,
        calls::memory::EXPORTED,
        calls::memory::OTHERS,
        calls::node::EXPORTED,
        calls::not_built::EXPORTED,
        calls::peer_boxes::EXPORTED,
        calls::pool::EXPORTED,
        calls::range::EXPORTED,
        calls::register::OTHERS,
        calls::semaphore_node::EXPORTED,
        calls::stream::EXPORTED,
        calls::symbol_node::EXPORTED,
        calls::texture::EXPORTED,
        calls::version::EXPORTED,
        calls::version::OTHERS,
    ];
    let mut symbols = BTreeMap::new();
    for exported in files.iter().copied().flatten() {
        let (name, twin) = exported.symbol.split_once('+').unwrap_or((exported.symbol, ""));
        let twin = (!twin.is_empty()).then(|| format!("{name}_{twin}"));
        for symbol in [Some(name.to_owned()), twin].into_iter().flatten() {
            assert_eq!(symbols.insert(symbol, exported.parameters), None, "{name} is there twice");
        }
    }
    symbols
}

/// The lines of the list: name, symbol in `libcudart.so.12`, symbol in `libcudart.so.13`.
pub(crate) fn lines() -> impl Iterator<Item = (&'static str, [Option<&'static str>; 2])> {
    let text = include_str!("../../exports.tsv");
    text.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let mut columns = line.split('\t');
        let mut next = || columns.next().expect("three columns");
        let name = next();
        (name, [next(), next()].map(|symbol| (symbol != "-").then_some(symbol)))
    })
}

#[test]
fn each_symbol_of_the_list_is_there_and_each_function_is_in_the_list() {
    let listed: BTreeSet<&str> = lines().flat_map(|(_, symbols)| symbols).flatten().collect();
    let symbols = symbols();
    let there: BTreeSet<&str> = symbols.keys().map(String::as_str).collect();
    assert!(listed.len() > 480, "{}", listed.len());
    assert_eq!(listed.difference(&there).collect::<Vec<_>>(), Vec::<&&str>::new(), "in the list only");
    assert_eq!(there.difference(&listed).collect::<Vec<_>>(), Vec::<&&str>::new(), "not in the list");
}

#[test]
fn a_second_name_in_the_list_is_no_other_functions_symbol() {
    for (name, symbols) in lines() {
        for symbol in symbols.into_iter().flatten().filter(|symbol| *symbol != name) {
            let own = symbol.starts_with("cuprum_1") || symbol.starts_with(&format!("{name}_v"));
            let twin = |suffix| {
                name.strip_suffix(suffix).is_some_and(|base| symbol.starts_with(&format!("{base}_v")))
            };
            let old = name.starts_with("cudaThread") && symbol.starts_with("cudaDevice");
            assert!(own || twin("_ptsz") || old, "{name} is {symbol}");
        }
    }
}
