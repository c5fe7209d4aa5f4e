//! Texture and surface objects: handles by which kernels access arrays and linear memory.

use std::sync::Arc;

use cuprum_sys::*;

use crate::exec::texture::{self, Object};

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};
use crate::driver::call::{In, Kind, Out, Table, calls};
use crate::driver::context::Context;
use crate::driver::device;

use super::format;
use super::resource::{Resource, longest_line};
use super::sampler::sampler;

/// The client's description, kept for queries.
#[derive(Debug)]
struct Kept(CUDA_RESOURCE_DESC);

// SAFETY: its pointers are handles, which are numbers here.
unsafe impl Send for Kept {}
// SAFETY: as above.
unsafe impl Sync for Kept {}

static TEXTURES: Table<Texture> =
    Table::new(Kind::Texture).owned_by(|texture: &Texture| texture.context.handle);

static SURFACES: Table<Surface> =
    Table::new(Kind::Surface).owned_by(|surface: &Surface| surface.context.handle);

#[derive(Debug)]
pub(crate) struct Texture {
    pub(crate) context: Arc<Context>,
    resource: Kept,
    sampling: CUDA_TEXTURE_DESC,
    view: CUDA_RESOURCE_VIEW_DESC,
    object: Arc<Object>,
}

#[derive(Debug)]
pub(crate) struct Surface {
    pub(crate) context: Arc<Context>,
    resource: Kept,
    object: Arc<Object>,
}

pub(crate) fn find(handle: u64, surface: bool) -> texture::Handle {
    fn among<T: Send + Sync + 'static>(
        table: &Table<T>,
        handle: u64,
        object: impl Fn(&T) -> &Arc<Object>,
    ) -> texture::Handle {
        let Ok(handle) = usize::try_from(handle) else { return texture::Handle::Unknown };
        match table.get(handle) {
            Some(found) => texture::Handle::Live(Arc::clone(object(&found))),
            None if table.was_given(handle) => texture::Handle::Destroyed,
            None => texture::Handle::Unknown,
        }
    }
    match surface {
        true => among(&SURFACES, handle, |surface| &surface.object),
        false => among(&TEXTURES, handle, |texture| &texture.object),
    }
}

fn create_texture(
    context: Arc<Context>,
    resource: CUDA_RESOURCE_DESC,
    sampling: CUDA_TEXTURE_DESC,
    view: Option<CUDA_RESOURCE_VIEW_DESC>,
) -> Answer<usize> {
    let found = Resource::find(&resource)?;
    let sampler = sampler(&sampling, found.shape)?;
    let mut kept = view.unwrap_or(CUDA_RESOURCE_VIEW_DESC::zeroed());
    let viewed = if view.is_some() { found.viewed(&mut kept)? } else { found };
    let object = viewed.object(Some(sampler));
    Ok(TEXTURES.insert(Texture { context, resource: Kept(resource), sampling, view: kept, object }))
}

fn create_surface(context: Arc<Context>, resource: CUDA_RESOURCE_DESC) -> Answer<usize> {
    ensure(resource.resType == CUresourcetype::CU_RESOURCE_TYPE_ARRAY, INVALID_VALUE)?;
    let object = Resource::find(&resource)?.object(None);
    Ok(SURFACES.insert(Surface { context, resource: Kept(resource), object }))
}

fn object_of<T: Send + Sync + 'static>(table: &Table<T>, handle: u64) -> Answer<Arc<T>> {
    let handle = usize::try_from(handle).map_err(|_| INVALID_VALUE)?;
    table.get(handle).ok_or(INVALID_VALUE)
}

/// Destroys an object. Like drivers, accepts any number.
fn destroy<T: Send + Sync + 'static>(table: &Table<T>, handle: u64) {
    if let Ok(handle) = usize::try_from(handle) {
        drop(table.remove(handle));
    }
}

calls! {
    objects TEXTURES;
    objects SURFACES;

    fn cuTexObjectCreate(
        call,
        pTexObject: Out<u64>,
        pResDesc: In<CUDA_RESOURCE_DESC>,
        pTexDesc: In<CUDA_TEXTURE_DESC>,
        pResViewDesc: In<CUDA_RESOURCE_VIEW_DESC>,
    ) {
        let context = call.context_outside_captures()?;
        pTexObject.check()?;
        let view = if pResViewDesc.is_null() { None } else { Some(pResViewDesc.get()?) };
        pTexObject.set(create_texture(context, pResDesc.get()?, pTexDesc.get()?, view)? as u64)
    }

    fn cuTexObjectDestroy(call, texObject: u64) {
        call.context_outside_captures()?;
        destroy(&TEXTURES, texObject);
        Ok(())
    }

    fn cuTexObjectGetResourceDesc(_call, pResDesc: Out<CUDA_RESOURCE_DESC>, texObject: u64) {
        pResDesc.set(object_of(&TEXTURES, texObject)?.resource.0)
    }

    fn cuTexObjectGetTextureDesc(_call, pTexDesc: Out<CUDA_TEXTURE_DESC>, texObject: u64) {
        // An H100's driver does not report the border color.
        pTexDesc.set(CUDA_TEXTURE_DESC { borderColor: [0.0; 4], ..object_of(&TEXTURES, texObject)?.sampling })
    }

    fn cuTexObjectGetResourceViewDesc(
        _call,
        pResViewDesc: Out<CUDA_RESOURCE_VIEW_DESC>,
        texObject: u64,
    ) {
        pResViewDesc.set(object_of(&TEXTURES, texObject)?.view)
    }

    fn cuSurfObjectCreate(call, pSurfObject: Out<u64>, pResDesc: In<CUDA_RESOURCE_DESC>) {
        let context = call.context_outside_captures()?;
        pSurfObject.check()?;
        pSurfObject.set(create_surface(context, pResDesc.get()?)? as u64)
    }

    fn cuSurfObjectDestroy(call, surfObject: u64) {
        call.context_outside_captures()?;
        destroy(&SURFACES, surfObject);
        Ok(())
    }

    fn cuSurfObjectGetResourceDesc(_call, pResDesc: Out<CUDA_RESOURCE_DESC>, surfObject: u64) {
        pResDesc.set(object_of(&SURFACES, surfObject)?.resource.0)
    }

    fn cuDeviceGetTexture1DLinearMaxWidth(
        _call,
        maxWidthInElements: Out<usize>,
        format: CUarray_format,
        numChannels: u32,
        dev: i32,
    ) {
        device::check(dev)?;
        let format = format::of_array(format, numChannels)?;
        maxWidthInElements.set(longest_line(format) as usize)
    }
}
