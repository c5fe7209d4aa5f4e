//! Registered OpenGL resources.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuprum_sys::*;

use crate::opengl::{self, Kind as Shape, RENDERBUFFER};
use crate::report::LeakKind;

use crate::driver::answer::{Answer, INVALID_HANDLE, INVALID_VALUE, OUT_OF_MEMORY, ensure};
use crate::driver::call::{Call, Kind, Leaked, Out, Table, calls, not_supported, put_handle};
use crate::driver::context::Context;
use crate::driver::handle::Handle;
use crate::driver::state::scheduler;

use super::contents::Contents;
use super::gl::gl;

static RESOURCES: Table<Resource> = Table::new(Kind::Graphics)
    .owned_by(|resource: &Resource| resource.context.handle)
    .leak(LeakKind::Graphics, |_, _| Leaked::Yes);

/// The flags shared by registering and mapping.
const READ_ONLY: u32 = CUgraphicsRegisterFlags::CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY.0;
const WRITE_DISCARD: u32 = CUgraphicsRegisterFlags::CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD.0;
const SURFACE: u32 = CUgraphicsRegisterFlags::CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST.0;
const GATHER: u32 = CUgraphicsRegisterFlags::CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER.0;

/// A buffer or image of OpenGL.
#[derive(Debug)]
pub(super) struct Resource {
    pub(super) context: Arc<Context>,
    /// Identifies its context of OpenGL.
    gl: u64,
    pub(super) name: u32,
    pub(super) kind: ResourceKind,
    state: Mutex<State>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum ResourceKind {
    /// A buffer object, with its size at registration, which stays fixed.
    Buffer {
        bytes: usize,
    },
    Image {
        target: u32,
        array_flags: u32,
    },
}

#[derive(Debug)]
pub(super) struct State {
    /// `READ_ONLY`, `WRITE_DISCARD` or neither.
    flags: u32,
    pub(super) mapped: Option<Contents>,
    /// Unmapped memory that work of the context may still use.
    unmapped: Vec<Contents>,
}

impl State {
    /// Releases a mapping. Unmapping does not wait for the work of other streams, so the memory is
    /// kept until a call that may free it.
    pub(super) fn give_up(&mut self, contents: Contents, context: &Context) {
        self.unmapped.push(contents);
        if scheduler().is_free_to_end(context.handle) {
            self.unmapped.drain(..).for_each(|contents| contents.release(context));
        }
    }

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

    /// Returns the context of OpenGL that is current on this thread. Fails unless it owns this
    /// resource: OpenGL does not report which contexts share objects.
    pub(super) fn gl(&self) -> Answer<Box<dyn opengl::Context>> {
        let gl = gl()?;
        ensure(gl.identity() == self.gl, CUresult::CUDA_ERROR_INVALID_GRAPHICS_CONTEXT)?;
        Ok(gl)
    }

    /// Like the rest of this file, checks in the order of an H100 with driver 580.
    fn buffer(context: Arc<Context>, name: u32, flags: u32) -> Answer<Self> {
        ensure(matches!(flags, 0 | READ_ONLY | WRITE_DISCARD) && name != 0, INVALID_VALUE)?;
        let gl = gl()?;
        let bytes = gl.buffer_bytes(name).ok_or(INVALID_HANDLE)?;
        ensure(bytes > 0, OUT_OF_MEMORY)?;
        Ok(Self::new(context, gl.as_ref(), name, ResourceKind::Buffer { bytes }, flags))
    }

    fn image(context: Arc<Context>, name: u32, target: u32, flags: u32) -> Answer<Self> {
        let known = READ_ONLY | WRITE_DISCARD | SURFACE | GATHER;
        ensure(flags & !known == 0 && name != 0 && target != 0, INVALID_VALUE)?;
        let gl = gl()?;
        if target == RENDERBUFFER {
            return Err(not_supported(
                "the software device copies textures, and no renderbuffers: render to a texture, and register that",
            ));
        }
        ensure(Shape::of(target).is_some(), INVALID_VALUE)?;
        ensure(gl.is_texture(name), INVALID_HANDLE)?;
        // A driver accepts a wrong target for a texture, which is useless; here it is refused.
        ensure(gl.image(name, target).is_some(), INVALID_VALUE)?;
        let uses = [(SURFACE, CUDA_ARRAY3D_SURFACE_LDST), (GATHER, CUDA_ARRAY3D_TEXTURE_GATHER)];
        let array_flags = uses.iter().filter(|(flag, _)| flags & flag != 0).map(|(_, use_)| use_).sum();
        Ok(Self::new(context, gl.as_ref(), name, ResourceKind::Image { target, array_flags }, flags))
    }

    fn new(
        context: Arc<Context>,
        gl: &dyn opengl::Context,
        name: u32,
        kind: ResourceKind,
        flags: u32,
    ) -> Self {
        let state = Mutex::new(State {
            flags: flags & (READ_ONLY | WRITE_DISCARD),
            mapped: None,
            unmapped: Vec::new(),
        });
        Self { context, gl: gl.identity(), name, kind, state }
    }
}

fn devices(count: Out<u32>, list: Out<i32>, room: u32, which: CUGLDeviceList) -> Answer {
    gl()?;
    count.check()?;
    list.check()?;
    count.set(0)?;
    ensure(which.name().is_some(), INVALID_VALUE)?;
    // OpenGL runs on the host, so the first device is as close as any.
    list.set_all(&[0], room as usize)?;
    count.set(1)
}

fn register(
    call: &Call,
    out: Out<CUgraphicsResource>,
    make: impl FnOnce(Arc<Context>) -> Answer<Resource>,
) -> Answer {
    out.check()?;
    let context = call.context_outside_captures()?;
    put_handle(out, RESOURCES.insert(make(context)?))
}

/// Waits for work that uses its mappings. Fails while it is mapped, or if no context of OpenGL is
/// current; it stays registered then.
fn unregister(handle: CUgraphicsResource) -> Answer {
    let resource = Resource::find(handle)?;
    resource.context.check()?;
    gl()?;
    ensure(resource.state().mapped.is_none(), CUresult::CUDA_ERROR_ALREADY_MAPPED)?;
    let unmapped = std::mem::take(&mut resource.state().unmapped);
    unmapped.into_iter().for_each(|contents| contents.release(&resource.context));
    RESOURCES.remove(handle.addr()).map(drop).ok_or(INVALID_HANDLE)
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

    fn cuGraphicsUnregisterResource(_call, resource: CUgraphicsResource) {
        unregister(resource)
    }
}
