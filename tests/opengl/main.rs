//! Buffers and images of OpenGL: over a stand-in for OpenGL, without any, and over OpenGL that EGL finds.
//!
//! A program of its own, because the failures here make drops swallow errors, and OpenGL's libraries are
//! loaded into the process. Mesa's libraries are fetched into `.cache/mesa`, unless `CUPRUM_OPENGL=system`
//! selects the machine's.
//!
//!     cargo test -p cuprum --test opengl -- --include-ignored

#[path = "../support/child.rs"]
mod child;
#[path = "../support/common/mod.rs"]
mod common;
#[cfg(target_os = "linux")]
#[path = "../support/egl.rs"]
mod egl;
#[cfg(target_os = "linux")]
#[path = "../support/mesa.rs"]
mod mesa;
#[path = "../support/sampling/mod.rs"]
mod sampling;

#[cfg(target_os = "linux")]
mod by_egl;
mod hostile;
mod stood_in;
mod without;
