//! Layouts of tensors in device memory, and of their tiles in shared memory.

use cuprum_sys::{
    CUtensorMapDataType, CUtensorMapFloatOOBfill, CUtensorMapInterleave, CUtensorMapL2promotion,
    CUtensorMapSwizzle,
};

use super::TensorError;
use crate::memory::DeviceData;

/// Maximum number of dimensions of a tensor.
pub(super) const MOST: usize = 5;

/// Types that a tensor map can have as elements.
pub trait TensorElement: DeviceData {
    /// The type as which kernels copy it, unless [`TensorLayout::element`] is another one.
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

/// Layout of a tensor of one to five dimensions in device memory, and of its tiles in shared
/// memory. Every list begins with the innermost dimension, whose elements are adjacent.
///
/// [`new`](TensorLayout::new) has the defaults; a literal changes some of them. The functions of
/// [`TensorMap`](super::TensorMap) check the lists.
///
/// ```
/// use cuprum::sys::CUtensorMapSwizzle;
/// use cuprum::texture::TensorLayout;
///
/// // A matrix of 32 rows of 64 elements, for `TensorMap::tiled`.
/// let swizzle = CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_128B;
/// let matrix = TensorLayout { swizzle, ..TensorLayout::new(&[64, 32]) };
/// ```
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "written as a change of another, which goes on compiling with a new field"
)]
pub struct TensorLayout<'l> {
    /// Elements along each dimension.
    pub sizes: &'l [u64],
    /// Bytes from one element to the next, along each dimension but the first: multiples of 16,
    /// below 2^40. `None` for a tensor without gaps.
    pub strides: Option<&'l [u64]>,
    /// Distance of the copied elements along each dimension, in elements: 1 to 8. `None` for 1.
    pub steps: Option<&'l [u32]>,
    /// Copies the elements as another type of the same size: `TFLOAT32` in place of `f32`, or
    /// packed types of 4 and 6 bits in place of `u8`, whose sizes then count the values.
    pub element: Option<CUtensorMapDataType>,
    /// Interleaving of the innermost dimension. The memory that an interleaved tensor needs is not
    /// checked.
    pub interleave: CUtensorMapInterleave,
    /// Permutation of rows in shared memory, against bank conflicts.
    pub swizzle: CUtensorMapSwizzle,
    /// Amount of memory that the second-level cache reads at once.
    pub l2_promotion: CUtensorMapL2promotion,
    /// Value of elements outside of the tensor: zero, or a not-a-number that multiply-add takes for
    /// zero.
    pub fill: CUtensorMapFloatOOBfill,
}

/// The lists of a layout after a check, each with room for the most dimensions.
pub(super) struct Lists {
    pub(super) rank: usize,
    pub(super) sizes: [u64; MOST],
    /// `None` without gaps.
    strides: Option<[u64; MOST - 1]>,
    pub(super) steps: [u32; MOST],
}

/// Copies a list of one value per dimension into an array with room for the most dimensions.
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

impl<'l> TensorLayout<'l> {
    /// Returns the layout of a tensor without gaps, with this number of elements along each
    /// dimension.
    pub const fn new(sizes: &'l [u64]) -> Self {
        Self {
            sizes,
            strides: None,
            steps: None,
            element: None,
            interleave: CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
            swizzle: CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_NONE,
            l2_promotion: CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_NONE,
            fill: CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        }
    }

    /// Checks that each list has the right length.
    pub(super) fn lists(&self) -> Result<Lists, TensorError> {
        let rank = self.sizes.len();
        if !(1..=MOST).contains(&rank) {
            return Err(TensorError::Rank { given: rank, wanted: rank.clamp(1, MOST) });
        }
        Ok(Lists {
            rank,
            sizes: room(self.sizes, rank, 1)?,
            strides: self.strides.map(|strides| room(strides, rank - 1, 0)).transpose()?,
            steps: self.steps.map_or(Ok([1; MOST]), |steps| room(steps, rank, 1))?,
        })
    }

    /// Returns the type of the elements and their size in memory, in bits.
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
}

impl Lists {
    /// Returns the strides, and the number of bytes from the first element to the end of the last.
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
