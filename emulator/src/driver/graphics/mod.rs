//! Buffers and images of OpenGL: registered, mapped, unmapped.

mod contents;
mod gl;
mod install;
mod mapping;
mod resource;

pub(crate) use install::install;
