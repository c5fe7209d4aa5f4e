//! Mesa's OpenGL in software: fetched into `.cache/mesa`, found by variables of a child's
//! environment.

use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// The variables by which a child finds it.
pub fn environment() -> [(&'static str, String); 4] {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    // Programs with this module also run in a copy of the repository at another path.
    let root = std::env::current_dir().expect("the repository");
    let folder = root.join(".cache/mesa");
    {
        let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let fetched =
            Command::new(root.join("tests/opengl/fetch.sh")).arg(&folder).status().expect("a shell");
        assert!(fetched.success(), "Mesa is fetched: {fetched}");
    }
    let at = |file: &str| folder.join(file).to_str().expect("a path in UTF-8").to_owned();
    let libraries = at("usr/lib/x86_64-linux-gnu");
    [
        ("LIBGL_DRIVERS_PATH", format!("{libraries}/dri")),
        ("LD_LIBRARY_PATH", format!("{libraries}:{}", at("lib/x86_64-linux-gnu"))),
        ("__EGL_VENDOR_LIBRARY_FILENAMES", at("usr/share/glvnd/egl_vendor.d/50_mesa.json")),
        ("LIBGL_ALWAYS_SOFTWARE", "1".to_owned()),
    ]
}
