//! Registered resources.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuprum_sys::*;

use crate::opengl::{self, RENDERBUFFER};
use crate::report::LeakKind;

use crate::driver::answer::{Answer, INVALID_HANDLE, INVALID_VALUE, ensure};
use crate::driver::call::{Call, Kind, Leaked, Out, Table, calls, not_supported, put_handle};
use crate::driver::context::Context;
use crate::driver::handle::Handle;

use super::contents::Contents;
use super::gl;

/// What is registered.
static RESOURCES: Table<Resource> = Table::new(Kind::Graphics)
    .owned_by(|resource: &Resource| resource.context.handle)
    .leak(LeakKind::Graphics, |_, _| Leaked::Yes);

/// The uses that flags of registering and of mapping have in common.
const READ_ONLY: u32 = CUgraphicsRegisterFlags::CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY.0;
const WRITE_DISCARD: u32 = CUgraphicsRegisterFlags::CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD.0;
const SURFACE: u32 = CUgraphicsRegisterFlags::CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST.0;
const GATHER: u32 = CUgraphicsRegisterFlags::CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER.0;

/// A buffer or image of OpenGL.
#[derive(Debug)]
pub(super) struct Resource {
    pub(super) context: Arc<Context>,
    /// The context of OpenGL that has it.
    gl: u64,
    pub(super) name: u32,
    /// The target of an image.
    pub(super) target: Option<u32>,
    state: Mutex<State>,
    /// Flags of the arrays of an image.
    pub(super) array_flags: u32,
}

/// What changes of it.
#[derive(Debug)]
pub(super) struct State {
    /// `READ_ONLY`, `WRITE_DISCARD` or neither.
    flags: u32,
    pub(super) mapped: Option<Contents>,
}

impl State {
    /// True if mapping copies the contents in.
    pub(super) fn is_read(&self) -> bool {
        self.flags != WRITE_DISCARD
    }

    /// True if unmapping copies the contents out.
    pub(super) fn is_written(&self) -> bool {
        self.flags != READ_ONLY
    }
}

impl Resource {
    pub(super) fn find(handle: CUgraphicsResource) -> Answer<Arc<Self>> {
        RESOURCES.get(handle.addr()).ok_or(INVALID_HANDLE)
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The context of OpenGL that is current on this thread, if it has this resource. Which contexts share their objects,
    /// OpenGL does not tell, so that it has to be the same.
    pub(super) fn gl(&self) -> Answer<Box<dyn opengl::Context>> {
        let gl = gl()?;
        ensure(gl.identity() == self.gl, CUresult::CUDA_ERROR_INVALID_GRAPHICS_CONTEXT)?;
        Ok(gl)
    }

    fn buffer(context: Arc<Context>, name: u32, flags: u32) -> Answer<Self> {
        let gl = gl()?;
        ensure(matches!(flags, 0 | READ_ONLY | WRITE_DISCARD), INVALID_VALUE)?;
        ensure(gl.buffer_bytes(name).is_some_and(|bytes| bytes > 0), INVALID_VALUE)?;
        Ok(Self::new(context, gl.identity(), name, None, flags))
    }

    fn image(context: Arc<Context>, name: u32, target: u32, flags: u32) -> Answer<Self> {
        let gl = gl()?;
        ensure(flags & !(READ_ONLY | WRITE_DISCARD | SURFACE | GATHER) == 0, INVALID_VALUE)?;
        ensure(flags & (READ_ONLY | WRITE_DISCARD) != READ_ONLY | WRITE_DISCARD, INVALID_VALUE)?;
        if target == RENDERBUFFER {
            return Err(not_supported(
                "the software device copies textures, and no renderbuffers: render to a texture, and register that",
            ));
        }
        ensure(gl.image(name, target).is_some(), INVALID_VALUE)?;
        Ok(Self::new(context, gl.identity(), name, Some(target), flags))
    }

    fn new(context: Arc<Context>, gl: u64, name: u32, target: Option<u32>, flags: u32) -> Self {
        let uses = [(SURFACE, CUDA_ARRAY3D_SURFACE_LDST), (GATHER, CUDA_ARRAY3D_TEXTURE_GATHER)];
        let array_flags = uses.iter().filter(|(flag, _)| flags & flag != 0).map(|(_, use_)| use_).sum();
        let state = Mutex::new(State { flags: flags & (READ_ONLY | WRITE_DISCARD), mapped: None });
        Self { context, gl, name, target, state, array_flags }
    }
}

fn devices(count: Out<u32>, list: Out<i32>, room: u32, which: CUGLDeviceList) -> Answer {
    count.check()?;
    ensure(which.name().is_some(), INVALID_VALUE)?;
    gl()?;
    // OpenGL is on the host: the first device is as near to it as any.
    list.set_all(&[0], room as usize)?;
    count.set(1)
}

fn register(
    call: &Call,
    out: Out<CUgraphicsResource>,
    make: impl FnOnce(Arc<Context>) -> Answer<Resource>,
) -> Answer {
    out.check()?;
    put_handle(out, RESOURCES.insert(make(call.context()?)?))
}

calls! {
    objects RESOURCES;

    fn [cuGLGetDevices, cuGLGetDevices_v2](
        _call,
        pCudaDeviceCount: Out<u32>,
        pCudaDevices: Out<i32>,
        cudaDeviceCount: u32,
        deviceList: CUGLDeviceList,
    ) {
        devices(pCudaDeviceCount, pCudaDevices, cudaDeviceCount, deviceList)
    }

    fn cuGraphicsGLRegisterBuffer(call, pCudaResource: Out<CUgraphicsResource>, buffer: u32, Flags: u32) {
        register(call, pCudaResource, |context| Resource::buffer(context, buffer, Flags))
    }

    fn cuGraphicsGLRegisterImage(
        call,
        pCudaResource: Out<CUgraphicsResource>,
        image: u32,
        target: u32,
        Flags: u32,
    ) {
        register(call, pCudaResource, |context| Resource::image(context, image, target, Flags))
    }

    fn [cuGraphicsResourceSetMapFlags, cuGraphicsResourceSetMapFlags_v2](
        _call,
        resource: CUgraphicsResource,
        flags: u32,
    ) {
        let resource = Resource::find(resource)?;
        ensure(matches!(flags, 0 | READ_ONLY | WRITE_DISCARD), INVALID_VALUE)?;
        let mut state = resource.state();
        ensure(state.mapped.is_none(), CUresult::CUDA_ERROR_ALREADY_MAPPED)?;
        state.flags = flags;
        Ok(())
    }

    /// What is mapped is not copied out.
    fn cuGraphicsUnregisterResource(_call, resource: CUgraphicsResource) {
        let resource = RESOURCES.remove(resource.addr()).ok_or(INVALID_HANDLE)?;
        let mapped = resource.state().mapped.take();
        if let Some(contents) = mapped {
            contents.release(&resource.context);
        }
        resource.context.check()
    }
}
