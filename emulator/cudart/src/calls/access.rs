//! Attributes of an address.

use core::ffi::c_void;
use core::ptr;

use cuprum_sys::{CUdeviceptr, CUmem_range_attribute, CUmemorytype, CUpointer_attribute};

use crate::error::{Result, check};
use crate::exported::{calls, put};
use crate::state::device::{self, Here};
use crate::structs::cudaPointerAttributes;

/// Kinds of memory, `cudaMemoryType`.
const UNREGISTERED: i32 = 0;
const HOST: i32 = 1;
const DEVICE: i32 = 2;
const MANAGED: i32 = 3;

/// `cudaInvalidDeviceId`, the device of memory without a device.
const NO_DEVICE: i32 = -2;
/// Zeros after the struct from CUDA 13 on.
const RESERVED_OF_13: usize = 64;

calls! {
    fn cuprum_12_cudaPointerGetAttributes[](attributes: *mut cudaPointerAttributes, address: *const c_void) |here| {
        // SAFETY: the caller's output.
        unsafe { put(attributes, describe(&here, address)?) }
    }

    fn cuprum_13_cudaPointerGetAttributes[](attributes: *mut cudaPointerAttributes, address: *const c_void) |here| {
        // SAFETY: the caller's output.
        unsafe { put(attributes, describe(&here, address)?) }?;
        let reserved = attributes.wrapping_add(1).cast::<u8>();
        // SAFETY: the caller compiled with CUDA 13, whose struct has these bytes after the others.
        unsafe { ptr::write_bytes(reserved, 0, RESERVED_OF_13) };
        Ok(())
    }

    fn cudaMemRangeGetAttribute[](
        data: *mut c_void,
        size: usize,
        attribute: CUmem_range_attribute,
        address: *const c_void,
        count: usize,
    ) => cuMemRangeGetAttribute(data, size, attribute, address as CUdeviceptr, count);

    fn cudaMemRangeGetAttributes[](
        data: *mut *mut c_void,
        sizes: *mut usize,
        attributes: *mut CUmem_range_attribute,
        number: usize,
        address: *const c_void,
        count: usize,
    ) => cuMemRangeGetAttributes(data, sizes, attributes, number, address as CUdeviceptr, count);
}

/// The driver's attributes of one address. Unknown ones stay zero.
#[derive(Default)]
struct Answers {
    kind: u32,
    managed: u32,
    ordinal: i32,
    device: CUdeviceptr,
    host: u64,
}

fn describe(here: &Here, address: *const c_void) -> Result<cudaPointerAttributes> {
    let mut answers = Answers::default();
    let mut attributes = [
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_IS_MANAGED,
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_HOST_POINTER,
    ];
    let mut places = [
        ptr::from_mut(&mut answers.kind).cast(),
        ptr::from_mut(&mut answers.managed).cast(),
        ptr::from_mut(&mut answers.ordinal).cast(),
        ptr::from_mut(&mut answers.device).cast(),
        ptr::from_mut(&mut answers.host).cast(),
    ];
    let (names, values) = (attributes.as_mut_ptr(), places.as_mut_ptr());
    let get = here.fns.cuPointerGetAttributes;
    // SAFETY: five attributes, with an output of its size for each.
    check(unsafe { get(attributes.len() as u32, names, values, address as CUdeviceptr) })?;
    let r#type = match CUmemorytype(answers.kind) {
        _ if answers.managed & 0xff != 0 => MANAGED,
        CUmemorytype::CU_MEMORYTYPE_HOST => HOST,
        CUmemorytype::CU_MEMORYTYPE_DEVICE => DEVICE,
        _ => {
            let hostPointer = address.cast_mut();
            let device = NO_DEVICE;
            return Ok(cudaPointerAttributes {
                r#type: UNREGISTERED,
                device,
                devicePointer: ptr::null_mut(),
                hostPointer,
            });
        }
    };
    Ok(cudaPointerAttributes {
        r#type,
        device: if answers.ordinal < 0 { device::device(here.fns)? } else { answers.ordinal },
        devicePointer: answers.device as *mut c_void,
        hostPointer: answers.host as *mut c_void,
    })
}
