//! Our declarations against NVIDIA's headers, as a C compiler sees them: the size, alignment and
//! every field of every struct, every constant, and the parameters of every function, down to the
//! targets of pointers.
//!
//! `cargo test -p cuprum-sys --test declarations -- --ignored`: fetches the headers as Python
//! wheels on the first run (x86-64 Linux, `cc`, `readelf`, `python3` with pip, network) and fails
//! when it cannot.

/// The list of the crate, as a list of its lines.
mod fns {
    use core::ffi::{c_char, c_void};

    use cuprum_sys::{enums::*, structs::*, types::*};
    use cuprum_testing::list_of;

    cuprum_sys::for_each_function!(list_of);
}

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use cuprum_testing::processes::{cache, run};

use crate::declared::{self, Constant, Type, declared_type};
use crate::dwarf::{CTypes, Place};

/// Number of items of each kind that a header shares with us; fewer found means that the comparison
/// is broken.
struct Counts {
    structs: usize,
    members: usize,
    constants: usize,
    macros: usize,
    functions: usize,
}

#[test]
#[ignore = "fetches headers"]
fn cuda_11_7() {
    let counts = Counts { structs: 45, members: 326, constants: 619, macros: 44, functions: 522 };
    older("11.7", &counts);
}

#[test]
#[ignore = "fetches headers"]
fn cuda_11_8() {
    let counts = Counts { structs: 46, members: 347, constants: 654, macros: 51, functions: 526 };
    older("11.8", &counts);
}

#[test]
#[ignore = "fetches headers"]
fn cuda_12_0() {
    let counts = Counts { structs: 52, members: 375, constants: 704, macros: 58, functions: 553 };
    older("12.0", &counts);
}

#[test]
#[ignore = "fetches headers"]
fn cuda_12_9() {
    let counts = Counts { structs: 84, members: 508, constants: 853, macros: 70, functions: 637 };
    older("12.9", &counts);
}

#[test]
#[ignore = "fetches headers"]
fn cuda_13_0() {
    let counts = Counts { structs: 85, members: 516, constants: 883, macros: 70, functions: 652 };
    older("13.0", &counts);
}

/// The release that our declarations follow: nothing differs, nothing is missing on either side.
#[test]
#[ignore = "fetches headers"]
fn cuda_13_5() {
    let counts = Counts { structs: 99, members: 592, constants: 999, macros: 72, functions: 706 };
    let report = compare("13.5", &counts);
    assert_eq!(report.differences, DEVIATIONS);
    assert_eq!(report.only_there, BTreeSet::from(INTERNAL.map(str::to_owned)), "in the header and not here");
    assert_eq!(report.only_here, BTreeSet::from(REMOVED.map(str::to_owned)), "here and not in the header");
}

/// The newest header today: common items must agree, additional ones are printed.
#[test]
#[ignore = "fetches headers"]
fn newest() {
    let counts = Counts { structs: 99, members: 592, constants: 999, macros: 72, functions: 706 };
    let report = compare("newest", &counts);
    println!("in the newest header and not here: {:?}", report.only_there);
    assert_eq!(report.differences, DEVIATIONS);
}

/// The members of a struct that C lays over `CUmemLocation.id`, and that is a type by itself here.
const DEVIATIONS: [&str; 2] = [
    "CUmemLocation_v1.localized.deviceId: missing here",
    "CUmemLocation_v1.localized.localityDomainId: missing here",
];

/// Visible to NVIDIA's own sources only.
const INTERNAL: [&str; 1] = ["CU_LAUNCH_ATTRIBUTE_MAX"];

/// Items of this crate alone, and of older headers.
const REMOVED: [&str; 10] = [
    "CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS_V2",
    "CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS",
    "CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR_V2",
    "CU_TARGET_COMPUTE_101",
    "CU_TARGET_COMPUTE_101A",
    "CU_TARGET_COMPUTE_101F",
    "CU_TARGET_COMPUTE_20",
    "CU_TARGET_COMPUTE_21",
    "FORKED",
    "UNRESOLVED",
];

/// Compares with a release before ours: all differences must be known.
fn older(release: &str, counts: &Counts) {
    let report = compare(release, counts);
    let known = include_str!("../data/older_headers.tsv").lines().skip(1).filter_map(|row| {
        let (of, difference) = row.split_once('\t').unwrap();
        (of == release).then(|| difference.split_once('\t').unwrap().0)
    });
    assert_eq!(report.differences, known.collect::<Vec<_>>());
}

/// Compares with one release.
fn compare(release: &str, counts: &Counts) -> Report {
    let header = Header::read(release);
    let mut report = Report::default();
    let structs = compare_structs(&header, &mut report);
    let constants = compare_constants(&header, &mut report);
    let macros = compare_macros(&header, &mut report);
    let functions = compare_functions(&header, &mut report);
    let members = report.members;
    println!(
        "CUDA {release}: {structs} structs with {members} members, {constants} constants, {macros} macros, \
         {functions} functions compared, {} differences",
        report.differences.len()
    );
    for (what, found, least) in [
        ("structs", structs, counts.structs),
        ("members", members, counts.members),
        ("constants", constants, counts.constants),
        ("macros", macros, counts.macros),
        ("functions", functions, counts.functions),
    ] {
        assert!(found >= least, "only {found} {what} compared with the header of {release}, not {least}");
    }
    report
}

#[derive(Default)]
struct Report {
    members: usize,
    differences: Vec<String>,
    only_here: BTreeSet<String>,
    only_there: BTreeSet<String>,
}

impl Report {
    fn same<T: PartialEq + std::fmt::Display>(&mut self, item: &str, ours: T, theirs: T) {
        if ours != theirs {
            self.differences.push(format!("{item}: {ours} here, {theirs} there"));
        }
    }
}

/// One release's headers, as compiled.
struct Header {
    types: CTypes,
    /// Every function that is declared.
    functions: BTreeSet<String>,
    /// Output of the compiled program: `align STRUCT` and `macro NAME`.
    numbers: BTreeMap<String, u64>,
}

/// Includes everything, as NVIDIA's own library does: with all ABI revisions under their own names.
const INCLUDES: &str = "#define __CUDA_API_VERSION_INTERNAL
#include <stdio.h>
#include <cuda.h>
#include <cudaGL.h>
#if __has_include(<cudaProfiler.h>)
#include <cudaProfiler.h>
#endif
";

impl Header {
    fn read(release: &str) -> Self {
        let compiler = Compiler { include: fetched(release), folder: scratch(release) };
        let functions = compiler.declared_functions();

        let mut source = INCLUDES.to_owned();
        for function in &functions {
            writeln!(source, "__typeof__({function}) *p_{function};").unwrap();
        }
        let types = CTypes::of_object(&compiler.object("types", &source));

        let mut source = format!("{INCLUDES}int main(void) {{\n");
        for name in types.structs().keys() {
            writeln!(source, "printf(\"align {name} %zu\\n\", _Alignof({name}));").unwrap();
        }
        for Constant { name, .. } in declared::constants::constants() {
            writeln!(source, "#ifdef {name}").unwrap();
            writeln!(source, "printf(\"macro {name} %llu\\n\", (unsigned long long)({name}));\n#endif")
                .unwrap();
        }
        source.push_str("}\n");
        let numbers = run(&mut Command::new(compiler.program("numbers", &source)));
        let numbers = numbers.lines().map(|line| {
            let (item, number) = line.rsplit_once(' ').unwrap();
            (item.to_owned(), number.parse().unwrap())
        });
        Self { types, functions, numbers: numbers.collect() }
    }
}

struct Compiler {
    include: PathBuf,
    folder: PathBuf,
}

impl Compiler {
    fn cc(&self, name: &str, source: &str) -> Command {
        // The graphics headers are not needed for two numbers.
        std::fs::create_dir_all(self.folder.join("GL")).unwrap();
        std::fs::write(self.folder.join("GL/gl.h"), "typedef unsigned GLuint, GLenum;\n").unwrap();
        let file = self.folder.join(name).with_extension("c");
        std::fs::write(&file, source).unwrap();
        let mut command = Command::new("cc");
        command.args(["-w", "-I"]).arg(&self.folder).arg("-I").arg(&self.include).arg(file);
        command
    }

    /// The names of all driver functions, found in the preprocessed text.
    fn declared_functions(&self) -> BTreeSet<String> {
        let text = run(self.cc("text", INCLUDES).args(["-E", "-P"]));
        let names = text.split("CUresult").skip(1).filter_map(|after| after.trim_start().split_once('('));
        let is_name =
            |name: &str| name.starts_with("cu") && name.chars().all(|c| c == '_' || c.is_alphanumeric());
        names.map(|(name, _)| name.trim().to_owned()).filter(|name| is_name(name)).collect()
    }

    fn object(&self, name: &str, source: &str) -> PathBuf {
        let object = self.folder.join(name).with_extension("o");
        let flags = ["-g", "-gdwarf-4", "-fno-eliminate-unused-debug-types", "-c", "-o"];
        run(self.cc(name, source).args(flags).arg(&object));
        object
    }

    fn program(&self, name: &str, source: &str) -> PathBuf {
        let program = self.folder.join(name);
        run(self.cc(name, source).arg("-o").arg(&program));
        program
    }
}

/// A folder for the files made on the way.
fn scratch(release: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("abi").join(release);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn fetched(release: &str) -> PathBuf {
    static FETCH: Mutex<()> = Mutex::new(());
    let _one_at_a_time = FETCH.lock();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fetch/headers.sh");
    let folder = cache().join("headers");
    run(Command::new(script).arg(&folder));
    folder.join(release).join("include")
}

// Structs and unions.

fn compare_structs(header: &Header, report: &mut Report) -> usize {
    let mut compared = 0;
    for (name, theirs) in header.types.structs() {
        let Some(ours) = declared_type(&name) else {
            if name.starts_with("CU") {
                report.only_there.insert(name);
            }
            continue;
        };
        compared += 1;
        report.same(&format!("size of {name}"), ours.size as u64, theirs.size);
        let align = header.numbers[&format!("align {name}")];
        report.same(&format!("alignment of {name}"), ours.align as u64, align);
        let mut places = BTreeMap::new();
        places_of(ours, 0, "", &theirs.members, &mut places);
        for (path, theirs) in &theirs.members {
            report.members += 1;
            match places.get(path) {
                Some(ours) => report.same(&format!("{name}.{path}"), ours, theirs),
                None => report.differences.push(format!("{name}.{path}: missing here")),
            }
        }
    }
    compared
}

/// The places of a type's fields by their C paths.
///
/// If C has a member of that path, the field is it. Otherwise the field stands for a part without a
/// name or type name in C, and its contents are compared.
fn places_of(
    ours: &Type,
    base: u64,
    prefix: &str,
    theirs: &BTreeMap<String, Place>,
    places: &mut BTreeMap<String, Place>,
) {
    for field in ours.fields {
        let keyword = field.name.trim_end_matches('_');
        let name = if theirs.contains_key(&format!("{prefix}{keyword}")) { keyword } else { field.name };
        let path = format!("{prefix}{name}");
        let offset = base + field.offset as u64;
        let inner = declared_type(field.type_name);
        if let (Some(inner), false) = (inner, theirs.contains_key(&path)) {
            let dotted = format!("{path}.");
            let named = theirs.keys().any(|theirs| theirs.starts_with(&dotted));
            places_of(inner, offset, if named { &dotted } else { prefix }, theirs, places);
        } else {
            places.insert(path, Place { offset, size: field.size as u64 });
        }
    }
}

// Constants.

fn compare_constants(header: &Header, report: &mut Report) -> usize {
    let ours = declared::enums::ENUMS
        .iter()
        .flat_map(|declared| declared.constants.iter().map(|(value, name)| (*name, (*value, declared.name))));
    let ours: BTreeMap<_, _> = ours.collect();
    let mut compared = 0;
    let theirs = header.types.constants();
    let only_here = ours.keys().filter(|name| !theirs.contains_key(**name));
    report.only_here.extend(only_here.map(|name| (*name).to_owned()));
    for (name, theirs) in theirs {
        match ours.get(name.as_str()) {
            Some((value, of)) => {
                compared += 1;
                report.same(&format!("{of}::{name}"), *value, theirs);
            }
            None => _ = report.only_there.insert(name),
        }
    }
    compared
}

fn compare_macros(header: &Header, report: &mut Report) -> usize {
    let mut compared = 0;
    for Constant { name, bits: ours, .. } in declared::constants::constants() {
        let Some(theirs) = header.numbers.get(&format!("macro {name}")) else {
            report.only_here.insert(name.to_owned());
            continue;
        };
        compared += 1;
        // -1 is as many bits as the type that takes it.
        let bits = if ours <= u64::from(u32::MAX) { u64::from(u32::MAX) } else { u64::MAX };
        report.same(name, ours, theirs & bits);
    }
    compared
}

// Functions.

fn compare_functions(header: &Header, report: &mut Report) -> usize {
    let theirs = header.types.functions();
    assert_eq!(theirs.len(), header.functions.len());
    let mut ours = BTreeMap::new();
    for line in fns::lines() {
        let parameters: Vec<_> = line.parameters.iter().map(|name| plain_name(name)).collect();
        if !line.twin.is_empty() {
            ours.insert(format!("{}_{}", line.name, line.twin), parameters.clone());
        }
        ours.insert(line.name.to_owned(), parameters);
    }
    let mut compared = 0;
    report.only_here.extend(ours.keys().filter(|name| !theirs.contains_key(*name)).cloned());
    for (name, theirs) in theirs {
        match ours.get(&name) {
            Some(ours) => {
                compared += 1;
                let same_name = |name: &String| our_name(&header.types.innermost_name(name));
                let ours: Vec<_> = ours.iter().map(same_name).collect();
                let theirs: Vec<_> = theirs.iter().map(same_name).collect();
                report.same(&name, ours.join(", "), theirs.join(", "));
            }
            None => _ = report.only_there.insert(name),
        }
    }
    compared
}

/// A type's name, with or without `*` before, after our aliases: some types have a new one in a
/// newer header.
fn our_name(name: &str) -> String {
    let target = name.trim_start_matches('*');
    let alias = declared::structs::ALIASES.iter().find(|alias| alias.0 == target);
    format!("{}{}", &name[..name.len() - target.len()], alias.map_or(target, |alias| alias.1))
}

/// A Rust type's name without paths, with `*` for both kinds of pointer and `fn(A, B) -> C` for a
/// callback.
fn plain_name(name: &str) -> String {
    if let Some(target) = name.strip_prefix("*mut ").or(name.strip_prefix("*const ")) {
        return format!("*{}", plain_name(target));
    }
    if let Some(callback) = name.strip_prefix("core::option::Option<unsafe extern \"C\" fn(") {
        let (parameters, result) = callback.trim_end_matches('>').rsplit_once(')').unwrap();
        let parameters: Vec<_> = parameters.split(", ").map(plain_name).collect();
        let result = result.strip_prefix(" -> ").map(|name| format!(" -> {}", plain_name(name)));
        return format!("fn({}){}", parameters.join(", "), result.unwrap_or_default());
    }
    name.rsplit("::").next().unwrap().into()
}
