//! Compiles an image to a program, and describes its errors.

use std::sync::Arc;

use cuprum_sys::*;

use crate::message::{self, Message};
use crate::program::{LoadOptions, Program, PtxError};

use crate::driver::answer::Answer;
use crate::driver::call::Text;
use crate::driver::state::settings;

use super::image::Image;
use super::jit::{Options, RegisterLimit};
use super::joined::Joined;
use super::named::Named;
use super::refused::Refused;

/// A program, and the registers that its kernels may use.
#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) program: Arc<Named>,
    pub(super) registers: RegisterLimit,
}

/// Compiles an image. The log goes to the client.
pub(super) fn compile(image: Image, options: &Options) -> Answer<Compiled> {
    compile_or(image, options, &Refused::of)
}

/// Like [`compile`], with another description of errors in the PTX.
pub(super) fn compile_or(
    image: Image,
    options: &Options,
    refusal: &dyn Fn(&PtxError) -> Refused,
) -> Answer<Compiled> {
    try_compile(image, options, refusal)?
}

/// Like [`compile_or`], but distinguishes errors of the image from errors of the call.
pub(super) fn try_compile(
    image: Image,
    options: &Options,
    refusal: &dyn Fn(&PtxError) -> Refused,
) -> Answer<Answer<Compiled>> {
    let target = target();
    let loaded = image.ptx(target.compute_capability)?.and_then(|ptx| {
        let registers = options.registers().and(RegisterLimit::marked(&ptx));
        let program = match Joined::inputs_in(&ptx) {
            Some(inputs) => Program::link(&inputs, &target),
            None => Program::load(&ptx, &target),
        };
        let program = program.map_err(|error| refusal(&error))?;
        Ok(Compiled { program: Arc::new(Named::new(program)), registers })
    });
    match loaded {
        Ok(compiled) => {
            options.nothing()?;
            Ok(Ok(compiled))
        }
        Err(Refused { code, log }) => {
            options.error(&log)?;
            message::tell(&Message::ModuleRefused { code, log: &log });
            Ok(Err(code))
        }
    }
}

/// Returns the device that code is compiled for, and the PTX version that the driver accepts.
pub(super) fn target() -> LoadOptions {
    let (major, minor) = settings().compute_capability;
    let newest_ptx = newest_ptx(settings().driver_version).unwrap_or_default();
    LoadOptions { compute_capability: major * 10 + minor, newest_ptx }
}

/// Reads a module's file and appends a NUL, because it may be text.
pub(super) fn read_file(path: Text) -> Answer<Vec<u8>> {
    let bytes = std::fs::read(path.get()?);
    let mut bytes = bytes.map_err(|_| CUresult::CUDA_ERROR_FILE_NOT_FOUND)?;
    bytes.push(0);
    Ok(bytes)
}
