//! Tensor maps: descriptions of tensors from the host by which kernels copy (`exec::tensor`).
//!
//! The checks are exactly as recorded on an H100 with driver 580: an address may be null or in no
//! allocation, and strides may let rows overlap.

use core::ffi::c_void;

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};
use crate::driver::call::{Call, In, Out, calls, not_supported};
use crate::driver::device::SHARED_PER_MULTIPROCESSOR;
use crate::driver::state::settings;
use crate::exec::tensor::{MOST_DIMENSIONS, Part, TensorMap};

type Type = CUtensorMapDataType;

/// End of the addresses that fit into a map.
const ADDRESSES: u64 = 1 << 57;

/// The properties common to all kinds of maps.
struct Tensor {
    element: Type,
    address: u64,
    sizes: Vec<u64>,
    strides: Vec<u64>,
    /// Traversal strides of the dimensions.
    steps: Vec<u32>,
    interleave: CUtensorMapInterleave,
    swizzle: CUtensorMapSwizzle,
    promotion: CUtensorMapL2promotion,
    fill: CUtensorMapFloatOOBfill,
}

/// Returns the bytes of an element, for the types of compute capability 9.0.
fn element_bytes(element: Type) -> Answer<u64> {
    Ok(match element {
        Type::CU_TENSOR_MAP_DATA_TYPE_UINT8 => 1,
        Type::CU_TENSOR_MAP_DATA_TYPE_UINT16
        | Type::CU_TENSOR_MAP_DATA_TYPE_FLOAT16
        | Type::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 => 2,
        Type::CU_TENSOR_MAP_DATA_TYPE_UINT32
        | Type::CU_TENSOR_MAP_DATA_TYPE_INT32
        | Type::CU_TENSOR_MAP_DATA_TYPE_FLOAT32
        | Type::CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ
        | Type::CU_TENSOR_MAP_DATA_TYPE_TFLOAT32
        | Type::CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ => 4,
        Type::CU_TENSOR_MAP_DATA_TYPE_UINT64
        | Type::CU_TENSOR_MAP_DATA_TYPE_INT64
        | Type::CU_TENSOR_MAP_DATA_TYPE_FLOAT64 => 8,
        _ => return Err(INVALID_VALUE),
    })
}

const fn is_float(element: Type) -> bool {
    element.0 >= Type::CU_TENSOR_MAP_DATA_TYPE_FLOAT16.0
}

/// Fails unless the device has tensor maps and a context is current.
fn ready(call: &Call) -> Answer {
    call.context()?;
    if settings().compute_capability.0 >= 9 {
        return Ok(());
    }
    Err(not_supported("tensor maps need compute capability 9.0: see CUPRUM_EMULATOR_COMPUTE_CAPABILITY"))
}

fn check_address(address: u64, interleave: CUtensorMapInterleave) -> Answer {
    let unit = if interleave == CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_32B { 32 } else { 16 };
    ensure(address % unit == 0 && address < ADDRESSES, INVALID_VALUE)
}

impl Tensor {
    /// Checks the properties of all kinds. `inner` is the number of elements in a row of a box.
    fn check(&self, inner: u64) -> Answer {
        let bytes = element_bytes(self.element)?;
        let is_wide = self.interleave == CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_32B;
        let is_plain = self.interleave == CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE;
        ensure(self.interleave.name().is_some() && (is_plain || self.sizes.len() >= 3), INVALID_VALUE)?;
        check_address(self.address, self.interleave)?;
        ensure(self.sizes.iter().all(|&size| size > 0 && size <= 1 << 32), INVALID_VALUE)?;
        let unit = if is_wide { 32 } else { 16 };
        ensure(self.strides.iter().all(|&stride| stride % unit == 0 && stride < 1 << 40), INVALID_VALUE)?;
        ensure(self.steps.iter().all(|&step| (1..=8).contains(&step)), INVALID_VALUE)?;
        ensure(inner * bytes % 16 == 0, INVALID_VALUE)?;
        let span = match self.swizzle {
            CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_NONE => u64::MAX,
            CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_32B => 32,
            CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_64B => 64,
            CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_128B => 128,
            _ => return Err(INVALID_VALUE),
        };
        ensure(!is_plain || inner * bytes <= span, INVALID_VALUE)?;
        ensure(self.promotion.name().is_some() && self.fill.name().is_some(), INVALID_VALUE)?;
        let nan = self.fill == CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
        ensure(!nan || is_float(self.element), INVALID_VALUE)
    }

    fn encode(&self, part: Part) -> CUtensorMap {
        fn padded<T: Copy, const N: usize>(values: &[T], rest: T) -> [T; N] {
            core::array::from_fn(|index| values.get(index).copied().unwrap_or(rest))
        }
        let map = TensorMap {
            address: self.address,
            element: self.element.0 as u8,
            dimensions: self.sizes.len(),
            interleave: self.interleave.0 as u8,
            swizzle: self.swizzle.0 as u8,
            promotion: self.promotion.0 as u8,
            fill: self.fill.0 as u8,
            sizes: padded(&self.sizes, 1),
            strides: padded(&self.strides, 0),
            steps: padded(&self.steps, 1),
            part,
        };
        CUtensorMap { opaque: map.encode() }
    }
}

/// Reads the properties common to all kinds of maps.
#[allow(clippy::too_many_arguments, reason = "the parameters of the C functions")]
fn tensor(
    element: Type,
    rank: u32,
    address: *mut c_void,
    sizes: In<u64>,
    strides: In<u64>,
    steps: In<u32>,
    interleave: CUtensorMapInterleave,
    swizzle: CUtensorMapSwizzle,
    promotion: CUtensorMapL2promotion,
    fill: CUtensorMapFloatOOBfill,
) -> Answer<Tensor> {
    let rank = rank as usize;
    ensure((1..=MOST_DIMENSIONS).contains(&rank) && !strides.is_null(), INVALID_VALUE)?;
    Ok(Tensor {
        element,
        address: address.addr() as u64,
        sizes: sizes.get_all(rank)?,
        strides: strides.get_all(rank - 1)?,
        steps: steps.get_all(rank)?,
        interleave,
        swizzle,
        promotion,
        fill,
    })
}

/// Checks the corners of the box of pixels, whose limits depend on the number of dimensions.
fn check_corners(lower: &[i32], upper: &[i32], sizes: &[u64]) -> Answer {
    let limit = match lower.len() {
        1 => 1 << 15,
        2 => 1 << 7,
        _ => 1 << 4,
    };
    for ((&lower, &upper), &size) in lower.iter().zip(upper).zip(sizes) {
        let range = -limit..limit;
        ensure(range.contains(&lower) && range.contains(&upper), INVALID_VALUE)?;
        ensure(size as i64 + i64::from(upper) - i64::from(lower) > 0, INVALID_VALUE)?;
    }
    Ok(())
}

fn check_columns(tensor: &Tensor, (lower, upper): (&[i32], &[i32]), [channels, pixels]: [u32; 2]) -> Answer {
    check_corners(lower, upper, &tensor.sizes[1..])?;
    ensure((1..=256).contains(&channels) && (1..=1024).contains(&pixels), INVALID_VALUE)?;
    let bytes = u64::from(channels) * u64::from(pixels) * element_bytes(tensor.element)?;
    ensure(bytes <= u64::from(SHARED_PER_MULTIPROCESSOR), INVALID_VALUE)?;
    tensor.check(u64::from(channels))
}

calls! {
    fn cuTensorMapEncodeTiled(
        call,
        tensorMap: Out<CUtensorMap>,
        tensorDataType: CUtensorMapDataType,
        tensorRank: u32,
        globalAddress: *mut c_void,
        globalDim: In<u64>,
        globalStrides: In<u64>,
        boxDim: In<u32>,
        elementStrides: In<u32>,
        interleave: CUtensorMapInterleave,
        swizzle: CUtensorMapSwizzle,
        l2Promotion: CUtensorMapL2promotion,
        oobFill: CUtensorMapFloatOOBfill,
    ) {
        ready(call)?;
        tensorMap.check()?;
        let tensor = tensor(
            tensorDataType, tensorRank, globalAddress, globalDim, globalStrides, elementStrides, interleave,
            swizzle, l2Promotion, oobFill,
        )?;
        let tile = boxDim.get_all(tensorRank as usize)?;
        ensure(tile.iter().all(|&len| (1..=256).contains(&len)), INVALID_VALUE)?;
        tensor.check(u64::from(tile[0]))?;
        let bytes = tile.iter().fold(element_bytes(tensorDataType)?, |bytes, &len| bytes * u64::from(len));
        ensure(bytes <= u64::from(SHARED_PER_MULTIPROCESSOR), INVALID_VALUE)?;
        let side = |axis: usize| tile.get(axis).copied().unwrap_or(1);
        tensorMap.set(tensor.encode(Part::Tile(core::array::from_fn(side))))
    }

    fn cuTensorMapEncodeIm2col(
        call,
        tensorMap: Out<CUtensorMap>,
        tensorDataType: CUtensorMapDataType,
        tensorRank: u32,
        globalAddress: *mut c_void,
        globalDim: In<u64>,
        globalStrides: In<u64>,
        pixelBoxLowerCorner: In<i32>,
        pixelBoxUpperCorner: In<i32>,
        channelsPerPixel: u32,
        pixelsPerColumn: u32,
        elementStrides: In<u32>,
        interleave: CUtensorMapInterleave,
        swizzle: CUtensorMapSwizzle,
        l2Promotion: CUtensorMapL2promotion,
        oobFill: CUtensorMapFloatOOBfill,
    ) {
        ready(call)?;
        tensorMap.check()?;
        ensure(tensorRank >= 3, INVALID_VALUE)?;
        let tensor = tensor(
            tensorDataType, tensorRank, globalAddress, globalDim, globalStrides, elementStrides, interleave,
            swizzle, l2Promotion, oobFill,
        )?;
        let corners = tensorRank as usize - 2;
        let lower = pixelBoxLowerCorner.get_all(corners)?;
        let upper = pixelBoxUpperCorner.get_all(corners)?;
        check_columns(&tensor, (&lower, &upper), [channelsPerPixel, pixelsPerColumn])?;
        let corner = |corners: &[i32]| core::array::from_fn(|axis| corners.get(axis).copied().unwrap_or(0));
        tensorMap.set(tensor.encode(Part::Columns {
            lower: corner(&lower),
            upper: corner(&upper),
            channels: channelsPerPixel,
            pixels: pixelsPerColumn,
        }))
    }

    fn cuTensorMapEncodeIm2colWide(
        call,
        tensorMap: Out<CUtensorMap>,
        tensorDataType: CUtensorMapDataType,
        tensorRank: u32,
        globalAddress: *mut c_void,
        globalDim: In<u64>,
        globalStrides: In<u64>,
        pixelBoxLowerCornerWidth: i32,
        pixelBoxUpperCornerWidth: i32,
        channelsPerPixel: u32,
        pixelsPerColumn: u32,
        elementStrides: In<u32>,
        interleave: CUtensorMapInterleave,
        mode: CUtensorMapIm2ColWideMode,
        swizzle: CUtensorMapSwizzle,
        l2Promotion: CUtensorMapL2promotion,
        oobFill: CUtensorMapFloatOOBfill,
    ) {
        ready(call)?;
        tensorMap.check()?;
        ensure(tensorRank >= 3 && mode.name().is_some(), INVALID_VALUE)?;
        let tensor = tensor(
            tensorDataType, tensorRank, globalAddress, globalDim, globalStrides, elementStrides, interleave,
            swizzle, l2Promotion, oobFill,
        )?;
        let (lower, upper) = (pixelBoxLowerCornerWidth, pixelBoxUpperCornerWidth);
        check_columns(&tensor, (&[lower], &[upper]), [channelsPerPixel, pixelsPerColumn])?;
        let pair = |first: u32, second: u32| u64::from(first) | u64::from(second) << 32;
        tensorMap.set(tensor.encode(Part::Wide {
            corners: pair(lower as u32, upper as u32),
            amounts: pair(channelsPerPixel, pixelsPerColumn),
            mode: mode.0.into(),
        }))
    }

    fn cuTensorMapReplaceAddress(call, tensorMap: Out<CUtensorMap>, globalAddress: *mut c_void) {
        ready(call)?;
        let mut map = tensorMap.get()?;
        let address = globalAddress.addr() as u64;
        // No other check, not even whether the map was encoded.
        check_address(address, CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE)?;
        ensure(address != 0, INVALID_VALUE)?;
        map.opaque[0] = address;
        tensorMap.set(map)
    }

    /// The device has only one class.
    fn cuTensorMapSetAllocationClass(
        call,
        tensorMap: Out<CUtensorMap>,
        allocClass: CUtensorMapAllocClass,
        outAllocClass: Out<CUtensorMapAllocClass>,
    ) {
        outAllocClass.set_if_wanted(CUtensorMapAllocClass::CU_TENSOR_MAP_ALLOC_CLASS_SMALL);
        ready(call)?;
        tensorMap.check()?;
        ensure(allocClass.name().is_some(), INVALID_VALUE)
    }
}
