//! Memory of other APIs, and its mappings.

use std::sync::Arc;

use cuprum_sys::*;

use crate::memory::{ExternalMemory, RegionKind, Request};
use crate::report::LeakKind;

use crate::driver::answer::{Answer, INVALID_VALUE, OUT_OF_MEMORY, ensure};
use crate::driver::call::{Call, In, Kind, Leaked, Out, Table, calls, not_supported, put_handle};
use crate::driver::context::Context;
use crate::driver::handle::Handle;
use crate::driver::state::memory;
use crate::driver::texture::{Made, create_mipmap_in};

use super::refused::NOT_A_DESCRIPTOR;

static MEMORIES: Table<Imported> = Table::new(Kind::ExternalMemory)
    .owned_by(|imported: &Imported| imported.context.handle)
    .leak(LeakKind::ExternalMemory, |imported, _| Leaked::Bytes(imported.bytes));

/// Memory of another API. Its mappings outlive it.
#[derive(Debug)]
struct Imported {
    context: Arc<Context>,
    memory: ExternalMemory,
    /// The size that the client stated.
    bytes: u64,
}

impl Imported {
    fn find(handle: CUexternalMemory) -> Answer<Arc<Self>> {
        MEMORIES.get(handle.addr()).ok_or(INVALID_VALUE)
    }

    /// Imports the memory. Takes over the descriptor if it succeeds.
    fn new(context: Arc<Context>, desc: &CUDA_EXTERNAL_MEMORY_HANDLE_DESC) -> Answer<Self> {
        use CUexternalMemoryHandleType as T;

        match desc.type_ {
            T::CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD => {}
            known if known.name().is_some() => return Err(not_supported(NOT_A_DESCRIPTOR)),
            _ => return Err(INVALID_VALUE),
        }
        ensure(desc.size > 0 && desc.flags & !CUDA_EXTERNAL_MEMORY_DEDICATED == 0, INVALID_VALUE)?;
        // SAFETY: the type says that the client set this member, which is a number.
        let descriptor = unsafe { desc.handle.fd };
        let memory = ExternalMemory::import(descriptor).ok_or(CUresult::CUDA_ERROR_UNKNOWN)?;
        ensure(desc.size <= memory.bytes(), INVALID_VALUE)?;
        ExternalMemory::close(descriptor);
        Ok(Self { context, memory, bytes: desc.size })
    }

    fn map(&self, offset: u64, bytes: u64, kind: RegionKind) -> Answer<u64> {
        let end = offset.checked_add(bytes).ok_or(INVALID_VALUE)?;
        ensure(bytes > 0 && end <= self.bytes, INVALID_VALUE)?;
        let (handle, device) = (self.context.handle as u64, self.context.device as u32);
        let request = Request { kind, ..Request::device(bytes, handle, device) };
        let region = memory().map_external(&self.memory, offset, &request);
        Ok(region.ok_or(OUT_OF_MEMORY)?.base)
    }
}

fn map_mipmap(
    call: &Call,
    out: Out<CUmipmappedArray>,
    memory: CUexternalMemory,
    desc: &CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC,
) -> Answer {
    call.context()?;
    let memory = Imported::find(memory)?;
    let mut place = |bytes| memory.map(desc.offset, bytes, RegionKind::External);
    let context = Arc::clone(&memory.context);
    put_handle(out, create_mipmap_in(context, desc.arrayDesc, desc.numLevels, Made::Mipmap, &mut place)?)
}

calls! {
    objects MEMORIES;

    fn cuImportExternalMemory(
        call,
        extMem_out: Out<CUexternalMemory>,
        memHandleDesc: In<CUDA_EXTERNAL_MEMORY_HANDLE_DESC>,
    ) {
        extMem_out.check()?;
        let desc = memHandleDesc.get()?;
        put_handle(extMem_out, MEMORIES.insert(Imported::new(call.context()?, &desc)?))
    }

    fn cuExternalMemoryGetMappedBuffer(
        call,
        devPtr: Out<u64>,
        extMem: CUexternalMemory,
        bufferDesc: In<CUDA_EXTERNAL_MEMORY_BUFFER_DESC>,
    ) {
        devPtr.check()?;
        call.context()?;
        let desc = bufferDesc.get()?;
        ensure(desc.flags == 0, INVALID_VALUE)?;
        devPtr.set(Imported::find(extMem)?.map(desc.offset, desc.size, RegionKind::External)?)
    }

    fn cuExternalMemoryGetMappedMipmappedArray(
        call,
        mipmap: Out<CUmipmappedArray>,
        extMem: CUexternalMemory,
        mipmapDesc: In<CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC>,
    ) {
        mipmap.check()?;
        map_mipmap(call, mipmap, extMem, &mipmapDesc.get()?)
    }

    fn cuDestroyExternalMemory(_call, extMem: CUexternalMemory) {
        MEMORIES.remove(extMem.addr()).ok_or(INVALID_VALUE)?.context.check()
    }
}
