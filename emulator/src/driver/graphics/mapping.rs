//! Maps resources for the work of a stream, and unmaps them.

use std::sync::Arc;

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_HANDLE, INVALID_VALUE, ensure};
use crate::driver::call::{Call, InMut, Out, calls, put_handle};
use crate::driver::state::captures;
use crate::driver::stream::StreamRef;

use super::contents::Contents;
use super::resource::{Resource, State};

/// Returns the stream and the named resources, which must be of its context.
fn named(
    call: &Call,
    count: u32,
    resources: InMut<CUgraphicsResource>,
    stream: CUstream,
) -> Answer<(StreamRef, Vec<Arc<Resource>>)> {
    ensure(count > 0, INVALID_VALUE)?;
    let handles = resources.input().get_all(count as usize)?;
    let mut found = Vec::with_capacity(handles.len());
    for handle in handles {
        found.push(Resource::find(handle)?);
    }
    let stream = call.stream(stream)?;
    let own = found.iter().all(|resource| resource.context.handle == stream.context().handle);
    ensure(own, INVALID_HANDLE)?;
    captures().forbid_wait(stream.lane())?;
    Ok((stream, found))
}

/// Maps resources. OpenGL commands issued before complete before it provides the contents.
fn map(all: &[Arc<Resource>]) -> Answer {
    for (index, resource) in all.iter().enumerate() {
        let mapped = map_one(resource);
        if mapped.is_err() {
            // If one fails, none stays mapped.
            for mapped in &all[..index] {
                let contents = mapped.state().mapped.take();
                if let Some(contents) = contents {
                    contents.release(&mapped.context);
                }
            }
            return mapped;
        }
    }
    Ok(())
}

fn map_one(resource: &Resource) -> Answer {
    let mut state = resource.state();
    resource.gl()?;
    ensure(state.mapped.is_none(), CUresult::CUDA_ERROR_ALREADY_MAPPED)?;
    state.mapped = Some(Contents::map(resource, &state)?);
    Ok(())
}

/// Unmaps resources. Work queued before on the stream completes before OpenGL gets the contents;
/// other streams are not waited for.
fn unmap(stream: &StreamRef, all: &[Arc<Resource>]) -> Answer {
    for resource in all {
        ensure(resource.state().mapped.is_some(), CUresult::CUDA_ERROR_NOT_MAPPED)?;
        // Unmaps nothing unless OpenGL can take all of it.
        resource.gl()?;
    }
    stream.wait()?;
    for resource in all {
        let mut state = resource.state();
        let contents = mapped(&state)?;
        contents.write_back(resource, &state)?;
        if let Some(contents) = state.mapped.take() {
            state.give_up(contents, &resource.context);
        }
    }
    Ok(())
}

fn mapped(state: &State) -> Answer<&Contents> {
    state.mapped.as_ref().ok_or(CUresult::CUDA_ERROR_NOT_MAPPED)
}

calls! {
    fn cuGraphicsMapResources(
        call,
        count: u32,
        resources: InMut<CUgraphicsResource>,
        hStream: CUstream,
    ) {
        let (_stream, all) = named(call, count, resources, hStream)?;
        map(&all)
    }

    fn cuGraphicsUnmapResources(
        call,
        count: u32,
        resources: InMut<CUgraphicsResource>,
        hStream: CUstream,
    ) {
        let (stream, all) = named(call, count, resources, hStream)?;
        unmap(&stream, &all)
    }

    fn cuGraphicsResourceGetMappedPointer_v2(
        _call,
        pDevPtr: Out<u64>,
        pSize: Out<usize>,
        resource: CUgraphicsResource,
    ) {
        let resource = Resource::find(resource)?;
        let (address, bytes) = mapped(&resource.state())?.buffer()?;
        pDevPtr.set_if_wanted(address);
        pSize.set_if_wanted(bytes as usize);
        Ok(())
    }

    fn cuGraphicsSubResourceGetMappedArray(
        _call,
        pArray: Out<CUarray>,
        resource: CUgraphicsResource,
        arrayIndex: u32,
        mipLevel: u32,
    ) {
        pArray.check()?;
        let resource = Resource::find(resource)?;
        let array = mapped(&resource.state())?.array(arrayIndex, mipLevel)?;
        put_handle(pArray, array)
    }

    fn cuGraphicsResourceGetMappedMipmappedArray(
        _call,
        pMipmappedArray: Out<CUmipmappedArray>,
        resource: CUgraphicsResource,
    ) {
        pMipmappedArray.check()?;
        let resource = Resource::find(resource)?;
        let mipmap = mapped(&resource.state())?.mipmap()?;
        put_handle(pMipmappedArray, mipmap)
    }
}
