//! The table of PyCUDA's tests, `tests/pycuda.md`: it is whole, and the counterparts exist under their names.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::holes::{read_tests, tests_of};

/// The functions of `test/test_driver.py` of PyCUDA 2026.1, in its order.
const TESTS: &[&str] = &[
    "test_memory",
    "test_simple_kernel",
    "test_simple_kernel_2",
    "test_vector_types",
    "test_streamed_kernel",
    "test_gpuarray",
    "test_gpuarray_cai",
    "donottest_cublas_mixing",
    "test_2d_texture",
    "test_multiple_2d_textures",
    "test_multichannel_2d_texture",
    "test_multichannel_linear_texture",
    "test_2d_fp_textures",
    "test_2d_fp_textures_layered",
    "test_3d_fp_textures",
    "test_3d_fp_surfaces",
    "test_2d_fp_surfaces",
    "test_large_smem",
    "test_bitlog",
    "test_mempool_2",
    "test_mempool",
    "test_multi_context",
    "test_additional_primary_context",
    "test_3d_texture",
    "test_prepared_invocation",
    "test_prepared_with_vector",
    "test_fp_textures",
    "test_constant_memory",
    "test_register_host_memory",
    "test_recursive_launch",
    "test_jit_link_module",
    "test_pointer_holder_base",
    "test_pass_cai_array",
    "test_import_pyopencl_before_pycuda",
];

/// Name, kind and evidence or reason of each row.
fn rows(text: &str) -> Vec<[String; 3]> {
    let cells = |line: &str| -> Option<[String; 4]> {
        let line = line.strip_prefix('|')?.strip_suffix('|')?;
        line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>().try_into().ok()
    };
    let rows = text.lines().filter_map(cells).skip(2);
    rows.map(|[name, _what, kind, evidence]| [name, kind, evidence]).collect()
}

/// The tests of the name that there are anywhere, and whether each is ignored.
fn everywhere() -> BTreeMap<String, bool> {
    let (mut tests, root) = (BTreeMap::new(), Path::new(env!("CARGO_MANIFEST_DIR")));
    let mut folders = vec![root.join("tests"), root.join("dlpack/tests")];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                tests.extend(read_tests(&fs::read_to_string(&path).unwrap_or_default()));
            }
        }
    }
    tests
}

/// The mistake in a row.
fn wrong([name, kind, evidence]: &[String; 3], all: &BTreeMap<String, bool>) -> Option<String> {
    let found = match kind.as_str() {
        "test" => match tests_of(evidence.trim_matches('`')).get(name) {
            None => format!("there is no such test in {evidence}"),
            Some(true) => format!("the test in {evidence} is ignored"),
            Some(false) => return None,
        },
        "none" if all.contains_key(name) => "there is a test of that name".to_owned(),
        "none" if evidence.is_empty() => "no reason is given".to_owned(),
        "none" => return None,
        _ => format!("{kind} is no kind"),
    };
    Some(format!("{name}: {found}"))
}

#[test]
fn each_test_of_pycuda_has_its_row_and_its_counterpart() {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pycuda.md")).unwrap();
    let rows = rows(&text);
    let names: Vec<&str> = rows.iter().map(|[name, ..]| name.as_str()).collect();
    assert_eq!(names, TESTS);
    let all = everywhere();
    let wrong: Vec<_> = rows.iter().filter_map(|row| wrong(row, &all)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn mistakes_in_a_counterpart_are_seen() {
    let all = BTreeMap::from([("test_memory".to_owned(), false)]);
    let told =
        |name: &str, kind: &str, evidence: &str| wrong(&[name, kind, evidence].map(str::to_owned), &all);
    assert_eq!(told("test_memory", "test", "`pycuda_driver`"), None);
    assert!(
        told("test_memory", "test", "`pycuda_textures`").is_some_and(|told| told.contains("no such test"))
    );
    assert!(told("is_no_evidence", "test", "`holes`").is_some_and(|told| told.contains("is ignored")));
    assert!(told("test_memory", "none", "why").is_some_and(|told| told.contains("of that name")));
    assert!(told("test_other", "none", "").is_some_and(|told| told.contains("no reason")));
    assert!(told("test_other", "perhaps", "why").is_some_and(|told| told.contains("no kind")));
    assert_eq!(told("test_other", "none", "why"), None);
}
