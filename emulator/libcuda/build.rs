//! Gives the library the name under which programs ask for the CUDA driver.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var_os("CARGO_CFG_UNIX").is_some() {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
        // Threads and forks call back into it after a program has closed it.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
