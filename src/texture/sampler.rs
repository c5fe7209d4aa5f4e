//! Sampling of textures: coordinates, addressing outside, filtering.

use cuprum_sys::{
    CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION, CU_TRSF_NORMALIZED_COORDINATES, CU_TRSF_READ_AS_INTEGER,
    CU_TRSF_SEAMLESS_CUBEMAP, CU_TRSF_SRGB, CUDA_TEXTURE_DESC, CUaddress_mode, CUfilter_mode,
};

/// Addressing outside of a texture, along one dimension.
///
/// Example: see [`Sampler`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct AddressMode(pub CUaddress_mode);

impl AddressMode {
    /// The texture again, from its beginning. Normalized coordinates only: otherwise the texel at the edge.
    pub const WRAP: Self = Self(CUaddress_mode::CU_TR_ADDRESS_MODE_WRAP);
    /// The texel at the edge.
    pub const CLAMP: Self = Self(CUaddress_mode::CU_TR_ADDRESS_MODE_CLAMP);
    /// The texture backwards. Normalized coordinates only: otherwise the texel at the edge.
    pub const MIRROR: Self = Self(CUaddress_mode::CU_TR_ADDRESS_MODE_MIRROR);
    /// The [border color](Sampler::border_color).
    pub const BORDER: Self = Self(CUaddress_mode::CU_TR_ADDRESS_MODE_BORDER);
}

/// Filtering of texels, or of levels of a mipmapped array.
///
/// Example: see [`Sampler`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct FilterMode(pub CUfilter_mode);

impl FilterMode {
    /// The nearest one is read.
    pub const POINT: Self = Self(CUfilter_mode::CU_TR_FILTER_MODE_POINT);
    /// The two nearest along each dimension are interpolated. Kernels must read floats, so elements that are integers
    /// need [`ReadMode::NormalizedFloat`].
    pub const LINEAR: Self = Self(CUfilter_mode::CU_TR_FILTER_MODE_LINEAR);
}

/// Numbers that kernels read of elements that are integers. Floats are always read as floats.
///
/// Example: see [`Texture`](super::Texture).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum ReadMode {
    /// Integers.
    #[default]
    ElementType,
    /// Floats from 0 to 1, or from -1 to 1 of signed integers. Of 8 and 16 bits only.
    NormalizedFloat,
}

/// Sampling of a texture. With [`new`](Sampler::new): coordinates in texels, clamped to the edge, unfiltered.
///
/// ```
/// use cuprum::texture::{AddressMode, FilterMode, Sampler};
///
/// let smooth = Sampler::new()
///     .with_normalized_coordinates()
///     .with_address_mode(AddressMode::WRAP)
///     .with_filter(FilterMode::LINEAR);
/// assert_eq!(smooth.address_modes, [AddressMode::WRAP; 3]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Sampler {
    /// Addressing outside, along x, y and z. Layers are always clamped, and cubes have no outside.
    ///
    /// A line with linear filtering needs [`AddressMode::CLAMP`] along y: the device samples it at the edge of a plane
    /// of one row, where half of what [`AddressMode::BORDER`] reads is border (measured on an H200).
    pub address_modes: [AddressMode; 3],
    /// Filtering of texels.
    pub filter: FilterMode,
    /// Numbers that kernels read of integers.
    pub read: ReadMode,
    /// True if coordinates run from 0 to 1 over each dimension, not in texels.
    pub normalized_coordinates: bool,
    /// True if the first three channels of 8 bits are converted from sRGB to linear as they are read.
    pub srgb: bool,
    /// Largest ratio of anisotropic filtering, up to 16; 0 and 1 mean none.
    pub max_anisotropy: u32,
    /// Filtering between levels of a mipmapped array.
    pub mipmap_filter: FilterMode,
    /// Bias that is added to the requested level.
    pub mipmap_level_bias: f32,
    /// Smallest and largest level that are read.
    pub mipmap_level_clamp: [f32; 2],
    /// Color that [`AddressMode::BORDER`] reads.
    pub border_color: [f32; 4],
    /// True if the driver may use fewer levels of a mipmapped array for filtering than asked for. The default.
    pub trilinear_optimization: bool,
    /// True if filtering goes across the edges between faces of a cube.
    pub seamless_cubemap: bool,
}

impl Sampler {
    /// Coordinates in texels, clamped; the nearest texel, as it is; the largest level.
    pub const fn new() -> Self {
        Self {
            address_modes: [AddressMode::CLAMP; 3],
            filter: FilterMode::POINT,
            read: ReadMode::ElementType,
            normalized_coordinates: false,
            srgb: false,
            max_anisotropy: 0,
            mipmap_filter: FilterMode::POINT,
            mipmap_level_bias: 0.0,
            mipmap_level_clamp: [0.0; 2],
            border_color: [0.0; 4],
            trilinear_optimization: true,
            seamless_cubemap: false,
        }
    }

    /// The same, with one address mode for all dimensions.
    pub const fn with_address_mode(self, mode: AddressMode) -> Self {
        Self { address_modes: [mode; 3], ..self }
    }

    /// The same, with another filter.
    pub const fn with_filter(self, filter: FilterMode) -> Self {
        Self { filter, ..self }
    }

    /// The same, with integers read otherwise.
    pub const fn with_read(self, read: ReadMode) -> Self {
        Self { read, ..self }
    }

    /// The same, with coordinates from 0 to 1.
    pub const fn with_normalized_coordinates(self) -> Self {
        Self { normalized_coordinates: true, ..self }
    }

    /// The same, with levels of a mipmapped array up to `most`, filtered by `filter`.
    pub const fn with_mipmap_levels(self, most: f32, filter: FilterMode) -> Self {
        Self { mipmap_filter: filter, mipmap_level_clamp: [0.0, most], ..self }
    }

    /// The same, with this color outside, along all dimensions (but see [`address_modes`](Sampler::address_modes)).
    pub const fn with_border_color(self, border_color: [f32; 4]) -> Self {
        Self { address_modes: [AddressMode::BORDER; 3], border_color, ..self }
    }

    pub(super) fn described(&self) -> CUDA_TEXTURE_DESC {
        let flags = [
            (self.read == ReadMode::ElementType, CU_TRSF_READ_AS_INTEGER),
            (self.normalized_coordinates, CU_TRSF_NORMALIZED_COORDINATES),
            (self.srgb, CU_TRSF_SRGB),
            (!self.trilinear_optimization, CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION),
            (self.seamless_cubemap, CU_TRSF_SEAMLESS_CUBEMAP),
        ];
        let [least, most] = self.mipmap_level_clamp;
        CUDA_TEXTURE_DESC {
            addressMode: self.address_modes.map(|mode| mode.0),
            filterMode: self.filter.0,
            flags: flags.iter().filter(|(set, _)| *set).map(|(_, flag)| flag).sum(),
            maxAnisotropy: self.max_anisotropy,
            mipmapFilterMode: self.mipmap_filter.0,
            mipmapLevelBias: self.mipmap_level_bias,
            minMipmapLevelClamp: least,
            maxMipmapLevelClamp: most,
            borderColor: self.border_color,
            reserved: [0; 12],
        }
    }

    pub(super) fn read_back(described: &CUDA_TEXTURE_DESC) -> Self {
        let has = |flag| described.flags & flag != 0;
        let read =
            if has(CU_TRSF_READ_AS_INTEGER) { ReadMode::ElementType } else { ReadMode::NormalizedFloat };
        Self {
            address_modes: described.addressMode.map(AddressMode),
            filter: FilterMode(described.filterMode),
            read,
            normalized_coordinates: has(CU_TRSF_NORMALIZED_COORDINATES),
            srgb: has(CU_TRSF_SRGB),
            max_anisotropy: described.maxAnisotropy,
            mipmap_filter: FilterMode(described.mipmapFilterMode),
            mipmap_level_bias: described.mipmapLevelBias,
            mipmap_level_clamp: [described.minMipmapLevelClamp, described.maxMipmapLevelClamp],
            border_color: described.borderColor,
            trilinear_optimization: !has(CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION),
            seamless_cubemap: has(CU_TRSF_SEAMLESS_CUBEMAP),
        }
    }
}

impl Default for Sampler {
    fn default() -> Self {
        Self::new()
    }
}
