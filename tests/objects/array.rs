//! Arrays and mipmapped arrays: shapes, copies of parts, descriptors, shares.

use cuprum::memory::vector::float4;
use cuprum::memory::{
    Array, ArrayFlags, ArrayShape, ArrayView, Extent, Half, HostBlock, HostBlockMut, MipmappedArray, Pitched,
    PitchedBuffer, PitchedMut, Texel,
};
use cuprum::sys::{CUarray_format, CUresult};
use cuprum::{Buffer, Current, MemoryError, Stream};

use crate::common::{self, in_context};

const NONE: ArrayFlags = ArrayFlags::empty();

/// One of each shape.
fn shapes() -> [ArrayShape; 7] {
    [
        ArrayShape::OneD { width: 9 },
        ArrayShape::TwoD { width: 5, height: 3 },
        ArrayShape::ThreeD { width: 4, height: 3, depth: 2 },
        ArrayShape::OneDLayered { width: 5, layers: 3 },
        ArrayShape::TwoDLayered { width: 4, height: 2, layers: 3 },
        ArrayShape::Cubemap { side: 3 },
        ArrayShape::CubemapLayered { side: 2, cubes: 2 },
    ]
}

fn counted(extent: Extent) -> Vec<u32> {
    (0..extent.len().unwrap() as u32).collect()
}

#[test]
fn arrays_of_each_shape_hold_copied_elements_and_describe_themselves() {
    in_context(|cx| {
        for shape in shapes() {
            let flags = ArrayFlags::SURFACE;
            let host = counted(shape.extent());
            let array = Array::<u32>::from_slice(cx, shape, flags, &host).unwrap();
            assert_eq!(
                (array.view().shape(), array.view().shape().extent(), array.view().flags()),
                (shape, shape.extent(), flags)
            );
            assert_eq!(array.to_vec(cx).unwrap(), host, "{shape:?}");
            let mut back = vec![0; host.len()];
            cx.copy(&mut back, &array).unwrap();
            assert_eq!(back, host, "{shape:?}");
            let described = array.view().descriptor(cx).unwrap();
            assert_eq!((described.shape, described.flags), (shape, flags));
            let format = CUarray_format::CU_AD_FORMAT_UNSIGNED_INT32;
            assert_eq!((described.format, described.channels), (format, 1));
            array.close().unwrap();
        }
    });
}

fn holds<T: Texel + PartialEq + std::fmt::Debug>(
    cx: &Current<'_, '_>,
    texels: [T; 6],
    format: CUarray_format,
    channels: u32,
) {
    let shape = ArrayShape::TwoD { width: 3, height: 2 };
    let array = Array::from_slice(cx, shape, NONE, &texels).unwrap();
    assert_eq!(array.to_vec(cx).unwrap(), texels);
    let described = array.view().descriptor(cx).unwrap();
    assert_eq!((described.format, described.channels), (format, channels));
}

#[test]
fn arrays_hold_each_type_of_elements() {
    use CUarray_format as F;
    in_context(|cx| {
        holds(cx, [1u8, 2, 3, 4, 5, 6], F::CU_AD_FORMAT_UNSIGNED_INT8, 1);
        holds(cx, [[-1i8, 2]; 6], F::CU_AD_FORMAT_SIGNED_INT8, 2);
        holds(cx, [[1u16, 2, 3, 4]; 6], F::CU_AD_FORMAT_UNSIGNED_INT16, 4);
        holds(cx, [-7i16; 6], F::CU_AD_FORMAT_SIGNED_INT16, 1);
        holds(cx, [[-7i32, 8]; 6], F::CU_AD_FORMAT_SIGNED_INT32, 2);
        holds(cx, [Half(0x3C00); 6], F::CU_AD_FORMAT_HALF, 1);
        holds(cx, [[0.5f32, 1.5, 2.5, 3.5]; 6], F::CU_AD_FORMAT_FLOAT, 4);
        holds(cx, [float4::new(0.5, 1.5, 2.5, 3.5); 6], F::CU_AD_FORMAT_FLOAT, 4);
    });
}

#[test]
fn an_array_with_a_dimension_of_zero_is_refused() {
    in_context(|cx| {
        for shape in [
            ArrayShape::OneD { width: 0 },
            ArrayShape::TwoD { width: 4, height: 0 },
            ArrayShape::ThreeD { width: 4, height: 4, depth: 0 },
            ArrayShape::OneDLayered { width: 4, layers: 0 },
            ArrayShape::Cubemap { side: 0 },
            ArrayShape::CubemapLayered { side: 4, cubes: 0 },
        ] {
            let refused = MemoryError::EmptyArray { extent: shape.extent() };
            assert_eq!(Array::<u8>::new(cx, shape, NONE).unwrap_err(), refused);
            assert_eq!(MipmappedArray::<u8>::new(cx, shape, NONE, 2).unwrap_err(), refused);
        }
    });
}

#[test]
fn features_that_the_device_lacks_are_refused_by_the_driver() {
    in_context(|cx| {
        for (shape, flags) in [
            (ArrayShape::TwoD { width: usize::MAX, height: 2 }, NONE),
            (ArrayShape::CubemapLayered { side: 4, cubes: usize::MAX }, NONE),
            (ArrayShape::ThreeD { width: 4, height: 4, depth: 4 }, ArrayFlags::TEXTURE_GATHER),
        ] {
            let refused = Array::<u8>::new(cx, shape, flags).unwrap_err();
            let MemoryError::Driver(error) = refused else { panic!("{refused}") };
            assert_eq!(error.code(), CUresult::CUDA_ERROR_INVALID_VALUE, "{shape:?}");
        }
        let unknown = ArrayFlags::from_bits_retain(128 | 256);
        let shape = ArrayShape::TwoD { width: 4, height: 4 };
        let array = Array::<u8>::new(cx, shape, unknown).unwrap();
        assert_eq!(
            array.view().descriptor(cx).unwrap().flags,
            NONE,
            "only flags that are known are passed on"
        );
    });
}

#[test]
fn parts_are_copied_from_and_to_everything() {
    in_context(|cx| {
        let shape = ArrayShape::TwoDLayered { width: 6, height: 4, layers: 3 };
        let host = counted(shape.extent());
        let array = Array::<u32>::from_slice(cx, shape, NONE, &host).unwrap();
        let part = array.view().part(2..4, 1.., 1..).unwrap();
        let expected: Vec<u32> =
            (1..3).flat_map(|z| (1..4).flat_map(move |y| (2..4).map(move |x| 24 * z + 6 * y + x))).collect();
        assert_eq!(part.to_vec(cx).unwrap(), expected);

        // To pitched memory, from there to linear memory, to another array, to the middle of a
        // block of the host.
        let mut pitched = PitchedBuffer::<u32>::alloc(cx, (2, 3, 2)).unwrap();
        cx.copy(&mut pitched, &part).unwrap();
        let mut linear = Buffer::<u32>::zeroed(cx, 36).unwrap();
        let mut rows = PitchedMut::strided(linear.as_mut_slice(), (2, 3, 2), 3, 4).unwrap();
        cx.copy(&mut rows, &pitched).unwrap();
        let solid = ArrayShape::ThreeD { width: 4, height: 3, depth: 2 };
        let other = Array::<u32>::from_slice(cx, solid, NONE, &[7; 24]).unwrap();
        let rows = Pitched::strided(linear.as_slice(), (2, 3, 2), 3, 4).unwrap();
        cx.copy(&mut other.view().part(2.., .., ..).unwrap(), &rows).unwrap();
        cx.copy(&mut other.view().part(..2, .., ..).unwrap(), &other.view().part(2.., .., ..).unwrap())
            .unwrap();
        let mut target = vec![0; 4 * 5 * 2];
        let mut middle = HostBlockMut::strided(&mut target, (4, 3, 2), 4, 5).unwrap();
        cx.copy(&mut middle, &other).unwrap();
        for (at, row) in target.chunks(4).enumerate() {
            let (y, z) = (at % 5, at / 5);
            let pair = if y < 3 { [0, 1].map(|x| expected[6 * z + 2 * y + x]) } else { [0; 2] };
            assert_eq!(row, [pair, pair].concat(), "row {y} of slice {z}");
        }

        // From part of a block of the host.
        let block = HostBlock::new(&host, (6, 4, 3)).unwrap().part(..1, ..1, 2..).unwrap();
        cx.copy(&mut array.view().part(5.., 3.., ..1).unwrap(), &block).unwrap();
        assert_eq!(array.view().part(5.., 3.., ..1).unwrap().to_vec(cx).unwrap(), [48]);
        assert!(array.view().part(..7, .., ..).is_none());
        assert!(array.view().part(.., .., 3..=3).is_none());
        let mut nothing = array.view().part(6.., .., ..).unwrap();
        cx.copy(&mut nothing, &[]).unwrap();
        assert_eq!(nothing.to_vec(cx).unwrap(), []);
    });
}

#[test]
fn a_row_of_a_line_is_copied_within_the_device() {
    in_context(|cx| {
        let line = Array::<u32>::new(cx, ArrayShape::OneD { width: 8 }, NONE).unwrap();
        let linear = Buffer::from_slice(cx, &[0, 1, 2, 3, 4, 5, 6, 7]).unwrap();
        cx.copy(&mut line.view(), &Pitched::over(linear.as_slice(), 8).unwrap()).unwrap();
        cx.copy(&mut line.view().part(..2, .., ..).unwrap(), &line.view().part(6.., .., ..).unwrap())
            .unwrap();
        assert_eq!(line.to_vec(cx).unwrap(), [6, 7, 2, 3, 4, 5, 6, 7]);
    });
}

#[test]
fn copies_that_do_not_fit_are_refused() {
    in_context(|cx| {
        let shape = ArrayShape::TwoD { width: 4, height: 4 };
        let mut array = Array::<u8>::from_slice(cx, shape, NONE, &[1; 16]).unwrap();
        let refused = cx.copy(&mut array, &[2; 15]).unwrap_err();
        assert_eq!(refused, MemoryError::Length { destination_len: 16, source_len: 15 });
        let refused = cx.copy(&mut [2; 17], &array).unwrap_err();
        assert_eq!(refused, MemoryError::Length { destination_len: 17, source_len: 16 });
        let (mut left, right) =
            (array.view().part(..3, .., ..).unwrap(), array.view().part(1.., .., ..).unwrap());
        assert_eq!(cx.copy(&mut left, &right), Err(MemoryError::Overlap));
        let row = array.view().part(.., ..1, ..).unwrap();
        let (destination_extent, source_extent) = (Extent::from((3, 4)), Extent::from((4, 1)));
        let refused = MemoryError::Extent { destination_extent, source_extent };
        assert_eq!(cx.copy(&mut left, &row), Err(refused));
        assert_eq!(array.to_vec(cx).unwrap(), [1; 16]);
    });
}

#[test]
fn levels_of_a_mipmapped_array_halve_their_sides() {
    in_context(|cx| {
        let shape = ArrayShape::TwoD { width: 12, height: 5 };
        let mipmapped = MipmappedArray::<u32>::new(cx, shape, NONE, u32::MAX).unwrap();
        assert_eq!((mipmapped.levels(), mipmapped.view().shape()), (4, shape));
        for (level, (width, height)) in (0..).zip([(12, 5), (6, 2), (3, 1), (1, 1)]) {
            let array = mipmapped.view().level(cx, level).unwrap();
            let shape = ArrayShape::TwoD { width, height };
            assert_eq!((array.shape(), array.descriptor(cx).unwrap().shape), (shape, shape));
            cx.copy(&mut array.all(), &vec![level; width * height]).unwrap();
        }
        for (level, len) in [60, 12, 3, 1].into_iter().enumerate() {
            let level = level as u32;
            assert_eq!(
                mipmapped.view().level(cx, level).unwrap().all().to_vec(cx).unwrap(),
                vec![level; len]
            );
        }
        let refused = mipmapped.view().level(cx, 4).unwrap_err();
        assert_eq!(refused.code(), CUresult::CUDA_ERROR_INVALID_VALUE);
        mipmapped.close().unwrap();
        let none = MipmappedArray::<u32>::new(cx, shape, NONE, 0).unwrap();
        assert_eq!(none.levels(), 1);
        let layered = ArrayShape::TwoDLayered { width: 4, height: 4, layers: 3 };
        let layered = MipmappedArray::<u32>::new(cx, layered, NONE, 3).unwrap();
        let second = layered.view().level(cx, 1).unwrap();
        let shape = ArrayShape::TwoDLayered { width: 2, height: 2, layers: 3 };
        assert_eq!((second.shape(), second.descriptor(cx).unwrap().shape), (shape, shape));
        let solid = ArrayShape::ThreeD { width: 4, height: 4, depth: 8 };
        assert_eq!(MipmappedArray::<u8>::new(cx, solid, NONE, u32::MAX).unwrap().levels(), 4);
        let solid = MipmappedArray::<u8>::new(cx, solid, NONE, 4).unwrap();
        let shape = ArrayShape::ThreeD { width: 1, height: 1, depth: 2 };
        assert_eq!(solid.view().level(cx, 2).unwrap().descriptor(cx).unwrap().shape, shape);
    });
}

#[test]
fn an_array_made_elsewhere_is_borrowed_if_its_elements_are_those_asked_for() {
    in_context(|cx| {
        let shape = ArrayShape::TwoDLayered { width: 2, height: 1, layers: 2 };
        let array = Array::<[u8; 2]>::from_slice(cx, shape, NONE, &[[1, 2]; 4]).unwrap();
        // SAFETY: the array is alive, and has memory.
        let view = unsafe { ArrayView::<[u8; 2]>::from_raw(cx, array.view().as_raw()) }.unwrap();
        assert_eq!((view.shape(), view.all().to_vec(cx).unwrap()), (shape, vec![[1, 2]; 4]));
        // SAFETY: as above.
        let refused = unsafe { ArrayView::<u16>::from_raw(cx, array.view().as_raw()) }.unwrap_err();
        let format = CUarray_format::CU_AD_FORMAT_UNSIGNED_INT8;
        assert_eq!(refused, MemoryError::Texel { format, channels: 2 });
    });
}

#[test]
fn a_scope_copies_arrays_in_order() {
    in_context(|cx| {
        let streams = [Stream::new(cx).unwrap(), Stream::non_blocking(cx).unwrap()];
        for stream in &streams {
            let shape = ArrayShape::TwoD { width: 4, height: 2 };
            let array = Array::<u32>::from_slice(cx, shape, NONE, &[0; 8]).unwrap();
            let layers = ArrayShape::TwoDLayered { width: 4, height: 2, layers: 2 };
            let layered = Array::<u32>::new(cx, layers, NONE).unwrap();
            let mut pitched = PitchedBuffer::<u32>::alloc(cx, (4, 2)).unwrap();
            let (input, mut output) = (counted(shape.extent()), [0; 8]);
            cx.scope(stream, |scope| {
                let lent = scope.lend(array.view().all())?;
                let second = scope.lend(layered.view().part(.., .., 1..).unwrap())?;
                let rows = scope.lend(pitched.as_pitched_mut())?;
                scope.copy(&lent, &HostBlock::new(&input, (4, 2))?)?;
                scope.copy(&rows, &lent)?;
                scope.copy(&second, &rows)?;
                let left = scope.lend(array.view().part(..2, .., ..).unwrap())?;
                let right = scope.lend(array.view().part(2.., .., ..).unwrap())?;
                scope.copy(&left, &right)?;
                let most = scope.lend(array.view().part(1..3, .., ..).unwrap())?;
                assert_eq!(scope.copy(&most, &right), Err(MemoryError::Overlap));
                Ok(scope.read(&mut output, &second)?)
            })
            .unwrap();
            assert_eq!(output[..], input);
            assert_eq!(array.to_vec(cx).unwrap(), [2, 3, 2, 3, 6, 7, 6, 7]);
        }
    });
}

#[test]
fn arrays_of_another_context_are_refused() {
    let other = common::context();
    in_context(|cx| {
        let shape = ArrayShape::OneD { width: 4 };
        let mut array = Array::<u8>::from_slice(cx, shape, NONE, &[0; 4]).unwrap();
        let mipmapped = MipmappedArray::<u8>::new(cx, shape, NONE, 2).unwrap();
        let inner = cx.push(&other).unwrap();
        let refused = inner.copy(&mut array, &[1; 4]).unwrap_err();
        assert!(
            matches!(refused, MemoryError::Driver(error) if error.code() == cuprum::Error::WRONG_CONTEXT),
            "{refused}"
        );
        assert!(array.view().descriptor(&inner).unwrap_err().code() == cuprum::Error::WRONG_CONTEXT);
        assert!(mipmapped.view().level(&inner, 0).unwrap_err().code() == cuprum::Error::WRONG_CONTEXT);
    });
}

#[test]
fn a_shared_array_lives_as_long_as_its_last_handle() {
    in_context(|cx| {
        let shape = ArrayShape::OneD { width: 4 };
        let shared = Array::from_slice(cx, shape, NONE, &[1u8, 2, 3, 4]).unwrap().share();
        let second = shared.clone();
        drop(shared);
        assert_eq!((second.view().shape(), second.to_vec(cx).unwrap()), (shape, vec![1, 2, 3, 4]));
        let mipmapped = MipmappedArray::<u8>::new(cx, shape, NONE, 3).unwrap().share();
        let other = mipmapped.clone();
        drop(mipmapped);
        assert_eq!(other.view().level(cx, 2).unwrap().shape().extent(), Extent::from(1));
    });
}
