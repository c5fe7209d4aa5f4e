//! Names, parameters, numbers and layouts, compared with NVIDIA's headers of several releases.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use cuprum_nccl::raw::{
    FnId, NCCL_CONFIG_MAGIC, NCCL_SHRINK_ABORT, ncclConfig_t, ncclDataType_t, ncclRedOp_t, ncclResult_t,
    ncclScalarResidence_t,
};

use crate::support::Failure;

/// Each release with its header and the names that its library exports.
fn releases() -> Result<BTreeMap<u32, (String, String)>, Failure> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.cache/nccl");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fetch/releases.sh");
    // The tests of a process run at once, and the first of them fetches.
    static FETCHED: OnceLock<bool> = OnceLock::new();
    let fetched = || Command::new(script).arg(&folder).status().is_ok_and(|status| status.success());
    if !FETCHED.get_or_init(fetched) {
        return Err("the headers could not be fetched".into());
    }
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(folder)? {
        let folder: PathBuf = entry?.path();
        let header = std::fs::read_to_string(folder.join("nccl.h"))?;
        let code = header.lines().find_map(|line| line.strip_prefix("#define NCCL_VERSION_CODE "));
        let code = code.ok_or("no version in a header")?.trim().parse()?;
        all.insert(code, (header, std::fs::read_to_string(folder.join("exports"))?));
    }
    Ok(all)
}

/// The declaration of a function: the types of its parameters, in the words of this crate.
fn declared(header: &str, name: &str) -> Option<String> {
    let one_line =
        header.split_whitespace().collect::<Vec<_>>().join(" ").replace("( ", "(").replace(" )", ")");
    let start = one_line.find(&format!(" {name}("))?;
    let (answer, rest) =
        (one_line[..start].rsplit([';', '/']).next()?.trim(), &one_line[start + name.len() + 2..]);
    let parameters = rest.split(')').next()?;
    let types: Vec<String> =
        parameters.split(',').map(str::trim).filter(|p| !p.is_empty()).map(type_of).collect();
    let answer = if answer.contains('*') { "*const c_char" } else { "ncclResult_t" };
    Some(format!("({}) -> {answer}", types.join(", ")))
}

/// A parameter's type. Handles that C takes as constant are taken as they are.
fn type_of(parameter: &str) -> String {
    let stars = parameter.matches('*').count();
    let words: Vec<&str> = parameter.split(['*', ' ']).filter(|word| !word.is_empty()).collect();
    let is_const = words.first() == Some(&"const");
    let name = words[usize::from(is_const)];
    let rust = match name {
        "int" => "c_int",
        "size_t" => "usize",
        "void" => "c_void",
        "char" => "c_char",
        "cudaStream_t" => "CUstream",
        other => other,
    };
    let pointer = if is_const { "*const " } else { "*mut " };
    format!("{}{rust}", pointer.repeat(stars))
}

#[test]
#[ignore = "fetches NVIDIA's headers"]
fn functions_are_those_of_the_headers() -> Result<(), Failure> {
    let releases = releases()?;
    assert!(releases.len() >= 6 && releases.keys().all(|code| (21_800..40_000).contains(code)));
    let mut compared = 0;
    for (&code, (header, exports)) in &releases {
        for &function in FnId::ALL {
            let exported = exports.lines().any(|name| name == function.name());
            assert_eq!(exported, function.since().as_raw() <= code, "{function} in {code}");
            if exported {
                let plain = |text: &str| text.replace(char::is_whitespace, "");
                let found = declared(header, function.name()).ok_or(format!("no {function} in {code}"))?;
                assert_eq!(plain(&found), plain(function.signature()), "{function} in {code}");
                compared += 1;
            }
        }
    }
    assert!(compared > 150, "only {compared}");
    Ok(())
}

#[test]
#[ignore = "fetches NVIDIA's headers"]
fn numbers_are_those_of_the_headers() -> Result<(), Failure> {
    for (code, (header, _)) in releases()? {
        let plain: String = header.split_whitespace().collect();
        let all =
            [ncclResult_t::NAMES, ncclDataType_t::NAMES, ncclRedOp_t::NAMES, ncclScalarResidence_t::NAMES];
        for (number, name) in all.concat() {
            assert!(plain.contains(&format!("{name}={number}")), "{name} = {number} in {code}");
        }
        assert!(plain.contains(&format!("{NCCL_CONFIG_MAGIC:#x}")), "{code}");
        if code >= 22_700 {
            assert!(
                header.contains(&format!("#define NCCL_SHRINK_ABORT {NCCL_SHRINK_ABORT:#04x}")),
                "{code}"
            );
        }
    }
    Ok(())
}

/// The fields of the configuration are the first ones of every release, so that its size shows
/// which it has.
#[test]
#[ignore = "fetches NVIDIA's headers"]
fn the_configuration_is_the_first_part_of_each_release() -> Result<(), Failure> {
    assert_eq!((size_of::<ncclConfig_t>(), align_of::<ncclConfig_t>()), (48, 8));
    for (code, (header, _)) in releases()? {
        let fields: Vec<&str> = header
            .lines()
            .skip_while(|line| !line.starts_with("typedef struct ncclConfig"))
            .take_while(|line| !line.starts_with('}'))
            .filter_map(|line| line.trim().strip_suffix(';'))
            .collect();
        let ours = [
            "size_t size",
            "unsigned int magic",
            "unsigned int version",
            "int blocking",
            "int cgaClusterSize",
            "int minCTAs",
            "int maxCTAs",
            "const char *netName",
            "int splitShare",
        ];
        assert_eq!(fields.get(..ours.len()), Some(&ours[..]), "{code}");
    }
    Ok(())
}
