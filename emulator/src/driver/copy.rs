//! Copies between host memory, device memory and arrays, of one, two and three dimensions.

use core::ffi::c_void;
use core::ops::Range;
use core::ptr;
use std::sync::Arc;

use cuprum_sys::*;

use crate::memory::{Region, RegionKind};

use super::array::Array;
use super::call::{Answer, Call, INVALID_VALUE, In, InMut, Out, calls, ensure};
use super::context::Context;
use super::operation::Operation;
use super::state::emulator;
use super::stream::StreamRef;

/// Bytes that a copy reads or writes: a range of device or host addresses.
#[derive(Debug, Clone)]
pub(super) enum Bytes {
    /// Memory of the client. Valid while the operation is pending, by the contract of the call.
    Host(*mut u8),
    /// Bytes copied away when the operation was issued.
    Staged(Arc<[u8]>),
    /// Device memory from an offset in the first region on; the regions follow each other.
    Device { regions: Arc<[Region]>, start: u64 },
}

// SAFETY: the pointers are used by one operation at a time, on whichever thread runs it; the client
// vouches for its host memory and the regions keep theirs.
unsafe impl Send for Bytes {}
// SAFETY: as above.
unsafe impl Sync for Bytes {}

impl Bytes {
    /// A range given by a device address.
    pub(super) fn device(address: u64, len: u64) -> Answer<Self> {
        let regions = emulator().memory.cover(address, len.max(1));
        let regions: Arc<[Region]> = regions.ok_or(INVALID_VALUE)?.into();
        Ok(Self::Device { regions, start: address })
    }

    /// A range given by a host address, which may be that of device memory.
    pub(super) fn host(pointer: *mut u8, len: u64) -> Answer<Self> {
        ensure(!pointer.is_null(), INVALID_VALUE)?;
        let address = pointer.addr() as u64;
        let memory = &emulator().memory;
        if memory.is_device_address(address) || memory.find(address).is_some() {
            return Self::device(address, len);
        }
        Ok(Self::Host(pointer))
    }

    /// Whether it is host memory that the driver does not know.
    pub(super) fn is_pageable(&self) -> bool {
        matches!(self, Self::Host(_) | Self::Staged(_))
    }

    /// Whether it is memory that only the device reaches.
    pub(super) fn is_of_device(&self) -> bool {
        matches!(self, Self::Device { regions, .. } if !regions.iter().any(|region| region.kind.host_visible()))
    }

    /// Whether it is page-locked host memory.
    fn is_locked(&self) -> bool {
        let locked = |region: &Region| is_host_kind(region.kind);
        matches!(self, Self::Device { regions, .. } if regions.iter().any(locked))
    }

    /// The address of the first byte, as the client gave it.
    pub(super) fn address(&self) -> u64 {
        match self {
            Self::Host(pointer) => pointer.addr() as u64,
            Self::Staged(bytes) => bytes.as_ptr().addr() as u64,
            Self::Device { start, .. } => *start,
        }
    }

    /// A pointer to the byte at `offset`, and how many bytes lie there in one piece.
    fn at(&self, offset: u64) -> Option<(*mut u8, u64)> {
        match self {
            Self::Host(pointer) => Some((pointer.wrapping_add(usize::try_from(offset).ok()?), u64::MAX)),
            Self::Staged(bytes) => {
                let rest = bytes.get(usize::try_from(offset).ok()?..)?;
                Some((rest.as_ptr().cast_mut(), rest.len() as u64))
            }
            Self::Device { regions, start } => {
                let address = start.checked_add(offset)?;
                let region = region_of(regions, address)?;
                let inside = address - region.base;
                let pointer = region.host.wrapping_add(usize::try_from(inside).ok()?);
                Some((pointer, region.len - inside))
            }
        }
    }

    /// Marks bytes as written.
    pub(super) fn mark_written(&self, offset: u64, len: u64) {
        if let Self::Device { regions, start } = self {
            let address = start + offset;
            if let Some(region) = region_of(regions, address) {
                if let Some(init) = &region.init {
                    init.set(address - region.base, len);
                }
            }
        }
    }

    /// Calls `visit` with each piece of the range: pointer and length.
    pub(super) fn pieces(&self, mut offset: u64, len: u64, mut visit: impl FnMut(*mut u8, usize)) -> Answer {
        let end = offset + len;
        while offset < end {
            let (pointer, available) = self.at(offset).ok_or(INVALID_VALUE)?;
            let count = available.min(end - offset);
            visit(pointer, count as usize);
            self.mark_written(offset, count);
            offset += count;
        }
        Ok(())
    }
}

fn region_of(regions: &[Region], address: u64) -> Option<&Region> {
    regions.iter().find(|region| region.contains(address, 1))
}

/// One side of a copy: bytes, and the distances between rows and between slices of rows.
#[derive(Debug, Clone)]
struct Side {
    bytes: Bytes,
    pitch: u64,
    slice: u64,
}

/// The size of what is copied: bytes in a row, rows, slices.
#[derive(Debug, Clone, Copy)]
struct Extent {
    width: u64,
    height: u64,
    depth: u64,
}

impl Extent {
    /// Bytes from the first to the last one touched.
    fn span(self, pitch: u64, slice: u64) -> Option<u64> {
        let rows = pitch.checked_mul(self.height.checked_sub(1)?)?;
        let slices = slice.checked_mul(self.depth.checked_sub(1)?)?;
        rows.checked_add(slices)?.checked_add(self.width)
    }
}

/// Bytes that a copy moves at a time.
const PIECE: u64 = 1 << 20;

/// A copy, checked and ready to run.
#[derive(Debug, Clone)]
pub(super) struct Copy {
    from: Side,
    to: Side,
    extent: Extent,
}

impl Copy {
    /// A copy of `len` bytes in a row.
    pub(super) fn linear(to: Bytes, from: Bytes, len: u64) -> Self {
        let side = |bytes| Side { bytes, pitch: 0, slice: 0 };
        let extent = Extent { width: len, height: 1, depth: 1 };
        Self { from: side(from), to: side(to), extent }
    }

    /// Bytes in all.
    pub(super) fn len(&self) -> u64 {
        let Extent { width, height, depth } = self.extent;
        width * height * depth
    }

    /// Whether one end is page-locked host memory, so that the device copies without the host.
    pub(super) fn has_locked_end(&self) -> bool {
        self.from.bytes.is_locked() || self.to.bytes.is_locked()
    }

    /// Copies in pieces, all but the first `done` bytes; `before` is told the number of each piece.
    pub(super) fn run(&self, done: u64, before: impl Fn(u64)) -> Answer {
        let mut at = done;
        for piece in 0.. {
            let end = self.len().min(at + PIECE);
            if at >= end {
                break;
            }
            before(piece);
            self.run_part(at..end)?;
            at = end;
        }
        Ok(())
    }

    /// Copies some of the bytes, which are counted row by row.
    pub(super) fn run_part(&self, part: Range<u64>) -> Answer {
        let Extent { width, height, .. } = self.extent;
        let mut at = part.start;
        while at < part.end {
            let (row, inside) = (at / width, at % width);
            let (y, z) = (row % height, row / height);
            let from = z * self.from.slice + y * self.from.pitch + inside;
            let to = z * self.to.slice + y * self.to.pitch + inside;
            let count = (width - inside).min(part.end - at);
            copy_row(&self.from.bytes, from, &self.to.bytes, to, count)?;
            at += count;
        }
        Ok(())
    }

    /// The copy as the C structure for graphs has it; every address is already that of the corner.
    pub(super) fn describe(&self) -> CUDA_MEMCPY3D {
        let kind = |bytes: &Bytes| match bytes {
            Bytes::Device { .. } => CUmemorytype::CU_MEMORYTYPE_DEVICE,
            Bytes::Host(_) | Bytes::Staged(_) => CUmemorytype::CU_MEMORYTYPE_HOST,
        };
        let host = |bytes: &Bytes| ptr::without_provenance_mut(bytes.address() as usize);
        let rows = |side: &Side| match side.pitch {
            0 => self.extent.height as usize,
            pitch => (side.slice / pitch) as usize,
        };
        CUDA_MEMCPY3D {
            srcMemoryType: kind(&self.from.bytes),
            srcHost: host(&self.from.bytes),
            srcDevice: self.from.bytes.address(),
            srcPitch: self.from.pitch as usize,
            srcHeight: rows(&self.from),
            dstMemoryType: kind(&self.to.bytes),
            dstHost: host(&self.to.bytes),
            dstDevice: self.to.bytes.address(),
            dstPitch: self.to.pitch as usize,
            dstHeight: rows(&self.to),
            WidthInBytes: self.extent.width as usize,
            Height: self.extent.height as usize,
            Depth: self.extent.depth as usize,
            ..CUDA_MEMCPY3D::zeroed()
        }
    }

    /// Replaces pageable host memory that is read by a copy of it: the client may change it after the call.
    fn stage(mut self) -> Answer<Self> {
        if let Bytes::Host(_) = self.from.bytes {
            let Extent { width, height, depth } = self.extent;
            let bytes = usize::try_from(width * height * depth).map_err(|_| INVALID_VALUE)?;
            let mut staged = vec![0u8; bytes];
            let to = Side { bytes: Bytes::Host(staged.as_mut_ptr()), pitch: width, slice: width * height };
            let away = Self { from: self.from.clone(), to, extent: self.extent };
            away.run(0, |_| ())?;
            self.from = Side { bytes: Bytes::Staged(staged.into()), ..away.to };
        }
        Ok(self)
    }
}

fn copy_row(from: &Bytes, mut source: u64, to: &Bytes, target: u64, len: u64) -> Answer {
    let mut failed = Ok(());
    to.pieces(target, len, |mut pointer, mut count| {
        while count > 0 && failed.is_ok() {
            let Some((read, available)) = from.at(source) else {
                failed = Err(INVALID_VALUE);
                return;
            };
            let step = count.min(usize::try_from(available).unwrap_or(usize::MAX));
            // SAFETY: both pieces have `step` bytes: device memory by the regions held, host memory
            // by the contract of the call that issued the copy. They may overlap.
            unsafe { ptr::copy(read, pointer, step) };
            pointer = pointer.wrapping_add(step);
            source += step as u64;
            count -= step;
        }
    })?;
    failed
}

/// Whether the call waits for its copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wait {
    Yes,
    No,
}

/// Issues a copy. Who waits for what is as NVIDIA documents it under "API synchronization behavior", and an H100 does.
fn issue(stream: &StreamRef, copy: Copy, wait: Wait) -> Answer {
    let scheduler = &emulator().scheduler;
    if scheduler.is_eager() {
        return match wait {
            Wait::Yes => stream.push_and_wait(Operation::Copy(copy)),
            Wait::No => stream.push(Operation::Copy(copy)).map(drop),
        };
    }
    let (from, to) = (&copy.from.bytes, &copy.to.bytes);
    match wait {
        // Nothing is copied before the graph runs: what the memory holds then is what counts.
        Wait::No if emulator().captures.has(stream.lane()) => stream.push(Operation::Copy(copy)).map(drop),
        // Nobody on the host needs the bytes.
        Wait::Yes if from.is_of_device() && to.is_of_device() => stream.push(Operation::Copy(copy)).map(drop),
        // The bytes are away when the call returns, but not yet where they belong.
        Wait::Yes if from.is_pageable() && to.is_of_device() => {
            if !emulator().captures.has(stream.lane()) {
                stream.wait()?;
            }
            stream.push(Operation::Copy(copy.stage()?)).map(drop)
        }
        Wait::Yes => stream.push_and_wait(Operation::Copy(copy)),
        Wait::No if to.is_pageable() && scheduler.waits_for_pageable_memory() => {
            stream.push_and_wait(Operation::Copy(copy.stage()?))
        }
        Wait::No => stream.push(Operation::Copy(copy.stage()?)).map(drop),
    }
}

/// Issues a linear copy, unless there is nothing to copy.
fn linear(
    stream: &StreamRef,
    len: usize,
    wait: Wait,
    ends: impl FnOnce(u64) -> Answer<(Bytes, Bytes)>,
) -> Answer {
    if len == 0 {
        return Ok(());
    }
    let len = len as u64;
    let (to, from) = ends(len)?;
    issue(stream, Copy::linear(to, from, len), wait)
}

/// An address that may be one of host or device.
fn unified(address: u64, len: u64) -> Answer<Bytes> {
    let pointer = usize::try_from(address).map_err(|_| INVALID_VALUE)?;
    Bytes::host(ptr::with_exposed_provenance_mut(pointer), len)
}

fn to_device(call: &Call, stream: CUstream, wait: Wait, to: u64, from: *const c_void, len: usize) -> Answer {
    let stream = call.stream(stream)?;
    linear(&stream, len, wait, |len| Ok((Bytes::device(to, len)?, Bytes::host(from.cast_mut().cast(), len)?)))
}

fn to_host(call: &Call, stream: CUstream, wait: Wait, to: *mut c_void, from: u64, len: usize) -> Answer {
    let stream = call.stream(stream)?;
    linear(&stream, len, wait, |len| Ok((Bytes::host(to.cast(), len)?, Bytes::device(from, len)?)))
}

fn on_device(call: &Call, stream: CUstream, wait: Wait, to: u64, from: u64, len: usize) -> Answer {
    let stream = call.stream(stream)?;
    linear(&stream, len, wait, |len| Ok((Bytes::device(to, len)?, Bytes::device(from, len)?)))
}

fn anywhere(call: &Call, stream: CUstream, wait: Wait, to: u64, from: u64, len: usize) -> Answer {
    let stream = call.stream(stream)?;
    linear(&stream, len, wait, |len| Ok((unified(to, len)?, unified(from, len)?)))
}

/// A copy between devices; the addresses say which, the contexts are checked. The synchronous one comes after all work
/// of both contexts, and before all that follows.
fn between(
    call: &Call,
    stream: CUstream,
    wait: Wait,
    (to, to_context): (u64, CUcontext),
    (from, from_context): (u64, CUcontext),
    len: usize,
) -> Answer {
    let contexts = [Context::find(to_context)?, Context::find(from_context)?];
    contexts.iter().try_for_each(|context| context.check())?;
    if wait == Wait::No {
        return on_device(call, stream, wait, to, from, len);
    }
    let stream = call.stream(stream)?;
    contexts.iter().try_for_each(|context| context.synchronize())?;
    on_device(call, DEFAULT, wait, to, from, len)?;
    stream.wait()
}

/// A copy to or from an array, by byte offset in its first row.
fn array_bytes(array: CUarray, offset: usize, len: u64) -> Answer<Bytes> {
    let array = Array::find(array).map_err(|_| INVALID_VALUE)?;
    let end = (offset as u64).checked_add(len);
    ensure(end.is_some_and(|end| end <= array.row_bytes()), INVALID_VALUE)?;
    Bytes::device(array.base() + offset as u64, len)
}

/// One side of the C structures for two and three dimensions.
struct Corner {
    kind: CUmemorytype,
    host: *mut c_void,
    device: u64,
    array: CUarray,
    level: usize,
    pitch: usize,
    height: usize,
    x: usize,
    y: usize,
    z: usize,
}

impl Corner {
    fn side(&self, extent: Extent) -> Answer<Side> {
        let (x, y, z) = (self.x as u64, self.y as u64, self.z as u64);
        if self.kind == CUmemorytype::CU_MEMORYTYPE_ARRAY {
            // Levels are arrays of their own here.
            ensure(self.level == 0, INVALID_VALUE)?;
            let array = Array::find(self.array)?;
            return array_side(&array, (x, y, z), extent);
        }
        // A pitch that is not given means rows without gaps, which matters only if there are many.
        let pitch = match self.pitch as u64 {
            0 => x + extent.width,
            pitch => pitch,
        };
        let rows = match self.height as u64 {
            0 => y + extent.height,
            rows => rows,
        };
        ensure(pitch >= x + extent.width && pitch <= MAX_PITCH, INVALID_VALUE)?;
        ensure(extent.depth == 1 || rows >= y + extent.height, INVALID_VALUE)?;
        let slice = pitch.checked_mul(rows).ok_or(INVALID_VALUE)?;
        let offset = x + y * pitch + z.checked_mul(slice).ok_or(INVALID_VALUE)?;
        let span = extent.span(pitch, slice).ok_or(INVALID_VALUE)?;
        let start = |base: u64| base.checked_add(offset).ok_or(INVALID_VALUE);
        let bytes = match self.kind {
            CUmemorytype::CU_MEMORYTYPE_HOST => {
                ensure(!self.host.is_null(), INVALID_VALUE)?;
                Bytes::host(self.host.cast::<u8>().wrapping_add(offset as usize), span)?
            }
            CUmemorytype::CU_MEMORYTYPE_DEVICE => Bytes::device(start(self.device)?, span)?,
            CUmemorytype::CU_MEMORYTYPE_UNIFIED => unified(start(self.device)?, span)?,
            _ => return Err(INVALID_VALUE),
        };
        Ok(Side { bytes, pitch, slice })
    }
}

fn array_side(array: &Array, (x, y, z): (u64, u64, u64), extent: Extent) -> Answer<Side> {
    let (pitch, rows, slices) = (array.pitch(), array.rows(), array.slices());
    let inside =
        x + extent.width <= array.row_bytes() && y + extent.height <= rows && z + extent.depth <= slices;
    ensure(inside, INVALID_VALUE)?;
    let slice = pitch * rows;
    let span = extent.span(pitch, slice).ok_or(INVALID_VALUE)?;
    let bytes = Bytes::device(array.base() + x + y * pitch + z * slice, span)?;
    Ok(Side { bytes, pitch, slice })
}

/// Largest pitch that copies accept, as the device attribute says.
pub(super) const MAX_PITCH: u64 = i32::MAX as u64;

fn corners_2d(copy: &CUDA_MEMCPY2D) -> (Corner, Corner, Extent) {
    let from = Corner {
        kind: copy.srcMemoryType,
        host: copy.srcHost.cast_mut(),
        device: copy.srcDevice,
        array: copy.srcArray,
        level: 0,
        pitch: copy.srcPitch,
        height: 0,
        x: copy.srcXInBytes,
        y: copy.srcY,
        z: 0,
    };
    let to = Corner {
        kind: copy.dstMemoryType,
        host: copy.dstHost,
        device: copy.dstDevice,
        array: copy.dstArray,
        level: 0,
        pitch: copy.dstPitch,
        height: 0,
        x: copy.dstXInBytes,
        y: copy.dstY,
        z: 0,
    };
    let extent = Extent { width: copy.WidthInBytes as u64, height: copy.Height as u64, depth: 1 };
    (from, to, extent)
}

/// The two structures for three dimensions have these fields in common.
macro_rules! corners_3d {
    ($copy:expr) => {{
        let copy = $copy;
        let from = Corner {
            kind: copy.srcMemoryType,
            host: copy.srcHost.cast_mut(),
            device: copy.srcDevice,
            array: copy.srcArray,
            level: copy.srcLOD as usize,
            pitch: copy.srcPitch,
            height: copy.srcHeight,
            x: copy.srcXInBytes,
            y: copy.srcY,
            z: copy.srcZ,
        };
        let to = Corner {
            kind: copy.dstMemoryType,
            host: copy.dstHost,
            device: copy.dstDevice,
            array: copy.dstArray,
            level: copy.dstLOD as usize,
            pitch: copy.dstPitch,
            height: copy.dstHeight,
            x: copy.dstXInBytes,
            y: copy.dstY,
            z: copy.dstZ,
        };
        let extent =
            Extent { width: copy.WidthInBytes as u64, height: copy.Height as u64, depth: copy.Depth as u64 };
        (from, to, extent)
    }};
}

/// The copy that a 3D structure describes; `None` if it is empty.
pub(super) fn from_3d(copy: &CUDA_MEMCPY3D) -> Answer<Option<Copy>> {
    plan(corners_3d!(copy))
}

fn plan((from, to, extent): (Corner, Corner, Extent)) -> Answer<Option<Copy>> {
    if extent.width == 0 || extent.height == 0 || extent.depth == 0 {
        return Ok(None);
    }
    Ok(Some(Copy { from: from.side(extent)?, to: to.side(extent)?, extent }))
}

fn shaped(call: &Call, stream: CUstream, wait: Wait, corners: (Corner, Corner, Extent)) -> Answer {
    let stream = call.stream(stream)?;
    match plan(corners)? {
        Some(copy) => issue(&stream, copy, wait),
        None => Ok(()),
    }
}

const DEFAULT: CUstream = CUstream::null();

/// Copies between addresses of any kind, one after the other; tells which one failed.
fn several(
    call: &Call,
    stream: CUstream,
    to: InMut<u64>,
    from: InMut<u64>,
    sizes: InMut<usize>,
    count: usize,
    failed: impl Fn(usize),
) -> Answer {
    ensure(count > 0 && !stream.is_null(), INVALID_VALUE)?;
    let to = to.input().get_all(count)?;
    let from = from.input().get_all(count)?;
    let sizes = sizes.input().get_all(count)?;
    for (index, ((&to, &from), &size)) in to.iter().zip(&from).zip(&sizes).enumerate() {
        let copied =
            ensure(size > 0, INVALID_VALUE).and_then(|()| anywhere(call, stream, Wait::No, to, from, size));
        if let Err(code) = copied {
            failed(index);
            return Err(code);
        }
    }
    Ok(())
}

/// Both ends of a copy by operands: addresses in bytes, arrays in elements.
fn operand_corners(copy: &CUDA_MEMCPY3D_BATCH_OP) -> Answer<(Corner, Corner, Extent)> {
    let element = operand_element(&copy.src)?.or(operand_element(&copy.dst)?).unwrap_or(1);
    let CUextent3D { width, height, depth } = copy.extent;
    ensure(width > 0 && height > 0 && depth > 0, INVALID_VALUE)?;
    let width = width.checked_mul(element).ok_or(INVALID_VALUE)?;
    let extent = Extent { width: width as u64, height: height as u64, depth: depth as u64 };
    Ok((operand_corner(&copy.src, element, &extent)?, operand_corner(&copy.dst, element, &extent)?, extent))
}

/// The bytes of an element of an operand that is an array.
fn operand_element(operand: &CUmemcpy3DOperand) -> Answer<Option<usize>> {
    if operand.type_ != CUmemcpy3DOperandType::CU_MEMCPY_OPERAND_TYPE_ARRAY {
        return Ok(None);
    }
    // SAFETY: the type says that this is the member.
    let array = unsafe { operand.op.array };
    Ok(Some(Array::find(array.array)?.format.bytes() as usize))
}

fn operand_corner(operand: &CUmemcpy3DOperand, element: usize, extent: &Extent) -> Answer<Corner> {
    let nowhere = Corner {
        kind: CUmemorytype::CU_MEMORYTYPE_UNIFIED,
        host: core::ptr::null_mut(),
        device: 0,
        array: CUarray::null(),
        level: 0,
        pitch: 0,
        height: 0,
        x: 0,
        y: 0,
        z: 0,
    };
    match operand.type_ {
        CUmemcpy3DOperandType::CU_MEMCPY_OPERAND_TYPE_POINTER => {
            // SAFETY: the type says that this is the member.
            let place = unsafe { operand.op.ptr };
            // Zero stands for rows and layers without gaps.
            let pitch = match place.rowLength {
                0 => extent.width as usize,
                length => length.checked_mul(element).ok_or(INVALID_VALUE)?,
            };
            let height = if place.layerHeight == 0 { extent.height as usize } else { place.layerHeight };
            Ok(Corner { device: place.ptr, pitch, height, ..nowhere })
        }
        CUmemcpy3DOperandType::CU_MEMCPY_OPERAND_TYPE_ARRAY => {
            // SAFETY: as above.
            let place = unsafe { operand.op.array };
            let CUoffset3D { x, y, z } = place.offset;
            let x = x.checked_mul(element).ok_or(INVALID_VALUE)?;
            Ok(Corner { kind: CUmemorytype::CU_MEMORYTYPE_ARRAY, array: place.array, x, y, z, ..nowhere })
        }
        _ => Err(INVALID_VALUE),
    }
}

/// Several copies by operands.
fn several_3d(
    call: &Call,
    stream: CUstream,
    copies: InMut<CUDA_MEMCPY3D_BATCH_OP>,
    count: usize,
    flags: u64,
    failed: impl Fn(usize),
) -> Answer {
    ensure(count > 0 && flags == 0 && !stream.is_null(), INVALID_VALUE)?;
    for (index, copy) in copies.input().get_all(count)?.iter().enumerate() {
        let copied = operand_corners(copy).and_then(|corners| shaped(call, stream, Wait::No, corners));
        if let Err(code) = copied {
            failed(index);
            return Err(code);
        }
    }
    Ok(())
}

/// Whether a region is host memory for the purposes of a client that asks.
pub(super) fn is_host_kind(kind: RegionKind) -> bool {
    matches!(kind, RegionKind::Pinned | RegionKind::Registered)
}

calls! {
    fn cuMemcpyHtoD_v2(call, dstDevice: u64, srcHost: *const c_void, ByteCount: usize) {
        to_device(call, DEFAULT, Wait::Yes, dstDevice, srcHost, ByteCount)
    }

    fn cuMemcpyHtoDAsync_v2(
        call,
        dstDevice: u64,
        srcHost: *const c_void,
        ByteCount: usize,
        hStream: CUstream,
    ) {
        to_device(call, hStream, Wait::No, dstDevice, srcHost, ByteCount)
    }

    fn cuMemcpyDtoH_v2(call, dstHost: *mut c_void, srcDevice: u64, ByteCount: usize) {
        to_host(call, DEFAULT, Wait::Yes, dstHost, srcDevice, ByteCount)
    }

    fn cuMemcpyDtoHAsync_v2(
        call,
        dstHost: *mut c_void,
        srcDevice: u64,
        ByteCount: usize,
        hStream: CUstream,
    ) {
        to_host(call, hStream, Wait::No, dstHost, srcDevice, ByteCount)
    }

    fn cuMemcpyDtoD_v2(call, dstDevice: u64, srcDevice: u64, ByteCount: usize) {
        on_device(call, DEFAULT, Wait::Yes, dstDevice, srcDevice, ByteCount)
    }

    fn cuMemcpyDtoDAsync_v2(
        call,
        dstDevice: u64,
        srcDevice: u64,
        ByteCount: usize,
        hStream: CUstream,
    ) {
        on_device(call, hStream, Wait::No, dstDevice, srcDevice, ByteCount)
    }

    fn cuMemcpy(call, dst: u64, src: u64, ByteCount: usize) {
        anywhere(call, DEFAULT, Wait::Yes, dst, src, ByteCount)
    }

    fn cuMemcpyAsync(call, dst: u64, src: u64, ByteCount: usize, hStream: CUstream) {
        anywhere(call, hStream, Wait::No, dst, src, ByteCount)
    }

    fn cuMemcpyPeer(
        call,
        dstDevice: u64,
        dstContext: CUcontext,
        srcDevice: u64,
        srcContext: CUcontext,
        ByteCount: usize,
    ) {
        between(
            call, DEFAULT, Wait::Yes, (dstDevice, dstContext), (srcDevice, srcContext), ByteCount,
        )
    }

    fn cuMemcpyPeerAsync(
        call,
        dstDevice: u64,
        dstContext: CUcontext,
        srcDevice: u64,
        srcContext: CUcontext,
        ByteCount: usize,
        hStream: CUstream,
    ) {
        between(
            call, hStream, Wait::No, (dstDevice, dstContext), (srcDevice, srcContext), ByteCount,
        )
    }

    fn cuMemcpyDtoA_v2(call, dstArray: CUarray, dstOffset: usize, srcDevice: u64, ByteCount: usize) {
        linear(&call.default_stream()?, ByteCount, Wait::Yes, |len| {
            Ok((array_bytes(dstArray, dstOffset, len)?, Bytes::device(srcDevice, len)?))
        })
    }

    fn cuMemcpyAtoD_v2(call, dstDevice: u64, srcArray: CUarray, srcOffset: usize, ByteCount: usize) {
        linear(&call.default_stream()?, ByteCount, Wait::Yes, |len| {
            Ok((Bytes::device(dstDevice, len)?, array_bytes(srcArray, srcOffset, len)?))
        })
    }

    fn cuMemcpyAtoA_v2(
        call,
        dstArray: CUarray,
        dstOffset: usize,
        srcArray: CUarray,
        srcOffset: usize,
        ByteCount: usize,
    ) {
        linear(&call.default_stream()?, ByteCount, Wait::Yes, |len| {
            Ok((array_bytes(dstArray, dstOffset, len)?, array_bytes(srcArray, srcOffset, len)?))
        })
    }

    fn cuMemcpyHtoA_v2(
        call,
        dstArray: CUarray,
        dstOffset: usize,
        srcHost: *const c_void,
        ByteCount: usize,
    ) {
        linear(&call.default_stream()?, ByteCount, Wait::Yes, |len| {
            let from = Bytes::host(srcHost.cast_mut().cast(), len)?;
            Ok((array_bytes(dstArray, dstOffset, len)?, from))
        })
    }

    fn cuMemcpyHtoAAsync_v2(
        call,
        dstArray: CUarray,
        dstOffset: usize,
        srcHost: *const c_void,
        ByteCount: usize,
        hStream: CUstream,
    ) {
        linear(&call.stream(hStream)?, ByteCount, Wait::No, |len| {
            let from = Bytes::host(srcHost.cast_mut().cast(), len)?;
            Ok((array_bytes(dstArray, dstOffset, len)?, from))
        })
    }

    fn cuMemcpyAtoH_v2(
        call,
        dstHost: *mut c_void,
        srcArray: CUarray,
        srcOffset: usize,
        ByteCount: usize,
    ) {
        linear(&call.default_stream()?, ByteCount, Wait::Yes, |len| {
            let to = Bytes::host(dstHost.cast(), len)?;
            Ok((to, array_bytes(srcArray, srcOffset, len)?))
        })
    }

    fn cuMemcpyAtoHAsync_v2(
        call,
        dstHost: *mut c_void,
        srcArray: CUarray,
        srcOffset: usize,
        ByteCount: usize,
        hStream: CUstream,
    ) {
        linear(&call.stream(hStream)?, ByteCount, Wait::No, |len| {
            let to = Bytes::host(dstHost.cast(), len)?;
            Ok((to, array_bytes(srcArray, srcOffset, len)?))
        })
    }

    fn cuMemcpy2D_v2(call, pCopy: In<CUDA_MEMCPY2D>) {
        shaped(call, DEFAULT, Wait::Yes, corners_2d(&pCopy.get()?))
    }

    fn cuMemcpy2DUnaligned_v2(call, pCopy: In<CUDA_MEMCPY2D>) {
        shaped(call, DEFAULT, Wait::Yes, corners_2d(&pCopy.get()?))
    }

    fn cuMemcpy2DAsync_v2(call, pCopy: In<CUDA_MEMCPY2D>, hStream: CUstream) {
        shaped(call, hStream, Wait::No, corners_2d(&pCopy.get()?))
    }

    fn cuMemcpy3D_v2(call, pCopy: In<CUDA_MEMCPY3D>) {
        shaped(call, DEFAULT, Wait::Yes, corners_3d!(pCopy.get()?))
    }

    fn cuMemcpy3DAsync_v2(call, pCopy: In<CUDA_MEMCPY3D>, hStream: CUstream) {
        shaped(call, hStream, Wait::No, corners_3d!(pCopy.get()?))
    }

    fn cuMemcpy3DPeer(call, pCopy: In<CUDA_MEMCPY3D_PEER>) {
        shaped(call, DEFAULT, Wait::Yes, corners_3d!(pCopy.get()?))
    }

    fn cuMemcpy3DPeerAsync(call, pCopy: In<CUDA_MEMCPY3D_PEER>, hStream: CUstream) {
        shaped(call, hStream, Wait::No, corners_3d!(pCopy.get()?))
    }

    fn cuMemcpyBatchAsync(
        call,
        dsts: InMut<u64>,
        srcs: InMut<u64>,
        sizes: InMut<usize>,
        count: usize,
        _attrs: InMut<CUmemcpyAttributes>,
        _attrsIdxs: InMut<usize>,
        _numAttrs: usize,
        failIdx: Out<usize>,
        hStream: CUstream,
    ) {
        // Also what is reported when no single copy is at fault.
        failIdx.set_if_wanted(usize::MAX);
        several(call, hStream, dsts, srcs, sizes, count, |index| failIdx.set_if_wanted(index))
    }

    /// The attributes say when the source may be read, and where memory should be: at once and anywhere, here.
    fn cuMemcpyWithAttributesAsync(
        call,
        dst: u64,
        src: u64,
        size: usize,
        attr: InMut<CUmemcpyAttributes>,
        hStream: CUstream,
    ) {
        attr.input().get()?;
        ensure(!hStream.is_null(), INVALID_VALUE)?;
        anywhere(call, hStream, Wait::No, dst, src, size)
    }

    fn cuMemcpy3DWithAttributesAsync(
        call,
        op: InMut<CUDA_MEMCPY3D_BATCH_OP>,
        flags: u64,
        hStream: CUstream,
    ) {
        ensure(flags == 0, INVALID_VALUE)?;
        shaped(call, hStream, Wait::No, operand_corners(&op.input().get()?)?)
    }

    fn cuMemcpy3DBatchAsync(
        call,
        numOps: usize,
        opList: InMut<CUDA_MEMCPY3D_BATCH_OP>,
        failIdx: Out<usize>,
        flags: u64,
        hStream: CUstream,
    ) {
        failIdx.set_if_wanted(usize::MAX);
        several_3d(call, hStream, opList, numOps, flags, |index| failIdx.set_if_wanted(index))
    }

    fn cuMemcpy3DBatchAsync_v2(
        call,
        numOps: usize,
        opList: InMut<CUDA_MEMCPY3D_BATCH_OP>,
        flags: u64,
        hStream: CUstream,
    ) {
        several_3d(call, hStream, opList, numOps, flags, |_| ())
    }

    fn cuMemcpyBatchAsync_v2(
        call,
        dsts: InMut<u64>,
        srcs: InMut<u64>,
        sizes: InMut<usize>,
        count: usize,
        _attrs: InMut<CUmemcpyAttributes>,
        _attrsIdxs: InMut<usize>,
        _numAttrs: usize,
        hStream: CUstream,
    ) {
        several(call, hStream, dsts, srcs, sizes, count, |_| ())
    }
}
