//! Copies with attributes, and batches of copies.

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};
use crate::driver::call::{Call, InMut, Out, calls};
use crate::driver::state::captures;
use crate::driver::stream::StreamRef;
use crate::driver::texture::Array;

use super::copy::Extent;
use super::linear::{Wait, anywhere};
use super::shaped::{Corner, shaped};

/// Returns a stream that accepts batches: the legacy default stream does not.
fn stream_of_batches(call: &Call, stream: CUstream) -> Answer<StreamRef> {
    ensure(!stream.is_null() && stream != CU_STREAM_LEGACY, INVALID_VALUE)?;
    call.stream(stream)
}

/// Fails if a stream is capturing. The capture continues.
fn forbid_capture(stream: &StreamRef) -> Answer {
    ensure(!captures().has(stream.lane()), CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
}

/// Checks the attributes of copies, and that each copy has attributes.
fn check_attributes(
    attributes: InMut<CUmemcpyAttributes>,
    first_of_each: InMut<usize>,
    number: usize,
    copies: usize,
) -> Answer {
    ensure(number > 0 && number <= copies, INVALID_VALUE)?;
    for attributes in attributes.input().get_all(number)? {
        check_order(attributes.srcAccessOrder, attributes.flags)?;
    }
    let first_of_each = first_of_each.input().get_all(number)?;
    let rising = first_of_each.windows(2).all(|pair| pair[0] < pair[1]);
    let inside = first_of_each.iter().all(|&first| first < copies);
    ensure(first_of_each.first() == Some(&0) && rising && inside, INVALID_VALUE)
}

fn check_order(order: CUmemcpySrcAccessOrder, flags: u32) -> Answer {
    let known = CUmemcpySrcAccessOrder::CU_MEMCPY_SRC_ACCESS_ORDER_STREAM.0
        ..=CUmemcpySrcAccessOrder::CU_MEMCPY_SRC_ACCESS_ORDER_ANY.0;
    let prefers = CUmemcpyFlags::CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE.0;
    ensure(known.contains(&order.0) && flags & !prefers == 0, INVALID_VALUE)
}

/// Issues copies between any addresses, in order. `failed` receives the index of a failed one.
fn several(
    stream: &StreamRef,
    to: InMut<u64>,
    from: InMut<u64>,
    sizes: InMut<usize>,
    count: usize,
    failed: impl Fn(usize),
) -> Answer {
    forbid_capture(stream)?;
    let to = to.input().get_all(count)?;
    let from = from.input().get_all(count)?;
    let sizes = sizes.input().get_all(count)?;
    for (index, ((&to, &from), &size)) in to.iter().zip(&from).zip(&sizes).enumerate() {
        let copied =
            ensure(size > 0, INVALID_VALUE).and_then(|()| anywhere(stream, Wait::No, to, from, size));
        if let Err(code) = copied {
            failed(index);
            return Err(code);
        }
    }
    Ok(())
}

/// Returns both ends of a copy between operands: addresses in bytes, arrays in elements.
fn operand_corners(copy: &CUDA_MEMCPY3D_BATCH_OP) -> Answer<(Corner, Corner, Extent)> {
    check_order(copy.srcAccessOrder, copy.flags)?;
    let element = operand_element(&copy.src)?.or(operand_element(&copy.dst)?).unwrap_or(1);
    let CUextent3D { width, height, depth } = copy.extent;
    ensure(width > 0 && height > 0 && depth > 0, INVALID_VALUE)?;
    let width = width.checked_mul(element).ok_or(INVALID_VALUE)?;
    let extent = Extent { width: width as u64, height: height as u64, depth: depth as u64 };
    Ok((operand_corner(&copy.src, element, &extent)?, operand_corner(&copy.dst, element, &extent)?, extent))
}

/// Returns the bytes per element of an operand, if it is an array.
fn operand_element(operand: &CUmemcpy3DOperand) -> Answer<Option<usize>> {
    if operand.type_ != CUmemcpy3DOperandType::CU_MEMCPY_OPERAND_TYPE_ARRAY {
        return Ok(None);
    }
    // SAFETY: the type says that the client set this member, plain numbers.
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
            // SAFETY: the type says that the client set this member, plain numbers.
            let place = unsafe { operand.op.ptr };
            // Zero means contiguous rows and layers.
            let pitch = match place.rowLength {
                0 => extent.width as usize,
                length => length.checked_mul(element).ok_or(INVALID_VALUE)?,
            };
            let height = if place.layerHeight == 0 { extent.height as usize } else { place.layerHeight };
            let fits = pitch as u64 >= extent.width && height as u64 >= extent.height;
            ensure(fits, INVALID_VALUE)?;
            Ok(Corner { device: place.ptr, pitch, height, ..nowhere })
        }
        CUmemcpy3DOperandType::CU_MEMCPY_OPERAND_TYPE_ARRAY => {
            // SAFETY: the type says that the client set this member, plain numbers.
            let place = unsafe { operand.op.array };
            let CUoffset3D { x, y, z } = place.offset;
            let x = x.checked_mul(element).ok_or(INVALID_VALUE)?;
            Ok(Corner { kind: CUmemorytype::CU_MEMORYTYPE_ARRAY, array: place.array, x, y, z, ..nowhere })
        }
        _ => Err(INVALID_VALUE),
    }
}

/// Issues several copies between operands.
fn several_3d(
    call: &Call,
    stream: CUstream,
    copies: InMut<CUDA_MEMCPY3D_BATCH_OP>,
    count: usize,
    flags: u64,
    failed: impl Fn(usize),
) -> Answer {
    let stream = stream_of_batches(call, stream)?;
    ensure(count > 0 && flags == 0, INVALID_VALUE)?;
    forbid_capture(&stream)?;
    for (index, copy) in copies.input().get_all(count)?.iter().enumerate() {
        let copied = operand_corners(copy).and_then(|corners| shaped(&stream, Wait::No, corners));
        if let Err(code) = copied {
            failed(index);
            return Err(code);
        }
    }
    Ok(())
}

calls! {
    fn cuMemcpyBatchAsync(
        call,
        dsts: InMut<u64>,
        srcs: InMut<u64>,
        sizes: InMut<usize>,
        count: usize,
        attrs: InMut<CUmemcpyAttributes>,
        attrsIdxs: InMut<usize>,
        numAttrs: usize,
        failIdx: Out<usize>,
        hStream: CUstream,
    ) {
        // Also reported when no single copy failed.
        failIdx.set_if_wanted(usize::MAX);
        let stream = stream_of_batches(call, hStream)?;
        check_attributes(attrs, attrsIdxs, numAttrs, count)?;
        several(&stream, dsts, srcs, sizes, count, |index| failIdx.set_if_wanted(index))
    }

    /// The attributes allow early reads of the source, and state locations. Neither matters here.
    fn cuMemcpyWithAttributesAsync(
        call,
        dst: u64,
        src: u64,
        size: usize,
        attr: InMut<CUmemcpyAttributes>,
        hStream: CUstream,
    ) {
        let attributes = attr.input().get()?;
        check_order(attributes.srcAccessOrder, attributes.flags)?;
        anywhere(&stream_of_batches(call, hStream)?, Wait::No, dst, src, size)
    }

    fn cuMemcpy3DWithAttributesAsync(
        call,
        op: InMut<CUDA_MEMCPY3D_BATCH_OP>,
        flags: u64,
        hStream: CUstream,
    ) {
        ensure(flags == 0, INVALID_VALUE)?;
        shaped(&call.stream(hStream)?, Wait::No, operand_corners(&op.input().get()?)?)
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
        attrs: InMut<CUmemcpyAttributes>,
        attrsIdxs: InMut<usize>,
        numAttrs: usize,
        hStream: CUstream,
    ) {
        let stream = stream_of_batches(call, hStream)?;
        check_attributes(attrs, attrsIdxs, numAttrs, count)?;
        several(&stream, dsts, srcs, sizes, count, |_| ())
    }
}
