//! The header matches the code: `CUPRUM_HEADER=overwrite cargo test -p cuprum-arrays` writes it.

use std::path::Path;
use std::{env, fs};

use cbindgen::{Builder, Config, DocumentationLength, DocumentationStyle, Language};

const HEAD: &str = "/* Device arrays for C and for languages that call C. Generated from src/lib.rs by tests/header.rs: do not edit.\n\
    \n\
    Each function returns ARRAYS_OK or an error code; arrays_last_error returns its message. Any function may be called\n\
    on any thread. Nothing has to be freed before the process ends. */";

#[test]
fn the_header_is_that_of_the_code() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = Config {
        language: Language::C,
        header: Some(HEAD.to_owned()),
        include_guard: Some("CUPRUM_ARRAYS_H".to_owned()),
        no_includes: true,
        sys_includes: vec!["stddef.h".to_owned(), "stdint.h".to_owned()],
        cpp_compat: true,
        usize_is_size_t: true,
        documentation_style: DocumentationStyle::C99,
        documentation_length: DocumentationLength::Full,
        ..Config::default()
    };
    let made =
        Builder::new().with_config(config).with_src(folder.join("src/lib.rs")).generate().expect("C of it");
    let mut bytes = Vec::new();
    made.write(&mut bytes);
    let made = String::from_utf8(bytes).expect("text");
    let (path, overwrite) =
        (folder.join("include/arrays.h"), env::var("CUPRUM_HEADER").is_ok_and(|it| it == "overwrite"));
    if overwrite {
        fs::write(&path, &made).expect("the header is written");
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        there == made,
        "include/arrays.h is stale: CUPRUM_HEADER=overwrite writes it. It should be:\n{made}"
    );
}
