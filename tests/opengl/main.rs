//! Buffers and images of OpenGL: over a stand-in for OpenGL, without any, and over OpenGL that EGL
//! finds.
//!
//! A program of its own, because the failures here make drops swallow errors, and OpenGL's
//! libraries are loaded into the process. Mesa's libraries are fetched into `.cache/mesa`, unless
//! `CUPRUM_OPENGL=system` selects the machine's.
//!
//!     cargo test -p cuprum --test opengl -- --include-ignored

#[cfg(target_os = "linux")]
mod by_egl;
mod hostile;
mod stood_in;
mod without;

#[cfg(target_os = "linux")]
use cuprum_testing::egl;
#[cfg(target_os = "linux")]
use cuprum_testing::mesa;
use cuprum_testing::{child, common, sampling};
