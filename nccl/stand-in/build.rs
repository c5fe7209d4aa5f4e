//! Gives the library the name under which programs ask for NCCL.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var_os("CARGO_CFG_UNIX").is_some() {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libnccl.so.2");
        // Its threads go on after a program has closed it.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
