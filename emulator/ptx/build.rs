//! Detects whether the compiler supports AVX-512 in functions, which it does from 1.89 on, and
//! whether it optimizes.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(has_avx512, unoptimized)");
    if std::env::var("OPT_LEVEL").is_ok_and(|level| level == "0") {
        println!("cargo::rustc-cfg=unoptimized");
    }
    let compiler = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let version = Command::new(compiler).arg("--version").output();
    let minor = version.ok().and_then(|output| minor_version(&String::from_utf8_lossy(&output.stdout)));
    if minor.is_some_and(|minor| minor >= 89) {
        println!("cargo::rustc-cfg=has_avx512");
    }
}

/// Returns the 89 of `rustc 1.89.0 (...)`.
fn minor_version(text: &str) -> Option<u32> {
    text.split_whitespace().nth(1)?.split('.').nth(1)?.parse().ok()
}
