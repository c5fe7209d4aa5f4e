//! Tensor maps: accepted and refused descriptions, here and by the driver, as an H100 with driver
//! 580 answers.

use cuprum::sys::{
    CUresult, CUtensorMapDataType, CUtensorMapFloatOOBfill, CUtensorMapIm2ColWideMode, CUtensorMapInterleave,
    CUtensorMapSwizzle, FnId,
};
use cuprum::texture::{TensorError, TensorLayout, TensorMap};
use cuprum::{Buffer, Current, Stream};

use crate::common::{context, in_context};

fn tensor(sizes: &[u64]) -> TensorLayout<'_> {
    TensorLayout::new(sizes)
}

/// True if the device has tensor maps.
fn has_maps(cx: &Current<'_, '_>) -> bool {
    cx.context().device().compute_capability().unwrap().major >= 9
        && cx.context().driver().library().has(FnId::cuTensorMapEncodeTiled)
}

fn refused(map: Result<TensorMap<'_>, TensorError>) -> CUresult {
    match map {
        Err(TensorError::Driver(error)) => error.code(),
        other => panic!("{other:?}"),
    }
}

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

#[test]
fn tensors_lie_in_their_memory() {
    in_context(|cx| {
        if !has_maps(cx) {
            return;
        }
        let mut buffer = Buffer::<f32>::zeroed(cx, 64 * 32).unwrap();
        let flat = tensor(&[64, 32]);
        TensorMap::tiled(cx, buffer.as_slice(), &flat, &[32, 8]).unwrap();
        let map = TensorMap::tiled(cx, buffer.as_mut_slice(), &flat, &[32, 8]).unwrap();
        assert_ne!(map.as_raw().opaque, [0; 16]);
        let outside =
            |sizes: &[u64], tile: &[u32]| match TensorMap::tiled(cx, buffer.as_slice(), &tensor(sizes), tile)
            {
                Err(TensorError::Outside { needed, bytes }) => (needed, bytes),
                other => panic!("{other:?}"),
            };
        assert_eq!(outside(&[64, 33], &[32, 8]), (64 * 33 * 4, 64 * 32 * 4));
        assert_eq!(outside(&[32, 8, 8, 2], &[32, 1, 1, 1]), (32 * 8 * 8 * 2 * 4, 64 * 32 * 4));
        // Rows that overlap take less, and gaps more; the gap after the last element takes nothing.
        let wide = TensorLayout { strides: Some(&[512]), ..flat };
        let half = TensorLayout { strides: Some(&[512]), ..tensor(&[64, 16]) };
        assert!(matches!(
            TensorMap::tiled(cx, buffer.as_slice(), &wide, &[32, 8]),
            Err(TensorError::Outside { needed: 16128, bytes: 8192 })
        ));
        TensorMap::tiled(cx, buffer.slice(..64 + 15 * 128).unwrap(), &half, &[32, 8]).unwrap();
        let overlapping = TensorLayout { strides: Some(&[16]), ..tensor(&[64, 400]) };
        TensorMap::tiled(cx, buffer.as_slice(), &overlapping, &[32, 8]).unwrap();
        let huge = TensorMap::tiled(cx, buffer.as_slice(), &tensor(&[u64::MAX, 2]), &[32, 8]).unwrap_err();
        assert_eq!(huge, TensorError::TooLarge);
    });
}

#[test]
fn lists_have_a_value_for_each_dimension() {
    in_context(|cx| {
        let flat = tensor(&[64, 32]);
        let buffer = Buffer::<f32>::zeroed(cx, 64 * 32).unwrap();
        let wrong = |tensor: TensorLayout<'_>, tile: &[u32]| {
            TensorMap::tiled(cx, buffer.as_slice(), &tensor, tile).unwrap_err()
        };
        assert_eq!(wrong(tensor(&[]), &[]), TensorError::Rank { given: 0, wanted: 1 });
        assert_eq!(wrong(tensor(&[1; 6]), &[1; 6]), TensorError::Rank { given: 6, wanted: 5 });
        let strides = TensorLayout { strides: Some(&[16, 16]), ..flat };
        assert_eq!(wrong(strides, &[32, 8]), TensorError::Rank { given: 2, wanted: 1 });
        let steps = TensorLayout { steps: Some(&[1]), ..flat };
        assert_eq!(wrong(steps, &[32, 8]), TensorError::Rank { given: 1, wanted: 2 });
        assert_eq!(wrong(flat, &[32]), TensorError::Rank { given: 1, wanted: 2 });
        let element = Some(CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT64);
        let double = TensorLayout { element, ..flat };
        let refused = TensorMap::tiled(cx, buffer.as_slice(), &double, &[32, 8]).unwrap_err();
        assert!(matches!(refused, TensorError::Element { bytes: 4, .. }));
    });
}

#[test]
fn the_driver_refuses_tiles_that_the_device_cannot_copy() {
    in_context(|cx| {
        if !has_maps(cx) {
            return;
        }
        let buffer = Buffer::<f32>::zeroed(cx, 1 << 16).unwrap();
        let flat = tensor(&[64, 32]);
        let encode =
            |tensor: TensorLayout<'_>, tile: &[u32]| TensorMap::tiled(cx, buffer.as_slice(), &tensor, tile);
        let swizzle = CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_32B;
        let fill = CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
        let element = Some(CUtensorMapDataType(13));
        let interleave = CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_16B;
        for tile in [[0, 8], [2, 8], [5, 8], [32, 257]] {
            assert_eq!(refused(encode(flat, &tile)), INVALID, "{tile:?}");
        }
        encode(flat, &[256, 228]).unwrap();
        assert_eq!(refused(encode(flat, &[256, 232])), INVALID, "more than there is shared memory");
        encode(TensorLayout { swizzle, ..flat }, &[8, 8]).unwrap();
        assert_eq!(refused(encode(TensorLayout { swizzle, ..flat }, &[16, 8])), INVALID);
        encode(TensorLayout { fill, ..flat }, &[32, 8]).unwrap();
        assert_eq!(
            refused(encode(TensorLayout { interleave, ..flat }, &[32, 8])),
            INVALID,
            "of two dimensions"
        );
        encode(TensorLayout { interleave, ..tensor(&[8, 4, 4]) }, &[8, 4, 4]).unwrap();
        assert_eq!(refused(encode(TensorLayout { steps: Some(&[1, 9]), ..flat }, &[32, 8])), INVALID);
        encode(TensorLayout { steps: Some(&[1, 8]), ..flat }, &[32, 8]).unwrap();
        assert_eq!(refused(encode(TensorLayout { strides: Some(&[264]), ..flat }, &[32, 8])), INVALID);
        assert_eq!(refused(encode(tensor(&[64, 0]), &[32, 8])), INVALID);
        let aside = TensorMap::tiled(cx, buffer.slice(1..).unwrap(), &flat, &[32, 8]);
        assert_eq!(refused(aside), INVALID, "no multiple of 16 bytes");
        let bytes = Buffer::<u8>::zeroed(cx, 4096).unwrap();
        let integers = TensorLayout { fill, ..tensor(&[64]) };
        let integers = TensorMap::tiled(cx, bytes.as_slice(), &integers, &[64]);
        assert_eq!(refused(integers), INVALID);
        if cx.context().device().compute_capability().unwrap().major == 9 {
            let packed = TensorLayout { element, ..tensor(&[128]) };
            let packed = TensorMap::tiled(cx, bytes.as_slice(), &packed, &[128]);
            assert_eq!(refused(packed), INVALID);
        }
    });
}

#[test]
fn columns_of_images_have_corners() {
    in_context(|cx| {
        if !has_maps(cx) {
            return;
        }
        let buffer = Buffer::<f32>::zeroed(cx, 64 * 32 * 4 * 4).unwrap();
        let images = tensor(&[64, 32, 4, 4]);
        let encode = |lower: [i32; 2], upper: [i32; 2], channels, pixels| {
            TensorMap::im2col(cx, buffer.as_slice(), &images, [&lower, &upper], channels, pixels)
        };
        encode([0, 0], [0, 0], 32, 64).unwrap();
        encode([-128, 0], [127, 0], 32, 64).unwrap();
        encode([0, 0], [0, 0], 256, 64).unwrap();
        encode([0, 0], [0, 0], 32, 1024).unwrap();
        assert_eq!(refused(encode([0, 0], [0, 0], 64, 1024)), INVALID, "more than 228 KiB");
        encode([0, 0], [-31, 0], 32, 64).unwrap();
        assert_eq!(refused(encode([0, 0], [-32, 0], 32, 64)), INVALID, "an empty box");
        assert_eq!(refused(encode([0, 0], [0, -4], 32, 64)), INVALID, "an empty box");
        assert_eq!(refused(encode([-129, 0], [0, 0], 32, 64)), INVALID);
        assert_eq!(refused(encode([0, 0], [128, 0], 32, 64)), INVALID);
        for (channels, pixels) in [(0, 64), (2, 64), (257, 64), (32, 0), (32, 1025)] {
            assert_eq!(refused(encode([0, 0], [0, 0], channels, pixels)), INVALID, "{channels}, {pixels}");
        }
        let flat = TensorMap::im2col(cx, buffer.as_slice(), &tensor(&[64, 32]), [&[], &[]], 32, 64);
        assert_eq!(refused(flat), INVALID);
        let one = TensorMap::im2col(cx, buffer.as_slice(), &images, [&[0], &[0, 0]], 32, 64).unwrap_err();
        assert_eq!(one, TensorError::Rank { given: 1, wanted: 2 });
        if cx.context().driver().library().has(FnId::cuTensorMapEncodeIm2colWide) {
            let mode = CUtensorMapIm2ColWideMode::CU_TENSOR_MAP_IM2COL_WIDE_MODE_W;
            let swizzle = CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_128B;
            let images = TensorLayout { swizzle, ..images };
            TensorMap::im2col_wide(cx, buffer.as_slice(), &images, [0, 0], 32, 64, mode).unwrap();
            let empty = TensorMap::im2col_wide(cx, buffer.as_slice(), &images, [0, -32], 32, 64, mode);
            assert_eq!(refused(empty), INVALID);
        }
    });
}

#[test]
fn a_map_moves_to_other_memory() {
    in_context(|cx| {
        if !has_maps(cx) {
            return;
        }
        let first = Buffer::<f32>::zeroed(cx, 64 * 32).unwrap();
        let second = Buffer::<f32>::zeroed(cx, 64 * 32 + 4).unwrap();
        let mut map = TensorMap::tiled(cx, first.as_slice(), &tensor(&[64, 32]), &[32, 8]).unwrap();
        let before = map.as_raw().opaque;
        map.replace_memory(cx, second.slice(4..).unwrap()).unwrap();
        let after = map.as_raw().opaque;
        assert_ne!(before, after);
        let short = map.replace_memory(cx, second.slice(..64).unwrap()).unwrap_err();
        assert_eq!(short, TensorError::Outside { needed: 8192, bytes: 256 });
        let aside = map.replace_memory(cx, second.slice(1..).unwrap()).unwrap_err();
        assert!(matches!(aside, TensorError::Driver(error) if error.code() == INVALID));
        let other = Buffer::<u8>::zeroed(cx, 1 << 16).unwrap();
        let other = map.replace_memory(cx, other.as_slice()).unwrap_err();
        assert!(matches!(other, TensorError::Element { bytes: 4, .. }));
        assert_eq!(map.as_raw().opaque, after, "it describes what it did");
    });
}

#[test]
fn loans_have_maps_too() {
    let elsewhere = context();
    in_context(|cx| {
        if !has_maps(cx) {
            return;
        }
        let stream = Stream::new(cx).unwrap();
        let mut buffer = Buffer::<u16>::zeroed(cx, 1024).unwrap();
        cx.scope(&stream, |scope| {
            let lent = scope.lend(buffer.as_mut_slice()).unwrap();
            TensorMap::tiled(cx, &lent, &tensor(&[32, 32]), &[32, 8]).unwrap();
            TensorMap::tiled(cx, lent.as_shared(), &tensor(&[32, 32]), &[32, 8]).unwrap();
            Ok(())
        })
        .unwrap();
        let theirs = Buffer::<u16>::zeroed(&cx.push(&elsewhere).unwrap(), 1024).unwrap();
        let refused = TensorMap::tiled(cx, theirs.as_slice(), &tensor(&[32, 32]), &[32, 8]).unwrap_err();
        assert!(
            matches!(refused, TensorError::Driver(error) if error.code() == cuprum::Error::WRONG_CONTEXT)
        );
    });
}
