//! Sets the library's name to the one under which programs load the CUDA driver.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var_os("CARGO_CFG_UNIX").is_some() {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
        // Threads and fork handlers still use it after a program has closed it.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
