//! Tensors whose elements have distances between them.

use super::*;

/// The elements of a tensor by its shape and strides, as stored in `numbers` from `offset` on.
fn picked(numbers: &[f32], offset: usize, shape: &[i64], strides: &[i64]) -> Vec<f32> {
    let mut places = vec![offset as i64];
    for (&length, &stride) in shape.iter().zip(strides) {
        places = places.iter().flat_map(|at| (0..length).map(move |step| at + step * stride)).collect();
    }
    places.into_iter().map(|at| numbers[at as usize]).collect()
}

#[test]
fn elements_with_distances_between_them_are_copied() {
    in_shared(|cx| {
        let numbers: Vec<f32> = (0..240u8).map(f32::from).collect();
        let buffer = Buffer::from_slice(cx, &numbers).unwrap();
        let pinned = PinnedBuffer::from_slice(cx, &numbers, PinnedFlags::empty()).unwrap();
        let places = [
            (buffer.as_raw() as *mut c_void, CUDA),
            (numbers.as_ptr().cast_mut().cast(), CPU),
            (pinned.as_raw().cast(), CUDA_HOST),
        ];
        for (data, device) in places {
            let freed = Arc::new(AtomicUsize::new(0));
            let tensor = |offset: usize, shape: &[i64], strides: Option<&[i64]>| {
                let mut says = Says::of(data, device, shape);
                (says.strides, says.offset) = (strides.map(<[i64]>::to_vec), 4 * offset as u64);
                says.imported(&freed)
            };
            for (offset, shape, strides) in [
                (0, &[6, 40][..], &[40, 1][..]),
                (43, &[4, 30], &[40, 1]),
                (1, &[119], &[2]),
                (2, &[6, 18], &[40, 2]),
                (5, &[2, 3, 7], &[120, 40, 1]),
                (9, &[3, 1, 5], &[20, 999, 4]),
            ] {
                let copied = tensor(offset, shape, Some(strides)).copy_to_buffer::<f32>(cx).unwrap();
                let expected = picked(&numbers, offset, shape, strides);
                assert_eq!(copied.to_vec(cx).unwrap(), expected, "{device} {shape:?} {strides:?}");
            }
            let close = tensor(40, &[2, 40], None).copy_to_buffer::<f32>(cx).unwrap();
            assert_eq!(close.to_vec(cx).unwrap(), numbers[40..120]);
            let one = tensor(7, &[], None).copy_to_buffer::<f32>(cx).unwrap();
            assert_eq!(one.to_vec(cx).unwrap(), [7.0]);
            assert!(tensor(0, &[3, 0], Some(&[1, 1])).copy_to_buffer::<f32>(cx).unwrap().is_empty());
            let turned = tensor(0, &[3, 4], Some(&[1, 3])).copy_to_buffer::<f32>(cx).unwrap_err();
            assert_eq!(turned, Mismatch::Strides { shape: vec![3, 4], strides: vec![1, 3] });
            assert!(turned.to_string().contains("[3, 4] with the strides [1, 3]"), "{turned}");
            let other = tensor(0, &[3], None).copy_to_buffer::<u32>(cx).unwrap_err();
            assert!(matches!(other, Mismatch::DataType { .. }));
            assert_eq!(freed.load(Ordering::SeqCst), 11, "each was freed once");
        }
        let elsewhere = DLDevice { device_type: CUDA, device_id: 7 };
        let mut says = Says::of(buffer.as_raw() as *mut c_void, CUDA, &[4]);
        says.device = elsewhere;
        let refused = says.imported(&Arc::default()).copy_to_buffer::<f32>(cx).unwrap_err();
        assert!(matches!(refused, Mismatch::Device { found, .. } if found == elsewhere));
    });
}
