//! Links the "program" `cuprum-trace-library` as a shared library with the name under which
//! programs ask for the CUDA driver.
//!
//! `cargo install` installs programs and no libraries; this makes it install one all the same. The
//! code is in the crate's library, because the code of a program is compiled for a program.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=exports.map");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
        let argument = |argument: &str| {
            println!("cargo::rustc-link-arg-bin=cuprum-trace-library={argument}");
        };
        argument("-shared");
        argument("-Wl,-soname,libcuda.so.1");
        // Threads and forks call back into it after a program has closed it.
        argument("-Wl,-z,nodelete");
        // Its own table leads to its own functions, even if the process exports the same names
        // elsewhere.
        argument("-Wl,-Bsymbolic");
        argument(&format!("-Wl,--version-script={folder}/exports.map"));
    }
}
