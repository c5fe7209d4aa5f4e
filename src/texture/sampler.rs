//! Sampling of textures: coordinates, addressing outside, and filtering.

use cuprum_sys::{
    CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION, CU_TRSF_NORMALIZED_COORDINATES, CU_TRSF_READ_AS_INTEGER,
    CU_TRSF_SEAMLESS_CUBEMAP, CU_TRSF_SRGB, CUDA_TEXTURE_DESC, CUaddress_mode, CUfilter_mode,
};

/// Addressing outside of a texture along one dimension. `WRAP` and `MIRROR` need normalized
/// coordinates; without them they read the texel at the edge.
pub type AddressMode = CUaddress_mode;

/// Filtering of texels, or of levels of a mipmapped array: the nearest one (`POINT`), or
/// interpolation of the two nearest along each dimension (`LINEAR`). Kernels must read floats from
/// a texture that interpolates, so integer elements need [`Sampler::normalized_floats`].
pub type FilterMode = CUfilter_mode;

/// Sampling of a texture. [`default`](Sampler::default) has the defaults; a literal changes some of
/// them:
///
/// ```
/// use cuprum::texture::{AddressMode, FilterMode, Sampler};
///
/// let smooth = Sampler {
///     normalized_coordinates: true,
///     address_modes: [AddressMode::CU_TR_ADDRESS_MODE_WRAP; 3],
///     filter: FilterMode::CU_TR_FILTER_MODE_LINEAR,
///     ..Sampler::default()
/// };
/// # let _ = smooth;
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "written as a change of another, which goes on compiling with a new field"
)]
pub struct Sampler {
    /// Addressing outside, along x, y and z. Layers are always clamped, and cubes have no outside.
    ///
    /// A line with linear filtering needs `CLAMP` along y: the device samples it at the edge of a
    /// plane of one row, where `BORDER` reads half border (measured on an H200).
    pub address_modes: [AddressMode; 3],
    /// Filtering of texels.
    pub filter: FilterMode,
    /// True if kernels read integer elements of 8 and 16 bits as floats from 0 to 1, or from -1 to
    /// 1 if they are signed. Float elements are always read as floats.
    pub normalized_floats: bool,
    /// True if coordinates run from 0 to 1 over each dimension, false if they are in texels.
    pub normalized_coordinates: bool,
    /// True if the first three channels of 8 bits are converted from sRGB to linear as they are
    /// read.
    pub srgb: bool,
    /// Largest ratio of anisotropic filtering, up to 16; 0 and 1 mean none.
    pub max_anisotropy: u32,
    /// Filtering between levels of a mipmapped array.
    pub mipmap_filter: FilterMode,
    /// Added to the requested level.
    pub mipmap_level_bias: f32,
    /// Smallest and largest level that are read.
    pub mipmap_level_clamp: [f32; 2],
    /// Color that `BORDER` reads.
    pub border_color: [f32; 4],
    /// True if the driver may filter with fewer levels of a mipmapped array than requested. The
    /// default.
    pub trilinear_optimization: bool,
    /// True if filtering goes across the edges between faces of a cube.
    pub seamless_cubemap: bool,
}

impl Sampler {
    pub(super) fn described(&self) -> CUDA_TEXTURE_DESC {
        let flags = [
            (!self.normalized_floats, CU_TRSF_READ_AS_INTEGER),
            (self.normalized_coordinates, CU_TRSF_NORMALIZED_COORDINATES),
            (self.srgb, CU_TRSF_SRGB),
            (!self.trilinear_optimization, CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION),
            (self.seamless_cubemap, CU_TRSF_SEAMLESS_CUBEMAP),
        ];
        let [least, most] = self.mipmap_level_clamp;
        CUDA_TEXTURE_DESC {
            addressMode: self.address_modes,
            filterMode: self.filter,
            flags: flags.iter().filter(|(set, _)| *set).map(|(_, flag)| flag).sum(),
            maxAnisotropy: self.max_anisotropy,
            mipmapFilterMode: self.mipmap_filter,
            mipmapLevelBias: self.mipmap_level_bias,
            minMipmapLevelClamp: least,
            maxMipmapLevelClamp: most,
            borderColor: self.border_color,
            reserved: [0; 12],
        }
    }
}

impl Default for Sampler {
    /// Coordinates in texels, clamped to the edge; the nearest texel, without conversion; the
    /// largest level.
    fn default() -> Self {
        Self {
            address_modes: [AddressMode::CU_TR_ADDRESS_MODE_CLAMP; 3],
            filter: FilterMode::CU_TR_FILTER_MODE_POINT,
            normalized_floats: false,
            normalized_coordinates: false,
            srgb: false,
            max_anisotropy: 0,
            mipmap_filter: FilterMode::CU_TR_FILTER_MODE_POINT,
            mipmap_level_bias: 0.0,
            mipmap_level_clamp: [0.0; 2],
            border_color: [0.0; 4],
            trilinear_optimization: true,
            seamless_cubemap: false,
        }
    }
}
