//! Textures: the values that kernels read, compared with plain Rust, and the reported attributes.

use cuprum::Buffer;
use cuprum::memory::vector::float4;
use cuprum::memory::{Array, ArrayFlags, ArrayShape, Half, MipmappedArray, Pitched, PitchedBuffer};
use cuprum::sys::{
    CU_TRSF_NORMALIZED_COORDINATES, CU_TRSF_SEAMLESS_CUBEMAP, CUDA_TEXTURE_DESC, CUresult, call,
};
use cuprum::texture::{AddressMode, FilterMode, ResourceView, Sampler, Texture, TextureError};

use crate::common::{driver, in_context, on_gpu};
use crate::sampling::{fetch, first_channels, reference, sample, sample_bits};

const NONE: ArrayFlags = ArrayFlags::empty();

/// Numbers whose mixtures are exact.
fn numbers(len: usize) -> Vec<f32> {
    (0..len).map(|at| ((at * 37 + 11) % 64) as f32 - 20.0).collect()
}

const TEX_1D: &str = "tex.1d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%c0}];";
const TEX_2D: &str = "tex.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%c0, %c1}];";
const TEX_3D: &str = "tex.3d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%c0, %c1, %c2, %c2}];";
const TEX_A2D: &str = "tex.a2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%c2, %c0, %c1, %c1}];";
const TEX_LEVEL_2D: &str = "tex.level.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%c0, %c1}], %c2;";

/// A sampler with a field changed that has no `with_` of its own.
fn changed(mut sampler: Sampler, change: impl FnOnce(&mut Sampler)) -> Sampler {
    change(&mut sampler);
    sampler
}

/// The sampling of a texture as the driver describes it, which has no method.
fn described(texture: &Texture<'_>) -> CUDA_TEXTURE_DESC {
    let (mut told, fns) = (CUDA_TEXTURE_DESC::zeroed(), driver().library().fns());
    // SAFETY: the texture is live, and the place outlives the call.
    let (code, _) = unsafe { call!(fns, cuTexObjectGetTextureDesc(&raw mut told, texture.as_raw())) };
    assert_eq!(code, CUresult::CUDA_SUCCESS);
    told
}

/// All address and filter modes, with both kinds of coordinates.
fn samplers() -> Vec<Sampler> {
    let modes = [
        AddressMode::CU_TR_ADDRESS_MODE_WRAP,
        AddressMode::CU_TR_ADDRESS_MODE_CLAMP,
        AddressMode::CU_TR_ADDRESS_MODE_MIRROR,
        AddressMode::CU_TR_ADDRESS_MODE_BORDER,
    ];
    let filters = [FilterMode::CU_TR_FILTER_MODE_POINT, FilterMode::CU_TR_FILTER_MODE_LINEAR];
    let mut all = Vec::new();
    for (mode, filter) in modes.into_iter().flat_map(|mode| filters.map(|filter| (mode, filter))) {
        let sampler =
            Sampler { border_color: [-4.0; 4], address_modes: [mode; 3], filter, ..Sampler::default() };
        all.extend([sampler, Sampler { normalized_coordinates: true, ..sampler }]);
    }
    all
}

/// Coordinates in parts of a texel, over a side and beyond it.
fn along_in(parts: i32, sampler: &Sampler, len: usize) -> Vec<f32> {
    let scale = if sampler.normalized_coordinates { 1.0 / len as f32 } else { 1.0 };
    let beyond = 5 * parts / 2;
    (-beyond..parts * len as i32 + beyond).map(|part| part as f32 / parts as f32 * scale).collect()
}

/// In eighths: the weights of four texels are whole numbers of 1/256.
fn along(sampler: &Sampler, len: usize) -> Vec<f32> {
    along_in(8, sampler, len)
}

#[test]
fn lines_planes_and_solids_are_addressed_and_filtered_as_described() {
    in_context(|cx| {
        for sampler in samplers() {
            let line = numbers(8);
            let array = Array::from_slice(cx, ArrayShape::OneD { width: 8 }, NONE, &line).unwrap();
            // Of a line, which hardware samples at the edge of a plane of one row, a border along y
            // would show.
            let [mode, ..] = sampler.address_modes;
            let modes = [mode, AddressMode::CU_TR_ADDRESS_MODE_CLAMP, AddressMode::CU_TR_ADDRESS_MODE_CLAMP];
            let of_line = changed(sampler, |sampler| sampler.address_modes = modes);
            let texture = Texture::new(cx, &array, &of_line).unwrap();
            let at: Vec<_> = along(&sampler, 8).into_iter().map(|x| vec![x]).collect();
            for (row, [value, ..]) in at.iter().zip(sample(cx, &texture, TEX_1D, &at)) {
                assert_eq!(value, reference::value(&sampler, &[8], &line, row), "{sampler:?} at {row:?}");
            }
            let plane = numbers(4 * 8);
            let array =
                Array::from_slice(cx, ArrayShape::TwoD { width: 4, height: 8 }, NONE, &plane).unwrap();
            let texture = Texture::new(cx, &array, &sampler).unwrap();
            let (xs, ys) = (along(&sampler, 4), along(&sampler, 8));
            let at: Vec<_> = (0..ys.len()).map(|i| vec![xs[i * 5 % xs.len()], ys[i]]).collect();
            for (row, [value, ..]) in at.iter().zip(sample(cx, &texture, TEX_2D, &at)) {
                assert_eq!(value, reference::value(&sampler, &[4, 8], &plane, row), "{sampler:?} at {row:?}");
            }
            let solid = numbers(4 * 2 * 8);
            let shape = ArrayShape::ThreeD { width: 4, height: 2, depth: 8 };
            let array = Array::from_slice(cx, shape, NONE, &solid).unwrap();
            let texture = Texture::new(cx, &array, &sampler).unwrap();
            // In quarters, for the same reason: the device rounds the weights of eight texels.
            let along = |len| along_in(4, &sampler, len);
            let (xs, ys, zs) = (along(4), along(2), along(8));
            let at: Vec<_> =
                (0..zs.len()).map(|i| vec![xs[i * 5 % xs.len()], ys[i * 7 % ys.len()], zs[i]]).collect();
            for (row, [value, ..]) in at.iter().zip(sample(cx, &texture, TEX_3D, &at)) {
                assert_eq!(
                    value,
                    reference::value(&sampler, &[4, 2, 8], &solid, row),
                    "{sampler:?} at {row:?}"
                );
            }
        }
    });
}

#[test]
fn integers_are_read_as_integers_or_as_floats_up_to_one() {
    in_context(|cx| {
        let shape = ArrayShape::OneD { width: 4 };
        let at: Vec<_> = (0..4u8).map(|x| vec![f32::from(x)]).collect();
        let as_floats = Sampler { normalized_floats: true, ..Sampler::default() };

        let bytes = [0u8, 1, 128, 255];
        let array = Array::from_slice(cx, shape, NONE, &bytes).unwrap();
        let texture = Texture::new(cx, &array, &Sampler::default()).unwrap();
        let code = "tex.1d.v4.u32.f32 {%d0, %d1, %d2, %d3}, [%t, {%c0}];";
        let read: Vec<u32> = sample_bits(cx, &texture, code, &at).iter().map(|row| row[0]).collect();
        assert_eq!(read, bytes.map(u32::from));
        let texture = Texture::new(cx, &array, &as_floats).unwrap();
        for (byte, [value, ..]) in bytes.iter().zip(sample(cx, &texture, TEX_1D, &at)) {
            assert_eq!(value, f32::from(*byte) / 255.0);
        }

        let signed = [[-128i8, -127], [-1, 0], [1, 64], [126, 127]];
        let array = Array::from_slice(cx, shape, NONE, &signed).unwrap();
        let texture = Texture::new(cx, &array, &Sampler::default()).unwrap();
        let code = "tex.1d.v4.s32.f32 {%d0, %d1, %d2, %d3}, [%t, {%c0}];";
        for (pair, [x, y, ..]) in signed.iter().zip(sample_bits(cx, &texture, code, &at)) {
            assert_eq!([x as i32, y as i32], pair.map(i32::from));
        }
        let texture = Texture::new(cx, &array, &as_floats).unwrap();
        for (pair, [x, y, ..]) in signed.iter().zip(sample(cx, &texture, TEX_1D, &at)) {
            assert_eq!([x, y], pair.map(|byte| (f32::from(byte) / 127.0).max(-1.0)));
        }

        let halves = [Half(0x3C00), Half(0xC000), Half(0x3800), Half(0x0000)];
        let array = Array::from_slice(cx, shape, NONE, &halves).unwrap();
        let texture = Texture::new(cx, &array, &Sampler::default()).unwrap();
        let read: Vec<f32> = first_channels(&sample(cx, &texture, TEX_1D, &at));
        assert_eq!(read, [1.0, -2.0, 0.5, 0.0]);
    });
}

#[test]
fn colors_in_srgb_are_made_linear_but_for_alpha() {
    in_context(|cx| {
        let texels: Vec<[u8; 4]> = (0..=255).step_by(5).map(|byte| [byte, byte, 255 - byte, byte]).collect();
        let shape = ArrayShape::OneD { width: texels.len() };
        let array = Array::from_slice(cx, shape, NONE, &texels).unwrap();
        let sampler = Sampler { srgb: true, normalized_floats: true, ..Sampler::default() };
        let texture = Texture::new(cx, &array, &sampler).unwrap();
        let at: Vec<_> = (0..texels.len()).map(|x| vec![x as f32]).collect();
        let linear = |byte: u8| {
            let encoded = f32::from(byte) / 255.0;
            if encoded <= 0.04045 { encoded / 12.92 } else { ((encoded + 0.055) / 1.055).powf(2.4) }
        };
        for (texel, read) in texels.iter().zip(sample(cx, &texture, TEX_1D, &at)) {
            for (channel, &byte) in texel.iter().enumerate() {
                let (value, error) =
                    if channel == 3 { (f32::from(byte) / 255.0, 0.0) } else { (linear(byte), 1.0 / 256.0) };
                assert!((read[channel] - value).abs() <= error, "{texel:?}: {read:?}");
            }
        }
    });
}

#[test]
fn layers_and_faces_are_picked_by_number() {
    in_context(|cx| {
        let shape = ArrayShape::TwoDLayered { width: 4, height: 2, layers: 3 };
        let texels = numbers(24);
        let array = Array::from_slice(cx, shape, NONE, &texels).unwrap();
        let texture = Texture::new(cx, &array, &Sampler::default()).unwrap();
        // The layer is an integer; the words of coordinates are bits.
        let at: Vec<_> =
            (0..24u32).map(|at| vec![(at % 4) as f32, (at / 4 % 2) as f32, f32::from_bits(at / 8)]).collect();
        let read: Vec<f32> = sample(cx, &texture, TEX_A2D, &at).iter().map(|row| row[0]).collect();
        assert_eq!(read, texels);

        let shape = ArrayShape::OneDLayered { width: 8, layers: 2 };
        let array = Array::from_slice(cx, shape, NONE, &texels[..16]).unwrap();
        let texture = Texture::new(cx, &array, &Sampler::default()).unwrap();
        let code = "tex.a1d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%c1, %c0}];";
        let at: Vec<_> = (0..16u32).map(|at| vec![(at % 8) as f32, f32::from_bits(at / 8)]).collect();
        let read: Vec<f32> = first_channels(&sample(cx, &texture, code, &at));
        assert_eq!(read, texels[..16]);

        // The middles of the faces +x, -x, +y, -y, +z, -z.
        let middles = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]];
        let faces: Vec<f32> = (0..6u8).map(f32::from).collect();
        let array = Array::from_slice(cx, ArrayShape::Cubemap { side: 1 }, NONE, &faces).unwrap();
        let cube = Sampler { normalized_coordinates: true, ..Sampler::default() };
        let texture = Texture::new(cx, &array, &cube).unwrap();
        let code = "tex.cube.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%c0, %c1, %c2, %c2}];";
        let at: Vec<_> = middles.iter().map(|middle| middle.map(|side| side as f32).to_vec()).collect();
        let read: Vec<f32> = first_channels(&sample(cx, &texture, code, &at));
        assert_eq!(read, faces);

        let faces: Vec<f32> = (0..12u8).map(f32::from).collect();
        let array =
            Array::from_slice(cx, ArrayShape::CubemapLayered { side: 1, cubes: 2 }, NONE, &faces).unwrap();
        let texture = Texture::new(cx, &array, &cube).unwrap();
        let code = "tex.acube.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%c3, %c0, %c1, %c2}];";
        let of = |cube: u32| {
            let with = move |middle: &[i32; 3]| {
                middle.iter().map(|&side| side as f32).chain([f32::from_bits(cube)]).collect()
            };
            middles.iter().map(with).collect::<Vec<Vec<f32>>>()
        };
        let read: Vec<f32> =
            sample(cx, &texture, code, &[of(0), of(1)].concat()).iter().map(|row| row[0]).collect();
        assert_eq!(read, faces);
    });
}

#[test]
fn levels_are_picked_mixed_moved_and_clamped() {
    in_context(|cx| {
        let shape = ArrayShape::TwoD { width: 8, height: 8 };
        let mipmapped = MipmappedArray::<f32>::new(cx, shape, NONE, 4).unwrap();
        for level in 0..4u32 {
            let view = mipmapped.view().level(cx, level).unwrap();
            let len = view.shape().extent().len().unwrap();
            cx.copy(&mut view.all(), &vec![10.0 * level as f32; len]).unwrap();
        }
        let levels: Vec<f32> = (-4..18).map(|quarter| quarter as f32 / 4.0).collect();
        let at: Vec<_> = levels.iter().map(|&level| vec![0.5, 0.5, level]).collect();
        let base = Sampler { normalized_coordinates: true, ..Sampler::default() };
        let all = Sampler { mipmap_level_clamp: [0.0, 3.0], ..base };
        let linear = Sampler { mipmap_filter: FilterMode::CU_TR_FILTER_MODE_LINEAR, ..all };
        let read = |sampler: &Sampler| -> Vec<f32> {
            let texture = Texture::new(cx, &mipmapped, sampler).unwrap();
            sample(cx, &texture, TEX_LEVEL_2D, &at).iter().map(|row| row[0]).collect()
        };
        let expected =
            |to: &dyn Fn(f32) -> f32| levels.iter().map(|&level| 10.0 * to(level)).collect::<Vec<_>>();
        assert_eq!(read(&linear), expected(&|level| level.clamp(0.0, 3.0)));
        let moved = changed(linear, |sampler| sampler.mipmap_level_bias = 0.5);
        assert_eq!(read(&moved), expected(&|level| (level + 0.5).clamp(0.0, 3.0)));
        let clamped = changed(linear, |sampler| sampler.mipmap_level_clamp = [1.0, 2.0]);
        assert_eq!(read(&clamped), expected(&|level| level.clamp(1.0, 2.0)));
        assert_eq!(read(&base), expected(&|_| 0.0), "the largest level alone, unless asked for more");
        // Half way between two levels, either may be read.
        let nearest = read(&all);
        for (&level, value) in levels.iter().zip(nearest).filter(|(level, _)| level.fract().abs() != 0.5) {
            assert_eq!(value, 10.0 * level.clamp(0.0, 3.0).round(), "at level {level}");
        }

        // Only some of the levels, counted from the first of them.
        let view = ResourceView { levels: (1, 2), ..ResourceView::of::<f32>() };
        let texture = Texture::with_view(cx, &mipmapped, &linear, &view).unwrap();
        let some = sample(cx, &texture, TEX_LEVEL_2D, &[vec![0.5, 0.5, 0.0], vec![0.5, 0.5, 9.0]]);
        assert_eq!(first_channels(&some), [10.0, 20.0]);
        // One of them is an array like any other.
        let texture = Texture::new(cx, mipmapped.view().level(cx, 3).unwrap(), &base).unwrap();
        assert_eq!(first_channels(&sample(cx, &texture, TEX_2D, &[vec![0.5, 0.5]])), [30.0]);
    });
}

#[test]
fn anisotropy_is_stored_and_reported() {
    in_context(|cx| {
        let shape = ArrayShape::TwoD { width: 4, height: 4 };
        let mipmapped = MipmappedArray::<f32>::new(cx, shape, NONE, 3).unwrap();
        for level in 0..3 {
            let view = mipmapped.view().level(cx, level).unwrap();
            cx.copy(&mut view.all(), &vec![1.0; view.shape().extent().len().unwrap()]).unwrap();
        }
        let sampler = Sampler {
            normalized_coordinates: true,
            filter: FilterMode::CU_TR_FILTER_MODE_LINEAR,
            mipmap_filter: FilterMode::CU_TR_FILTER_MODE_LINEAR,
            mipmap_level_clamp: [0.0, 2.0],
            max_anisotropy: 16,
            trilinear_optimization: false,
            mipmap_level_bias: -1.0,
            ..Sampler::default()
        };
        let texture = Texture::new(cx, &mipmapped, &sampler).unwrap();
        let told = described(&texture);
        assert_eq!((told.maxAnisotropy, told.mipmapLevelBias), (16, -1.0));
        assert_eq!((told.minMipmapLevelClamp, told.maxMipmapLevelClamp), (0.0, 2.0));
        let code = "tex.grad.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%c0, %c1}], {%c2, %c3}, {%c4, %c5};";
        let at = [vec![0.5, 0.5, 0.9, 0.0, 0.0, 0.1]];
        assert_eq!(first_channels(&sample(cx, &texture, code, &at)), [1.0], "a mixture of equal texels");
    });
}

#[test]
fn linear_memory_is_fetched_by_number_and_zero_outside() {
    in_context(|cx| {
        let colors: Vec<float4> =
            (0..100u8).map(|at| float4::new(f32::from(at), 1.0, 2.0, -f32::from(at))).collect();
        let buffer = Buffer::from_slice(cx, &colors).unwrap();
        let texture = Texture::new(cx, &buffer, &Sampler::default()).unwrap();
        let code = "tex.1d.v4.f32.s32 {%d0, %d1, %d2, %d3}, [%t, {%c0}];";
        let at: Vec<_> = (0..100).map(|at| vec![at]).collect();
        for (color, read) in colors.iter().zip(fetch(cx, &texture, code, &at)) {
            assert_eq!(read.map(f32::from_bits), <[f32; 4]>::from(*color));
        }
        assert_eq!(fetch(cx, &texture, code, &[vec![100], vec![u32::MAX]]), [[0; 4]; 2]);
        let bytes = Buffer::from_slice(cx, &[7u8; 1024]).unwrap();
        Texture::new(cx, bytes.slice(512..).unwrap(), &Sampler::default()).unwrap();
        let refused = Texture::new(cx, bytes.slice(8..).unwrap(), &Sampler::default()).unwrap_err();
        let TextureError::Driver(error) = refused else { panic!("{refused}") };
        assert_eq!(error.code(), CUresult::CUDA_ERROR_INVALID_VALUE, "an address that is not aligned");
    });
}

#[test]
fn rows_of_memory_are_addressed_in_two_dimensions() {
    in_context(|cx| {
        let texels = numbers(8 * 4);
        let buffer = PitchedBuffer::from_slice(cx, &texels, (8, 4)).unwrap();
        for sampler in samplers() {
            let texture = Texture::new(cx, &buffer, &sampler).unwrap();
            let (xs, ys) = (along(&sampler, 8), along(&sampler, 4));
            let at: Vec<_> = (0..xs.len()).map(|i| vec![xs[i], ys[i * 5 % ys.len()]]).collect();
            for (row, [value, ..]) in at.iter().zip(sample(cx, &texture, TEX_2D, &at)) {
                assert_eq!(
                    value,
                    reference::value(&sampler, &[8, 4], &texels, row),
                    "{sampler:?} at {row:?}"
                );
            }
        }
        // Rows of linear memory, and only some of them.
        let linear = Buffer::from_slice(cx, &texels).unwrap();
        let rows = Pitched::over(linear.as_slice(), (8, 4)).unwrap().part(..6, ..2, ..).unwrap();
        let texture = Texture::new(cx, rows, &Sampler::default()).unwrap();
        let read = sample(cx, &texture, TEX_2D, &[vec![5.0, 1.0], vec![7.0, 3.0]]);
        assert_eq!(first_channels(&read), [texels[13]; 2], "clamped to the part");
        let solid = PitchedBuffer::<f32>::alloc(cx, (4, 4, 2)).unwrap();
        let refused = Texture::new(cx, &solid, &Sampler::default()).unwrap_err();
        assert_eq!(refused, TextureError::Slices { extent: (4, 4, 2).into() });
    });
}

#[test]
fn four_texels_are_gathered() {
    in_context(|cx| {
        let texels = numbers(16);
        let shape = ArrayShape::TwoD { width: 4, height: 4 };
        let array = Array::from_slice(cx, shape, ArrayFlags::TEXTURE_GATHER, &texels).unwrap();
        let texture = Texture::new(cx, &array, &Sampler::default()).unwrap();
        let code = "tld4.r.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%c0, %c1}];";
        // Around the corner at (2, 1): lower left, lower right, upper right, upper left.
        let read = sample(cx, &texture, code, &[vec![2.0, 1.0]]);
        assert_eq!(read, [[texels[5], texels[6], texels[2], texels[1]]]);
    });
}

#[test]
fn an_array_is_read_as_other_elements_and_only_some_layers() {
    in_context(|cx| {
        let colors: Vec<[u8; 4]> = (0..12).map(|at| [at, 10 + at, 20 + at, 255]).collect();
        let shape = ArrayShape::TwoDLayered { width: 2, height: 2, layers: 3 };
        let array = Array::from_slice(cx, shape, NONE, &colors).unwrap();
        let view = ResourceView { layers: (1, 2), ..ResourceView::of::<u32>() };
        let texture = Texture::with_view(cx, &array, &Sampler::default(), &view).unwrap();
        let code = "tex.a2d.v4.u32.f32 {%d0, %d1, %d2, %d3}, [%t, {%c2, %c0, %c1, %c1}];";
        let at: Vec<_> =
            (0..8u32).map(|at| vec![(at % 2) as f32, (at / 2 % 2) as f32, f32::from_bits(at / 4)]).collect();
        let read: Vec<u32> = sample_bits(cx, &texture, code, &at).iter().map(|row| row[0]).collect();
        assert_eq!(read, colors[4..].iter().map(|color| u32::from_le_bytes(*color)).collect::<Vec<_>>());
        for wrong in [ResourceView::of::<u16>(), ResourceView { layers: (1, 7), ..ResourceView::of::<u32>() }]
        {
            match Texture::with_view(cx, &array, &Sampler::default(), &wrong) {
                // The driver of an H200 takes one of them at least.
                Ok(_) => assert!(on_gpu(), "{wrong:?}"),
                Err(TextureError::Driver(error)) => {
                    assert_eq!(error.code(), CUresult::CUDA_ERROR_INVALID_VALUE, "{wrong:?}");
                }
                Err(other) => panic!("{other}"),
            }
        }
        let line = Array::<[u8; 4]>::from_slice(cx, ArrayShape::OneD { width: 12 }, NONE, &colors).unwrap();
        let texture = Texture::with_view(cx, &line, &Sampler::default(), &ResourceView::of::<u32>()).unwrap();
        let code = "tex.1d.v4.u32.f32 {%d0, %d1, %d2, %d3}, [%t, {%c0}];";
        assert_eq!(sample_bits(cx, &texture, code, &[vec![3.0]])[0][0], u32::from_le_bytes(colors[3]));
    });
}

#[test]
fn requested_settings_reach_the_driver() {
    in_context(|cx| {
        let shape = ArrayShape::TwoD { width: 4, height: 4 };
        let array = Array::<f32>::new(cx, shape, NONE).unwrap();
        let sampler = changed(Sampler::default(), |sampler| {
            sampler.address_modes = [
                AddressMode::CU_TR_ADDRESS_MODE_MIRROR,
                AddressMode::CU_TR_ADDRESS_MODE_BORDER,
                AddressMode::CU_TR_ADDRESS_MODE_WRAP,
            ];
            sampler.filter = FilterMode::CU_TR_FILTER_MODE_LINEAR;
            sampler.normalized_floats = true;
            sampler.normalized_coordinates = true;
            sampler.mipmap_level_bias = 0.25;
            sampler.mipmap_level_clamp = [0.5, 1.5];
            sampler.border_color = [0.1, 0.2, 0.3, 0.4];
        });
        let texture = Texture::new(cx, &array, &sampler).unwrap();
        let told = described(&texture);
        assert_eq!(told.addressMode, sampler.address_modes);
        assert_eq!((told.filterMode, told.mipmapLevelBias), (sampler.filter, 0.25));
        assert_eq!((told.minMipmapLevelClamp, told.maxMipmapLevelClamp), (0.5, 1.5));
        assert_eq!(told.flags, CU_TRSF_NORMALIZED_COORDINATES);
        let cube = Array::<f32>::new(cx, ArrayShape::Cubemap { side: 4 }, NONE).unwrap();
        let seamless = changed(sampler, |sampler| sampler.seamless_cubemap = true);
        let told = described(&Texture::new(cx, &cube, &seamless).unwrap());
        assert_eq!(told.flags, CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SEAMLESS_CUBEMAP);
        texture.close().unwrap();
    });
}
