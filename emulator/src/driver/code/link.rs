//! The linker of the driver: joins PTX into one module.
//!
//! Several inputs become one text ([`super::joined`]). The device runtime library is our own
//! ([`super::device_runtime`]). Inputs other than PTX are refused.

use core::ffi::c_void;
use std::slice;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cuprum_sys::*;

use crate::message::{self, Message};
use crate::program::{Program, PtxError, PtxErrorKind};
use crate::report::LeakKind;

use crate::driver::answer::{Answer, INVALID_HANDLE, INVALID_VALUE, ensure};
use crate::driver::call::{InMut, Kind, Leaked, Out, Table, Text, calls, put_handle};
use crate::driver::handle::Handle;

use super::compile::{compile_or, read_file, target};
use super::device_runtime::{defines_runtime, is_device_runtime};
use super::image::Image;
use super::jit::Options;
use super::joined::Joined;
use super::refused::Refused;

const ONLY_PTX: &str =
    "only PTX, fat binaries with PTX and libcudadevrt.a can be linked for the software device";

static LINKS: Table<Link> = Table::new(Kind::Link).leak(LeakKind::Link, |_, _| Leaked::Yes);

#[derive(Debug)]
pub(crate) struct Link {
    options: Options,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    joined: Joined,
    /// The result with its NUL, which lives as long as the linker.
    output: Option<Box<[u8]>>,
    /// True after a request to complete it, whether or not it succeeded.
    is_over: bool,
    /// True after an input that contradicts an earlier one, which ends the link.
    is_refused: bool,
}

impl Link {
    fn find(handle: CUlinkState) -> Answer<std::sync::Arc<Self>> {
        LINKS.get(handle.addr()).ok_or(INVALID_HANDLE)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an input. The log goes to the client.
    fn add(&self, kind: CUjitInputType, bytes: &[u8], name: &str) -> Answer {
        ensure(!self.state().is_over, INVALID_VALUE)?;
        ensure(!self.state().is_refused, CUresult::CUDA_ERROR_INVALID_SOURCE)?;
        let Err(Refused { code, log }) = self.take(kind, bytes, name)? else { return Ok(()) };
        self.options.error(&log)?;
        message::tell(&Message::InputRefused { name, code, log: &log });
        Err(code)
    }

    fn take(&self, kind: CUjitInputType, bytes: &[u8], name: &str) -> Answer<Result<(), Refused>> {
        match kind {
            CUjitInputType::CU_JIT_INPUT_PTX | CUjitInputType::CU_JIT_INPUT_FATBINARY => {}
            CUjitInputType::CU_JIT_INPUT_LIBRARY if is_device_runtime(bytes) => {
                self.state().joined.add_device_runtime();
                return Ok(Ok(()));
            }
            // Code for link-time optimization has its own header, which hardware checks first.
            CUjitInputType::CU_JIT_INPUT_CUBIN | CUjitInputType::CU_JIT_INPUT_NVVM
                if !bytes.starts_with(b"\x7fELF") =>
            {
                return Ok(Err(Refused::garbage()));
            }
            CUjitInputType::CU_JIT_INPUT_CUBIN => return Ok(Err(Refused::machine_code("it"))),
            known if known.name().is_some() => {
                return Ok(Err(Refused::new(CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU, ONLY_PTX)));
            }
            _ => return Err(INVALID_VALUE),
        }
        let mut terminated = bytes.to_vec();
        terminated.push(0);
        let (target, image) = (target(), Image::in_buffer(&terminated));
        let ptx = image.ptx(target.compute_capability)?;
        let is_runtime = || match &ptx {
            Ok(text) => defines_runtime(text),
            // It may have code for newer devices only.
            Err(_) => image.is_device_runtime(),
        };
        if kind == CUjitInputType::CU_JIT_INPUT_FATBINARY && is_runtime() {
            self.state().joined.add_device_runtime();
            return Ok(Ok(()));
        }
        Ok(ptx.and_then(|ptx| {
            Program::check_input(&ptx, &target).map_err(|error| Refused::of(&error))?;
            let mut state = self.state();
            let added = state.joined.add(name, &ptx);
            state.is_refused =
                added.as_ref().is_err_and(|refused| refused.code == CUresult::CUDA_ERROR_INVALID_SOURCE);
            added
        }))
    }
}

/// Translates the refusal of the joined text to the input that caused it.
fn refusal_of_input(joined: &Joined, error: &PtxError) -> Refused {
    let Some((name, line)) = joined.origin(error.line) else { return Refused::of(error) };
    let Refused { mut code, log } = Refused::of(&PtxError { line, ..error.clone() });
    if matches!(error.kind, PtxErrorKind::Unresolved | PtxErrorKind::Conflict) {
        code = CUresult::CUDA_ERROR_INVALID_SOURCE;
    }
    Refused::new(code, format!("input `{name}` of the link: {log}"))
}

calls! {
    objects LINKS;

    /// The options of CUDA 5.5 have the layout of later ones in 64 bits: an H200 answers alike by
    /// both names of this function and of the next two.
    fn [cuLinkCreate, cuLinkCreate_v2](
        call,
        numOptions: u32,
        options: InMut<CUjit_option>,
        optionValues: Out<*mut c_void>,
        stateOut: Out<CUlinkState>,
    ) {
        call.context()?;
        stateOut.check()?;
        let options = Options::read(numOptions, options, optionValues)?;
        put_handle(stateOut, LINKS.insert(Link { options, state: Mutex::default() }))
    }

    /// The name is optional.
    fn [cuLinkAddData, cuLinkAddData_v2](
        _call,
        state: CUlinkState,
        type_: CUjitInputType,
        data: *mut c_void,
        size: usize,
        name: Text,
        _numOptions: u32,
        _options: InMut<CUjit_option>,
        _optionValues: Out<*mut c_void>,
    ) {
        let link = Link::find(state)?;
        ensure(!data.is_null() && size > 0, INVALID_VALUE)?;
        // SAFETY: the client's input, not null, has the stated size during the call.
        let bytes = unsafe { slice::from_raw_parts(data.cast::<u8>(), size) };
        link.add(type_, bytes, &name.get().unwrap_or_default())
    }

    fn [cuLinkAddFile, cuLinkAddFile_v2](
        _call,
        state: CUlinkState,
        type_: CUjitInputType,
        path: Text,
        _numOptions: u32,
        _options: InMut<CUjit_option>,
        _optionValues: Out<*mut c_void>,
    ) {
        Link::find(state)?.add(type_, &read_file(path)?, &path.get()?)
    }

    /// The result is PTX again, which the driver loads like machine code.
    fn cuLinkComplete(
        _call,
        state: CUlinkState,
        cubinOut: Out<*mut c_void>,
        sizeOut: Out<usize>,
    ) {
        cubinOut.check()?;
        let link = Link::find(state)?;
        let mut state = link.state();
        ensure(state.output.is_none(), INVALID_HANDLE)?;
        state.is_over = true;
        ensure(!state.is_refused, CUresult::CUDA_ERROR_INVALID_SOURCE)?;
        let text = state.joined.text() + &link.options.registers().mark();
        let bytes: Box<[u8]> = text.bytes().chain([0]).collect();
        let refusal = |error: &PtxError| refusal_of_input(&state.joined, error);
        compile_or(Image::in_buffer(&bytes), &link.options, &refusal)?;
        sizeOut.set_if_wanted(bytes.len());
        let output = state.output.insert(bytes);
        cubinOut.set(output.as_mut_ptr().cast())
    }

    fn cuLinkDestroy(_call, state: CUlinkState) {
        LINKS.remove(state.addr()).map(drop).ok_or(INVALID_HANDLE)
    }
}
