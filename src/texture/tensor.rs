//! Tensors: how their elements lie in device memory, and how kernels are to copy tiles of them.

use cuprum_sys::{
    CUtensorMapDataType, CUtensorMapFloatOOBfill, CUtensorMapInterleave, CUtensorMapL2promotion,
    CUtensorMapSwizzle,
};

use super::TensorError;
use crate::memory::DeviceData;

/// Most dimensions of a tensor.
pub(super) const MOST: usize = 5;

/// What a tensor map has as elements.
pub trait TensorElement: DeviceData {
    /// How kernels copy it, unless [`TensorLayout::with_element`] says otherwise.
    const ELEMENT: CUtensorMapDataType;
}

macro_rules! elements {
    ($($type:ty: $element:ident;)*) => { $(
        impl TensorElement for $type {
            const ELEMENT: CUtensorMapDataType = CUtensorMapDataType::$element;
        }
    )* };
}

elements! {
    u8: CU_TENSOR_MAP_DATA_TYPE_UINT8;
    u16: CU_TENSOR_MAP_DATA_TYPE_UINT16;
    u32: CU_TENSOR_MAP_DATA_TYPE_UINT32;
    i32: CU_TENSOR_MAP_DATA_TYPE_INT32;
    u64: CU_TENSOR_MAP_DATA_TYPE_UINT64;
    i64: CU_TENSOR_MAP_DATA_TYPE_INT64;
    f32: CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    f64: CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
}

#[cfg(feature = "half")]
elements! {
    half::f16: CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    half::bf16: CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
}

/// How a tensor of up to five dimensions lies in device memory, and tiles of it in shared memory. The innermost dimension,
/// whose elements lie side by side, comes first everywhere.
///
/// Example: see [`TensorMap`](super::TensorMap).
#[derive(Clone, Copy, Debug)]
pub struct TensorLayout {
    pub(super) rank: usize,
    pub(super) sizes: [u64; MOST],
    /// Bytes from one element to the next along the dimensions from the second on; `None` without gaps.
    pub(super) strides: Option<[u64; MOST - 1]>,
    pub(super) steps: [u32; MOST],
    pub(super) element: Option<CUtensorMapDataType>,
    pub(super) interleave: CUtensorMapInterleave,
    pub(super) swizzle: CUtensorMapSwizzle,
    pub(super) promotion: CUtensorMapL2promotion,
    pub(super) fill: CUtensorMapFloatOOBfill,
}

/// As many values as there are dimensions, in room for the most.
pub(super) fn room<V: Copy, const ROOM: usize>(
    values: &[V],
    wanted: usize,
    fill: V,
) -> Result<[V; ROOM], TensorError> {
    if values.len() != wanted || wanted > ROOM {
        return Err(TensorError::Rank { given: values.len(), wanted });
    }
    let mut all = [fill; ROOM];
    all[..wanted].copy_from_slice(values);
    Ok(all)
}

impl TensorLayout {
    /// The layout of a tensor without gaps, of so many elements along each dimension.
    ///
    /// # Errors
    /// [`TensorError::Rank`] unless there are one to five dimensions.
    #[inline]
    pub fn new(sizes: &[u64]) -> Result<Self, TensorError> {
        let rank = sizes.len();
        if !(1..=MOST).contains(&rank) {
            return Err(TensorError::Rank { given: rank, wanted: rank.clamp(1, MOST) });
        }
        Ok(Self {
            rank,
            sizes: room(sizes, rank, 1)?,
            strides: None,
            steps: [1; MOST],
            element: None,
            interleave: CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
            swizzle: CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_NONE,
            promotion: CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_NONE,
            fill: CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        })
    }

    /// Bytes from one element to the next, along each dimension but the first: multiples of 16, below 2^40.
    ///
    /// # Errors
    /// [`TensorError::Rank`] unless there is one less than there are dimensions.
    #[inline]
    pub fn with_strides(self, bytes: &[u64]) -> Result<Self, TensorError> {
        Ok(Self { strides: Some(room(bytes, self.rank - 1, 0)?), ..self })
    }

    /// Elements from one that is copied to the next, along each dimension: 1 to 8.
    ///
    /// # Errors
    /// [`TensorError::Rank`] unless there is one for each dimension.
    #[inline]
    pub fn with_steps(self, steps: &[u32]) -> Result<Self, TensorError> {
        Ok(Self { steps: room(steps, self.rank, 1)?, ..self })
    }

    /// Copies the elements as another type of the same size: `TFLOAT32` in place of `f32`, packed types of 4 and 6 bits in
    /// place of `u8`, of which the sizes then count the values.
    #[must_use]
    pub const fn with_element(self, element: CUtensorMapDataType) -> Self {
        Self { element: Some(element), ..self }
    }

    /// How the innermost dimension is interleaved. The memory that such a tensor needs is not checked.
    #[must_use]
    pub const fn with_interleave(self, interleave: CUtensorMapInterleave) -> Self {
        Self { interleave, ..self }
    }

    /// How rows are permuted in shared memory, against bank conflicts.
    #[must_use]
    pub const fn with_swizzle(self, swizzle: CUtensorMapSwizzle) -> Self {
        Self { swizzle, ..self }
    }

    /// How much comes into the second-level cache at once.
    #[must_use]
    pub const fn with_l2_promotion(self, promotion: CUtensorMapL2promotion) -> Self {
        Self { promotion, ..self }
    }

    /// What stands for elements outside of the tensor: zero, or a not-a-number that multiply-add takes for zero.
    #[must_use]
    pub const fn with_fill(self, fill: CUtensorMapFloatOOBfill) -> Self {
        Self { fill, ..self }
    }

    /// The type of the elements, and the bits of each in memory.
    pub(super) fn element_of<T: TensorElement>(&self) -> Result<(CUtensorMapDataType, u64), TensorError> {
        type Type = CUtensorMapDataType;
        let element = self.element.unwrap_or(T::ELEMENT);
        let bits = match element {
            Type::CU_TENSOR_MAP_DATA_TYPE_UINT8 => 8,
            Type::CU_TENSOR_MAP_DATA_TYPE_UINT16
            | Type::CU_TENSOR_MAP_DATA_TYPE_FLOAT16
            | Type::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 => 16,
            Type::CU_TENSOR_MAP_DATA_TYPE_UINT64
            | Type::CU_TENSOR_MAP_DATA_TYPE_INT64
            | Type::CU_TENSOR_MAP_DATA_TYPE_FLOAT64 => 64,
            Type::CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B | Type::CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B => 4,
            Type::CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B => 6,
            _ => 32,
        };
        let fits = bits == 8 * size_of::<T>() as u64 || (bits < 8 && size_of::<T>() == 1);
        if fits { Ok((element, bits)) } else { Err(TensorError::Element { element, bytes: size_of::<T>() }) }
    }

    /// The strides, and the bytes of memory from the first element to the end of the last.
    pub(super) fn extent(&self, bits: u64) -> Result<([u64; MOST - 1], u64), TensorError> {
        let find = || {
            let row = self.sizes[0].checked_mul(bits)?.checked_add(7)? / 8;
            let (mut strides, mut end) = (self.strides.unwrap_or_default(), row);
            for dimension in 1..self.rank {
                if self.strides.is_none() {
                    strides[dimension - 1] = match dimension {
                        1 => row,
                        _ => strides[dimension - 2].checked_mul(self.sizes[dimension - 1])?,
                    };
                }
                let last = self.sizes[dimension].saturating_sub(1);
                end = end.checked_add(strides[dimension - 1].checked_mul(last)?)?;
            }
            Some((strides, end))
        };
        find().ok_or(TensorError::TooLarge)
    }
}
