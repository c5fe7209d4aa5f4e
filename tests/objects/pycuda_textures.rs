//! PyCUDA's tests of textures, surfaces and copies in several dimensions (`test/test_driver.py`),
//! each under its name.
//!
//! They were written for texture and surface references, which CUDA 12 removed, so PyCUDA skips
//! them; here they use objects. Textures have no doubles, so PyCUDA stores them in channels of
//! 32-bit integers. These tests do the same.

use cuprum::memory::vector::float4;
use cuprum::memory::{
    Array, ArrayFlags, ArrayShape, HostBlock, HostBlockMut, Pitched, PitchedBuffer, PitchedMut, Texel,
};
use cuprum::texture::{Sampler, Surface, Texture, TextureObject};
use cuprum::{Buffer, Current, InOut, LaunchConfig, Stream};

use crate::common::{in_context, load};
use crate::sampling::{access, fetch, sample, sample_bits};

const NONE: ArrayFlags = ArrayFlags::empty();
const TEX_2D: &str = "tex.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%c0, %c1}];";

/// Numbers without a pattern.
fn noise(len: usize) -> Vec<f32> {
    (0..len as u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 8) as f32 / (1 << 24) as f32).collect()
}

/// The coordinates of each element of a plane, row by row.
fn places(width: usize, height: usize) -> Vec<Vec<f32>> {
    (0..width * height).map(|at| vec![(at % width) as f32, (at / width) as f32]).collect()
}

/// A matrix of `rows` by `columns` that is stored column by column is read as
/// `matrix[row][column]`.
#[test]
fn test_2d_texture() {
    in_context(|cx| {
        let (rows, columns) = (3, 4);
        let matrix = noise(12);
        let by_columns: Vec<f32> = (0..12).map(|at| matrix[at % rows * columns + at / rows]).collect();
        let shape = ArrayShape::TwoD { width: rows, height: columns };
        let array = Array::from_slice(cx, shape, NONE, &by_columns).unwrap();
        let texture = Texture::new(cx, &array, &Sampler::default()).unwrap();
        let at: Vec<_> = (0..12).map(|at| vec![(at / columns) as f32, (at % columns) as f32]).collect();
        let read: Vec<f32> = sample(cx, &texture, TEX_2D, &at).iter().map(|row| row[0]).collect();
        assert_eq!(read, matrix);
    });
}

/// One kernel adds the texels of two textures.
#[test]
fn test_multiple_2d_textures() {
    const ADD: &str = "
        .version 7.0
        .target sm_52
        .address_size 64
        .entry add(.param .u64 first, .param .u64 second, .param .u64 out) {
            .reg .f32 %f<10>; .reg .b32 %r<3>; .reg .b64 %rd<5>;
            ld.param.u64 %rd0, [first];
            ld.param.u64 %rd1, [second];
            ld.param.u64 %rd2, [out];
            cvta.to.global.u64 %rd2, %rd2;
            mov.u32 %r0, %tid.x;
            mov.u32 %r1, %tid.y;
            cvt.rn.f32.u32 %f8, %r0;
            cvt.rn.f32.u32 %f9, %r1;
            tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%rd0, {%f8, %f9}];
            tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd1, {%f8, %f9}];
            add.f32 %f0, %f0, %f4;
            mov.u32 %r2, %ntid.x;
            mad.lo.u32 %r2, %r1, %r2, %r0;
            mul.wide.u32 %rd3, %r2, 4;
            add.u64 %rd4, %rd2, %rd3;
            st.global.f32 [%rd4], %f0;
            ret;
        }";
    in_context(|cx| {
        let shape = ArrayShape::TwoD { width: 4, height: 3 };
        let matrices = [noise(24)[..12].to_vec(), noise(24)[12..].to_vec()];
        let arrays = matrices.each_ref().map(|matrix| Array::from_slice(cx, shape, NONE, matrix).unwrap());
        let [first, second] =
            arrays.each_ref().map(|array| Texture::new(cx, array, &Sampler::default()).unwrap());
        let module = load(cx, ADD);
        let add = module.function("add").unwrap();
        let add = add.bind::<(TextureObject, TextureObject, InOut<f32>)>().unwrap();
        let mut out = Buffer::<f32>::zeroed(cx, 12).unwrap();
        let stream = Stream::new(cx).unwrap();
        let config = LaunchConfig::new(1, (4, 3));
        // SAFETY: the kernel writes 12 floats; the copy below comes after it, and then the textures
        // go.
        unsafe { add.launch(cx, &stream, config, (&first, &second, &mut out)) }.unwrap();
        let sums: Vec<f32> = matrices[0].iter().zip(&matrices[1]).map(|(a, b)| a + b).collect();
        assert_eq!(out.to_vec(cx).unwrap(), sums);
    });
}

#[test]
fn test_multichannel_2d_texture() {
    in_context(|cx| {
        let numbers = noise(5 * 6 * 4);
        let texels: Vec<[f32; 4]> = numbers.chunks(4).map(|four| four.try_into().unwrap()).collect();
        let shape = ArrayShape::TwoD { width: 5, height: 6 };
        let array = Array::from_slice(cx, shape, NONE, &texels).unwrap();
        let texture = Texture::new(cx, &array, &Sampler::default()).unwrap();
        assert_eq!(sample(cx, &texture, TEX_2D, &places(5, 6)), texels);
    });
}

#[test]
fn test_multichannel_linear_texture() {
    in_context(|cx| {
        let numbers = noise(16 * 4);
        let texels: Vec<float4> =
            numbers.chunks(4).map(|four| float4::new(four[0], four[1], four[2], four[3])).collect();
        let buffer = Buffer::from_slice(cx, &texels).unwrap();
        let texture = Texture::new(cx, &buffer, &Sampler::default()).unwrap();
        let code = "tex.1d.v4.f32.s32 {%d0, %d1, %d2, %d3}, [%t, {%c0}];";
        let at: Vec<_> = (0..16).map(|at| vec![at]).collect();
        let read: Vec<float4> =
            fetch(cx, &texture, code, &at).iter().map(|row| row.map(f32::from_bits).into()).collect();
        assert_eq!(read, texels);
    });
}

/// The bits of doubles and of complex numbers, as the channels that hold them.
fn bits<const N: usize>(numbers: impl Iterator<Item = [f64; N]>) -> Vec<Vec<u32>> {
    let words = |number: f64| [number.to_bits() as u32, (number.to_bits() >> 32) as u32];
    numbers.map(|parts| parts.into_iter().flat_map(words).collect()).collect()
}

/// Reads an array of integers that encode something else, and compares the channels.
fn reads_back<T: Texel>(
    cx: &Current<'_, '_>,
    shape: ArrayShape,
    texels: &[T],
    channels: &[Vec<u32>],
    (code, at): (&str, &[Vec<f32>]),
) {
    let array = Array::from_slice(cx, shape, NONE, texels).unwrap();
    let texture = Texture::new(cx, &array, &Sampler::default()).unwrap();
    for (read, expected) in sample_bits(cx, &texture, code, at).iter().zip(channels) {
        assert_eq!(&read[..expected.len()], expected, "{shape:?}");
    }
    assert_eq!(at.len(), channels.len());
}

/// Numbers of 16 bits, floats, doubles, and complex numbers of two floats and of two doubles.
fn fp_textures(cx: &Current<'_, '_>, shape: ArrayShape, dimension: &str, at: &[Vec<f32>]) {
    let len = shape.extent().len().unwrap();
    let code = |ty: &str| dimension.replace("TYPE", ty);
    let numbers = noise(2 * len);
    let doubles = |at: usize| f64::from(numbers[at]) / 3.0;

    let shorts: Vec<i16> = (0..len).map(|at| (at * 31) as i16 - 200).collect();
    let channels: Vec<Vec<u32>> = shorts.iter().map(|&short| vec![i32::from(short) as u32]).collect();
    reads_back(cx, shape, &shorts, &channels, (&code("s32"), at));
    let channels: Vec<Vec<u32>> = numbers[..len].iter().map(|float| vec![float.to_bits()]).collect();
    reads_back(cx, shape, &numbers[..len], &channels, (&code("f32"), at));
    let pairs: Vec<[f32; 2]> = numbers.chunks(2).map(|pair| [pair[0], pair[1]]).collect();
    let channels: Vec<Vec<u32>> = pairs.iter().map(|pair| pair.map(f32::to_bits).to_vec()).collect();
    reads_back(cx, shape, &pairs, &channels, (&code("f32"), at));
    let channels = bits((0..len).map(|at| [doubles(at)]));
    let texels: Vec<[i32; 2]> = channels.iter().map(|two| [two[0] as i32, two[1] as i32]).collect();
    reads_back(cx, shape, &texels, &channels, (&code("s32"), at));
    let channels = bits((0..len).map(|at| [doubles(2 * at), doubles(2 * at + 1)]));
    let texels: Vec<[u32; 4]> = channels.iter().map(|four| four[..].try_into().unwrap()).collect();
    reads_back(cx, shape, &texels, &channels, (&code("u32"), at));
}

#[test]
fn test_2d_fp_textures() {
    in_context(|cx| {
        let shape = ArrayShape::TwoD { width: 7, height: 5 };
        fp_textures(cx, shape, "tex.2d.v4.TYPE.f32 {%d0, %d1, %d2, %d3}, [%t, {%c0, %c1}];", &places(7, 5));
    });
}

#[test]
fn test_2d_fp_textures_layered() {
    in_context(|cx| {
        let shape = ArrayShape::TwoDLayered { width: 3, height: 4, layers: 3 };
        let at: Vec<_> = (0..3)
            .flat_map(|layer| {
                places(3, 4).into_iter().map(move |at| [at, vec![f32::from_bits(layer)]].concat())
            })
            .collect();
        fp_textures(cx, shape, "tex.a2d.v4.TYPE.f32 {%d0, %d1, %d2, %d3}, [%t, {%c2, %c0, %c1, %c1}];", &at);
    });
}

#[test]
fn test_3d_fp_textures() {
    in_context(|cx| {
        let shape = ArrayShape::ThreeD { width: 4, height: 3, depth: 2 };
        let at: Vec<_> = (0..2u8)
            .flat_map(|z| places(4, 3).into_iter().map(move |at| [at, vec![f32::from(z)]].concat()))
            .collect();
        fp_textures(cx, shape, "tex.3d.v4.TYPE.f32 {%d0, %d1, %d2, %d3}, [%t, {%c0, %c1, %c2, %c2}];", &at);
    });
}

/// Writes doubles through a surface, x and y exchanged, and reads them through it.
fn fp_surfaces(cx: &Current<'_, '_>, shape: ArrayShape, place: &str) {
    let side = shape.extent().width;
    let len = shape.extent().len().unwrap();
    let channels = bits(noise(len).into_iter().map(|number| [f64::from(number) / 3.0]));
    let array = Array::<[u32; 2]>::new(cx, shape, ArrayFlags::SURFACE).unwrap();
    let surface = Surface::new(cx, &array).unwrap();
    let (x, y, z) = (|at: usize| at % side, |at: usize| at / side % side, |at: usize| at / side / side);
    let written: Vec<Vec<u32>> = (0..len)
        .map(|at| [&[8 * y(at) as u32, x(at) as u32, z(at) as u32][..], &channels[at]].concat())
        .collect();
    access(cx, &surface, &format!("sust.b.{place}, {{%c3, %c4}};"), &written);
    let transposed: Vec<[u32; 2]> = (0..len)
        .map(|at| channels[z(at) * side * side + x(at) * side + y(at)][..].try_into().unwrap())
        .collect();
    assert_eq!(array.to_vec(cx).unwrap(), transposed);
    let (dimension, at) = place.split_once(' ').unwrap();
    let read = access(cx, &surface, &format!("suld.b.{dimension} {{%d0, %d1}}, {at};"), &written);
    for (read, channels) in read.iter().zip(&channels) {
        assert_eq!(&read[..2], channels);
    }
}

#[test]
fn test_3d_fp_surfaces() {
    in_context(|cx| {
        let shape = ArrayShape::ThreeD { width: 4, height: 4, depth: 3 };
        fp_surfaces(cx, shape, "3d.v2.b32.zero [%t, {%c0, %c1, %c2, %c2}]");
    });
}

#[test]
fn test_2d_fp_surfaces() {
    in_context(|cx| {
        let shape = ArrayShape::TwoDLayered { width: 4, height: 4, layers: 2 };
        fp_surfaces(cx, shape, "a2d.v2.b32.zero [%t, {%c2, %c0, %c1, %c1}]");
    });
}

/// A solid is copied to an array from the host, and is read in all three dimensions.
#[test]
fn test_3d_texture() {
    in_context(|cx| {
        let shape = ArrayShape::ThreeD { width: 8, height: 4, depth: 2 };
        let solid = noise(64);
        let array = Array::<f32>::new(cx, shape, NONE).unwrap();
        let block = HostBlock::new(&solid, (8, 4, 2)).unwrap();
        cx.copy(&mut array.view(), &block).unwrap();
        let texture = Texture::new(cx, &array, &Sampler::default()).unwrap();
        let at: Vec<_> = (0..2u8)
            .flat_map(|z| places(8, 4).into_iter().map(move |at| [at, vec![f32::from(z)]].concat()))
            .collect();
        let code = "tex.3d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%c0, %c1, %c2, %c2}];";
        let read: Vec<f32> = sample(cx, &texture, code, &at).iter().map(|row| row[0]).collect();
        assert_eq!(read, solid);
    });
}

/// Floats and doubles in linear memory, fetched by their numbers.
#[test]
fn test_fp_textures() {
    in_context(|cx| {
        let numbers = noise(100);
        let at: Vec<_> = (0..100).map(|at| vec![at]).collect();
        let floats = Buffer::from_slice(cx, &numbers).unwrap();
        let texture = Texture::new(cx, &floats, &Sampler::default()).unwrap();
        let code = "tex.1d.v4.f32.s32 {%d0, %d1, %d2, %d3}, [%t, {%c0}];";
        let read: Vec<f32> =
            fetch(cx, &texture, code, &at).iter().map(|row| f32::from_bits(row[0])).collect();
        assert_eq!(read, numbers);
        let channels = bits(numbers.iter().map(|&number| [f64::from(number) / 3.0]));
        let pairs: Vec<[u32; 2]> = channels.iter().map(|two| [two[0], two[1]]).collect();
        let doubles = Buffer::from_slice(cx, &pairs).unwrap();
        let texture = Texture::new(cx, &doubles, &Sampler::default()).unwrap();
        let code = "tex.1d.v4.u32.s32 {%d0, %d1, %d2, %d3}, [%t, {%c0}];";
        for (read, pair) in fetch(cx, &texture, code, &at).iter().zip(pairs) {
            assert_eq!(read[..2], pair);
        }
    });
}

/// Features of PyCUDA without a test: pitched memory, `Memcpy2D` in all directions, and fills of
/// rows.
#[test]
fn mem_alloc_pitch_memcpy_2d_and_memset_d2d() {
    in_context(|cx| {
        let picture: Vec<u16> = (0..40).collect();
        let mut pitched = PitchedBuffer::<u16>::alloc(cx, (8, 5)).unwrap();
        cx.copy(&mut pitched, &picture).unwrap();
        let mut linear = Buffer::<u16>::zeroed(cx, 40).unwrap();
        cx.copy(&mut PitchedMut::over(linear.as_mut_slice(), (8, 5)).unwrap(), &pitched).unwrap();
        assert_eq!(linear.to_vec(cx).unwrap(), picture);
        let array = Array::<u16>::new(cx, ArrayShape::TwoD { width: 8, height: 5 }, NONE).unwrap();
        cx.copy(&mut array.view(), &Pitched::over(linear.as_slice(), (8, 5)).unwrap()).unwrap();
        cx.fill(&mut pitched, 0xABCD).unwrap();
        cx.copy(
            &mut pitched.as_pitched_mut().part(2..4, 1..3, ..).unwrap(),
            &array.view().part(6.., 3.., ..).unwrap(),
        )
        .unwrap();
        let mut back = [0; 40];
        cx.copy(&mut HostBlockMut::new(&mut back, (8, 5)).unwrap(), &pitched).unwrap();
        let inside = |at: usize| (2..4).contains(&(at % 8)) && (1..3).contains(&(at / 8));
        let expected = (0..40).map(|at| if inside(at) { picture[at + 4 + 16] } else { 0xABCD });
        assert_eq!(back.to_vec(), expected.collect::<Vec<_>>());
    });
}
