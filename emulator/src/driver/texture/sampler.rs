//! Sampling of textures: filters, borders, coordinates.

use cuprum_sys::*;

use crate::exec::texture::{AddressMode, Sampler, Shape};

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};

/// Valid flags of sampling. Two of them have no meaning, but drivers accept them.
const SAMPLING_FLAGS: u32 = CU_TRSF_READ_AS_INTEGER
    | CU_TRSF_NORMALIZED_COORDINATES
    | 1 << 2
    | 1 << 3
    | CU_TRSF_SRGB
    | CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION
    | CU_TRSF_SEAMLESS_CUBEMAP;

pub(super) fn sampler(sampling: &CUDA_TEXTURE_DESC, shape: Shape) -> Answer<Sampler> {
    ensure(sampling.flags & !SAMPLING_FLAGS == 0 && sampling.reserved == [0; 12], INVALID_VALUE)?;
    let has = |flag| sampling.flags & flag != 0;
    ensure(!has(CU_TRSF_SEAMLESS_CUBEMAP) || shape.cube, INVALID_VALUE)?;
    let linear = |filter| match filter {
        CUfilter_mode::CU_TR_FILTER_MODE_POINT => Ok(false),
        CUfilter_mode::CU_TR_FILTER_MODE_LINEAR => Ok(true),
        _ => Err(INVALID_VALUE),
    };
    let mut modes = [AddressMode::Clamp; 3];
    for (axis, (to, mode)) in (0..).zip(modes.iter_mut().zip(sampling.addressMode)) {
        *to = match mode {
            CUaddress_mode::CU_TR_ADDRESS_MODE_WRAP => AddressMode::Wrap,
            CUaddress_mode::CU_TR_ADDRESS_MODE_CLAMP => AddressMode::Clamp,
            CUaddress_mode::CU_TR_ADDRESS_MODE_MIRROR => AddressMode::Mirror,
            CUaddress_mode::CU_TR_ADDRESS_MODE_BORDER => AddressMode::Border,
            _ if axis >= shape.dimensions => AddressMode::Clamp,
            _ => return Err(INVALID_VALUE),
        };
    }
    Ok(Sampler {
        modes,
        linear: linear(sampling.filterMode)?,
        normalized: has(CU_TRSF_NORMALIZED_COORDINATES),
        integer: has(CU_TRSF_READ_AS_INTEGER),
        srgb: has(CU_TRSF_SRGB),
        seamless: has(CU_TRSF_SEAMLESS_CUBEMAP),
        mip_linear: linear(sampling.mipmapFilterMode)?,
        anisotropy: sampling.maxAnisotropy,
        steep: !has(CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION),
        bias: sampling.mipmapLevelBias,
        least: sampling.minMipmapLevelClamp,
        most: sampling.maxMipmapLevelClamp,
        border: sampling.borderColor,
    })
}
