//! The two sides of a copy of rows and slices, and the copy between them.

use std::ffi::c_void;
use std::ptr;

use cuprum_sys::{
    CUDA_MEMCPY3D, CUDA_MEMCPY3D_BATCH_OP, CUarray, CUdeviceptr, CUextent3D, CUmemLocation,
    CUmemcpy3DOperand, CUmemcpy3DOperand_op, CUmemcpy3DOperand_op_array, CUmemcpy3DOperand_op_ptr,
    CUmemcpy3DOperandType, CUmemorytype, CUoffset3D, CUresult, CUstream, FnId,
};

use super::copy::{self, Form};
use super::extent::Extent;
use super::place::kind::kinds;
use super::strides::Strides;
use super::{DeviceData, MemoryError};
use crate::context::{ContextRef, Current};
use crate::error::Error;

#[derive(Clone, Copy, Debug)]
pub(crate) enum SidePlace {
    /// At an address of the host.
    Host(*mut c_void),
    /// At an address of the device.
    Device {
        address: CUdeviceptr,
        /// True if the driver chose the pitch.
        aligned: bool,
    },
    /// In an array, from this element on.
    Array {
        raw: CUarray,
        at: [usize; 3],
        /// True if the array has slices, layers or faces.
        solid: bool,
    },
}

/// One side of a copy. It is `pub` only because a sealed trait returns it.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    pub(crate) place: SidePlace,
    /// For an array, only the extent is used.
    pub(crate) strides: Strides,
    pub(crate) element_bytes: usize,
    /// The context of a side that is not on the host.
    pub(crate) home: Option<&'a ContextRef>,
}

impl<'a> Side<'a> {
    pub(crate) fn host<T>(address: *const T, strides: Strides) -> Self {
        let place = SidePlace::Host(address.cast_mut().cast());
        Self { place, strides, element_bytes: size_of::<T>(), home: None }
    }

    pub(crate) fn device<T>(
        address: CUdeviceptr,
        aligned: bool,
        strides: Strides,
        home: &'a ContextRef,
    ) -> Self {
        let place = SidePlace::Device { address, aligned };
        Self { place, strides, element_bytes: size_of::<T>(), home: Some(home) }
    }

    pub(crate) fn array<T>(
        raw: CUarray,
        at: [usize; 3],
        extent: Extent,
        solid: bool,
        home: &'a ContextRef,
    ) -> Self {
        let strides = Strides { extent, pitch: 0, rows: 0 };
        Self {
            place: SidePlace::Array { raw, at, solid },
            strides,
            element_bytes: size_of::<T>(),
            home: Some(home),
        }
    }

    pub(crate) const fn extent(&self) -> Extent {
        self.strides.extent
    }

    fn kind(&self) -> CUmemorytype {
        match self.place {
            SidePlace::Host(_) => CUmemorytype::CU_MEMORYTYPE_HOST,
            SidePlace::Device { .. } => CUmemorytype::CU_MEMORYTYPE_DEVICE,
            SidePlace::Array { .. } => CUmemorytype::CU_MEMORYTYPE_ARRAY,
        }
    }

    const fn host_address(&self) -> *mut c_void {
        match self.place {
            SidePlace::Host(address) => address,
            _ => ptr::null_mut(),
        }
    }

    /// The address of a side in device memory; 0 for other sides.
    pub(crate) const fn device_address(&self) -> CUdeviceptr {
        match self.place {
            SidePlace::Device { address, .. } => address,
            _ => 0,
        }
    }

    const fn raw_array(&self) -> CUarray {
        match self.place {
            SidePlace::Array { raw, .. } => raw,
            _ => CUarray::null(),
        }
    }

    const fn start(&self) -> [usize; 3] {
        match self.place {
            SidePlace::Array { at, .. } => at,
            _ => [0; 3],
        }
    }

    /// True if both begin at the same device address.
    pub(crate) fn is_at(&self, other: &Self) -> bool {
        let address = self.device_address();
        address != 0 && address == other.device_address()
    }

    fn overlaps(&self, other: &Self) -> bool {
        let (SidePlace::Array { raw, at, .. }, SidePlace::Array { raw: other_raw, at: other_at, .. }) =
            (self.place, other.place)
        else {
            return false;
        };
        let Extent { width, height, depth } = self.strides.extent;
        let apart =
            |axis: usize, len: usize| at[axis] + len <= other_at[axis] || other_at[axis] + len <= at[axis];
        raw == other_raw && !(apart(0, width) || apart(1, height) || apart(2, depth))
    }
}

fn form(to: &Side<'_>, from: &Side<'_>) -> Form {
    let solid = |side: &Side<'_>| matches!(side.place, SidePlace::Array { solid: true, .. });
    if to.strides.extent.depth > 1 || solid(to) || solid(from) {
        return Form::Solid;
    }
    let chosen = |side: &Side<'_>| matches!(side.place, SidePlace::Device { aligned: false, .. });
    let on_host = |side: &Side<'_>| matches!(side.place, SidePlace::Host(_));
    let unaligned = (chosen(to) || chosen(from)) && !on_host(to) && !on_host(from);
    if unaligned && to.strides.extent.height > 1 { Form::UnalignedPlane } else { Form::Plane }
}

/// The driver's description of the copy. The sides have the same extent.
fn describe(to: &Side<'_>, from: &Side<'_>) -> CUDA_MEMCPY3D {
    let Extent { width, height, depth } = to.strides.extent;
    let ([to_x, to_y, to_z], [from_x, from_y, from_z]) = (to.start(), from.start());
    CUDA_MEMCPY3D {
        srcXInBytes: from_x * from.element_bytes,
        srcY: from_y,
        srcZ: from_z,
        srcLOD: 0,
        srcMemoryType: from.kind(),
        srcHost: from.host_address(),
        srcDevice: from.device_address(),
        srcArray: from.raw_array(),
        reserved0: ptr::null_mut(),
        srcPitch: from.strides.pitch,
        srcHeight: from.strides.rows,
        dstXInBytes: to_x * to.element_bytes,
        dstY: to_y,
        dstZ: to_z,
        dstLOD: 0,
        dstMemoryType: to.kind(),
        dstHost: to.host_address(),
        dstDevice: to.device_address(),
        dstArray: to.raw_array(),
        reserved1: ptr::null_mut(),
        dstPitch: to.strides.pitch,
        dstHeight: to.strides.rows,
        WidthInBytes: width * to.element_bytes,
        Height: height,
        Depth: depth,
    }
}

/// Checks that two sides have the same extent. Returns the copy, which may be empty.
pub(crate) fn fitting(to: &Side<'_>, from: &Side<'_>) -> Result<(CUDA_MEMCPY3D, Form), MemoryError> {
    Extent::same(to.strides.extent, from.strides.extent)?;
    if to.strides.extent.is_empty() {
        return Ok((CUDA_MEMCPY3D::zeroed(), Form::Plane));
    }
    if to.overlaps(from) {
        return Err(MemoryError::Overlap);
    }
    Ok((describe(to, from), form(to, from)))
}

/// Copies between two sides. Host memory may be reused on return. No wait within the device.
///
/// # Safety
/// Both sides are live and have room for their strides; a destination on the host has no other
/// users, and any bytes are an element.
pub(crate) unsafe fn copy(cx: &Current<'_, '_>, to: &Side<'_>, from: &Side<'_>) -> Result<(), MemoryError> {
    let (block, form) = fitting(to, from)?;
    let call = match form {
        Form::Solid => FnId::cuMemcpy3D_v2,
        _ => FnId::cuMemcpy2D_v2,
    };
    let mut context = cx.context();
    for home in [to.home, from.home].into_iter().flatten() {
        context = cx.of(home, call)?;
    }
    // SAFETY: guaranteed by the caller; device sides are of the current context, and the extents
    // are the same.
    unsafe { copy::block(context, &block, form) }?;
    Ok(())
}

/// Same as [`copy`], in the context of both sides, which the caller has found to be current.
///
/// # Safety
/// Same as [`copy`]; `context` is current.
pub(crate) unsafe fn copy_here(
    context: &ContextRef,
    to: &Side<'_>,
    from: &Side<'_>,
) -> Result<(), MemoryError> {
    let (block, form) = fitting(to, from)?;
    // SAFETY: guaranteed by the caller; the extents are the same.
    unsafe { copy::block(context, &block, form) }?;
    Ok(())
}

/// Copies one side to a new vector.
///
/// # Safety
/// Same as [`copy`]; the side has elements of `T`.
pub(crate) unsafe fn to_vec<T: DeviceData>(
    cx: &Current<'_, '_>,
    from: &Side<'_>,
) -> Result<Vec<T>, MemoryError> {
    let extent = from.strides.extent;
    let strides = Strides::dense::<T>(extent)?;
    let len = extent.len().unwrap_or(0);
    let no_room = |_| MemoryError::TooLarge { len, element_bytes: size_of::<T>() };
    let mut host: Vec<T> = Vec::new();
    host.try_reserve_exact(len).map_err(no_room)?;
    // SAFETY: the vector's spare capacity has room for all elements.
    unsafe { copy(cx, &Side::host(host.as_mut_ptr().cast_const(), strides), from) }?;
    // SAFETY: the copy has initialized `len` elements, and any bytes are a `T`.
    unsafe { host.set_len(len) };
    Ok(host)
}

/// Queues a copy between two sides that the host does not write.
///
/// # Safety
/// Same as [`copy`]; the destination is not on the host, both sides are of `context`, which is
/// current, and neither changes until `stream` was waited for or its context is lost.
pub(crate) unsafe fn copy_on(
    context: &ContextRef,
    stream: CUstream,
    to: &Side<'_>,
    from: &Side<'_>,
) -> Result<(), MemoryError> {
    let (block, form) = fitting(to, from)?;
    // SAFETY: guaranteed by the caller; the extents are the same.
    unsafe { copy::block_on(context, stream, &block, form) }?;
    Ok(())
}

/// The contexts of both sides of a copy between contexts of one driver, destination first. A host
/// side takes the context of the other side.
fn contexts_of<'a>(
    to: &Side<'a>,
    from: &Side<'a>,
    here: &'a ContextRef,
    call: FnId,
) -> Result<[&'a ContextRef; 2], Error> {
    let both = [to.home.unwrap_or(here), from.home.unwrap_or(here)];
    let near = both.iter().all(|context| context.driver() == here.driver());
    if near { Ok(both) } else { Err(Error::wrong_context(call)) }
}

/// Copies between two sides of different contexts, the first of which is current, and waits.
///
/// # Safety
/// Same as [`copy`]; the destination is not on the host.
pub(crate) unsafe fn copy_between(
    cx: &Current<'_, '_>,
    to: &Side<'_>,
    from: &Side<'_>,
) -> Result<(), MemoryError> {
    const CALL: FnId = FnId::cuMemcpy3DPeer;
    let (block, _) = fitting(to, from)?;
    let context = cx.of(to.home.unwrap_or(cx.context()), CALL)?;
    // SAFETY: guaranteed by the caller; each side has its context.
    unsafe { copy::block_between(&block, contexts_of(to, from, context, CALL)?) }?;
    Ok(())
}

/// Same as [`copy_between`], on a stream of `context`, which is current and the first side's.
///
/// # Safety
/// Same as [`copy_between`]; neither side changes until `stream` was waited for or its context is
/// lost.
pub(crate) unsafe fn copy_between_on(
    context: &ContextRef,
    stream: CUstream,
    to: &Side<'_>,
    from: &Side<'_>,
) -> Result<(), MemoryError> {
    let (block, _) = fitting(to, from)?;
    let contexts = contexts_of(to, from, context, FnId::cuMemcpy3DPeerAsync)?.map(ContextRef::as_raw);
    // SAFETY: guaranteed by the caller; each side has its context.
    unsafe { copy::block_between_on(context, stream, &block, contexts) }?;
    Ok(())
}

/// The copy between two sides as an entry of a batch; `None` if there is nothing to copy. Lengths
/// are in elements if a side is an array, otherwise in bytes.
pub(crate) fn batch_operation(
    to: &Side<'_>,
    from: &Side<'_>,
) -> Result<Option<CUDA_MEMCPY3D_BATCH_OP>, MemoryError> {
    fitting(to, from)?;
    let Extent { width, height, depth } = to.strides.extent;
    if to.strides.extent.is_empty() {
        return Ok(None);
    }
    let in_array = |side: &Side<'_>| matches!(side.place, SidePlace::Array { .. });
    let unit = if in_array(to) || in_array(from) { to.element_bytes } else { 1 };
    let extent = CUextent3D { width: width * to.element_bytes / unit, height, depth };
    let (dst, src) = (operand(to, unit)?, operand(from, unit)?);
    Ok(Some(CUDA_MEMCPY3D_BATCH_OP { src, dst, extent, ..CUDA_MEMCPY3D_BATCH_OP::zeroed() }))
}

fn operand(side: &Side<'_>, unit: usize) -> Result<CUmemcpy3DOperand, MemoryError> {
    let address = match side.place {
        SidePlace::Array { raw, at: [x, y, z], .. } => {
            let array = CUmemcpy3DOperand_op_array { array: raw, offset: CUoffset3D { x, y, z } };
            return Ok(CUmemcpy3DOperand {
                type_: CUmemcpy3DOperandType::CU_MEMCPY_OPERAND_TYPE_ARRAY,
                op: CUmemcpy3DOperand_op { array },
            });
        }
        SidePlace::Host(address) => address.addr() as CUdeviceptr,
        SidePlace::Device { address, .. } => address,
    };
    // Only a program chooses a pitch that is not a multiple of the element size.
    if side.strides.pitch % unit != 0 {
        return Err(Error::host(CUresult::CUDA_ERROR_INVALID_VALUE, FnId::cuMemcpy3DBatchAsync_v2).into());
    }
    let ptr = CUmemcpy3DOperand_op_ptr {
        ptr: address,
        rowLength: side.strides.pitch / unit,
        layerHeight: side.strides.rows,
        locHint: CUmemLocation::zeroed(),
    };
    let type_ = CUmemcpy3DOperandType::CU_MEMCPY_OPERAND_TYPE_POINTER;
    Ok(CUmemcpy3DOperand { type_, op: CUmemcpy3DOperand_op { ptr } })
}

kinds! {
    /// Rows and slices of the host.
    HostRows: Side<'a>, Side<'a>;
    /// Rows and slices of device memory.
    DeviceRows: Side<'a>, Side<'a>;
    /// Elements of an array.
    InArray: Side<'a>, Side<'a>;
}
