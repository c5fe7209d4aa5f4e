//! Signatures, arguments and limits of launches.

use cuprum::launch::{Dim3, LaunchError, Mismatch};
use cuprum::memory::DeviceData;
use cuprum::sys::FnId;
use cuprum::{Buffer, In, InOut, LaunchConfig, Stream};

use crate::common::{self, in_context, kernels};

#[derive(Clone, Copy)]
#[repr(C)]
struct Body {
    position: [f32; 3],
    mass: f64,
    id: u16,
}
// SAFETY: numbers in C layout; any bytes are a value.
unsafe impl DeviceData for Body {}

#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Float4([f32; 4]);
// SAFETY: as above.
unsafe impl DeviceData for Float4 {}

#[derive(Clone, Copy)]
#[repr(C, align(8))]
struct Uint2([u32; 2]);
// SAFETY: as above.
unsafe impl DeviceData for Uint2 {}

#[test]
fn arguments_arrive_whatever_their_size_and_alignment() {
    in_context(|cx| {
        let module = kernels!(cx, "signatures");
        let stream = Stream::default_in(cx);
        let one = LaunchConfig::new(1, 1);
        let mut out = Buffer::<u8>::zeroed(cx, 256).unwrap();

        let kernel = module.function("mixed_scalars").unwrap();
        let kernel = kernel.bind::<(InOut<u8>, u8, u16, u32, u64, f32, f64)>().unwrap();
        let (a, b, c, d, e, f) =
            (0x11u8, 0x2233u16, 0x4455_6677u32, 0x8899_AABB_CCDD_EEFFu64, 1.5f32, -2.5f64);
        // SAFETY: the signature is the kernel's contract; it writes 27 bytes to `out`.
        unsafe { kernel.launch(cx, &stream, one, (&mut out, a, b, c, d, e, f)) }.unwrap();
        let expected: Vec<u8> = [a]
            .into_iter()
            .chain(b.to_le_bytes())
            .chain(c.to_le_bytes())
            .chain(d.to_le_bytes())
            .chain(e.to_le_bytes())
            .chain(f.to_le_bytes())
            .collect();
        assert_eq!(out.slice(..27).unwrap().to_vec(cx).unwrap(), expected);

        let kernel = module.function("vector_after_pointer").unwrap();
        let kernel = kernel.bind::<(InOut<u8>, u32, Float4, Uint2)>().unwrap();
        let arguments = (&mut out, 7u32, Float4([1.0, 2.0, 3.0, 4.0]), Uint2([5, 6]));
        // SAFETY: as above; it writes 28 bytes.
        unsafe { kernel.launch(cx, &stream, one, arguments) }.unwrap();
        let expected: Vec<u8> = [7u32, 1f32.to_bits(), 2f32.to_bits(), 3f32.to_bits(), 4f32.to_bits(), 5, 6]
            .into_iter()
            .flat_map(u32::to_le_bytes)
            .collect();
        assert_eq!(out.slice(..28).unwrap().to_vec(cx).unwrap(), expected);

        let kernel = module.function("structure_by_value").unwrap().bind::<(InOut<u8>, Body, u8)>().unwrap();
        let body = Body { position: [1.0, 2.0, 3.0], mass: 4.0, id: 0x0506 };
        // SAFETY: as above; it writes 23 bytes.
        unsafe { kernel.launch(cx, &stream, one, (&mut out, body, 9u8)) }.unwrap();
        let mut expected: Vec<u8> = body.position.iter().flat_map(|x| x.to_le_bytes()).collect();
        expected.extend(body.mass.to_le_bytes().into_iter().chain(body.id.to_le_bytes()).chain([9]));
        assert_eq!(out.slice(..23).unwrap().to_vec(cx).unwrap(), expected);

        let kernel = module.function("large_structure").unwrap().bind::<(InOut<u8>, [u32; 64])>().unwrap();
        let table: [u32; 64] = std::array::from_fn(|i| i as u32 * 3);
        // SAFETY: as above; it writes 256 bytes.
        unsafe { kernel.launch(cx, &stream, one, (out.as_mut_slice(), table)) }.unwrap();
        let expected: Vec<u8> = table.iter().flat_map(|x| x.to_le_bytes()).collect();
        assert_eq!(out.to_vec(cx).unwrap(), expected);

        let kernel = module.function("no_arguments").unwrap().bind::<()>().unwrap();
        // SAFETY: it does nothing.
        unsafe { kernel.launch(cx, &stream, one, ()) }.unwrap();
        cx.synchronize().unwrap();
    });
}

#[test]
fn sixteen_arguments_are_possible() {
    in_context(|cx| {
        type P = InOut<u32>;
        let module = kernels!(cx, "signatures");
        let kernel = module.function("many_pointers").unwrap();
        let kernel = kernel.bind::<(P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P)>().unwrap();
        let mut out = Buffer::from_slice(cx, &[u32::MAX; 16]).unwrap();
        let mut rest = Some(out.as_mut_slice());
        let mut next = || {
            let (first, others) = rest.take().unwrap().into_split_at(1).unwrap();
            rest = Some(others);
            first
        };
        #[rustfmt::skip]
        let arguments = (
            next(), next(), next(), next(), next(), next(), next(), next(),
            next(), next(), next(), next(), next(), next(), next(), next(),
        );
        // SAFETY: each pointer is to one element, which the kernel writes.
        unsafe { kernel.launch(cx, &Stream::default_in(cx), LaunchConfig::new(1, 1), arguments) }.unwrap();
        assert_eq!(out.to_vec(cx).unwrap(), (0..16).collect::<Vec<u32>>());
    });
}

#[test]
fn a_signature_that_differs_is_refused_with_both_values() {
    in_context(|cx| {
        let module = kernels!(cx, "signatures");
        let mixed = module.function("mixed_scalars").unwrap();
        assert_eq!(
            mixed.bind::<(InOut<u8>, u8)>().unwrap_err().reason,
            Mismatch::Count { kernel: 7, signature: 2 }
        );
        assert_eq!(
            mixed.bind::<(InOut<u8>, u8, u16, u32, u64, f32, f64, u32)>().unwrap_err().reason,
            Mismatch::Count { kernel: 7, signature: 8 }
        );
        assert_eq!(
            mixed.bind::<(InOut<u8>, u8, u32, u32, u64, f32, f64)>().unwrap_err().reason,
            Mismatch::Size { index: 2, kernel: 2, signature: 4 }
        );
        let vector = module.function("vector_after_pointer").unwrap();
        assert_eq!(
            vector.bind::<(InOut<u8>, u32, [f32; 4], Uint2)>().unwrap_err().reason,
            Mismatch::Offset { index: 2, kernel: 16, signature: 12 }
        );
        let text = mixed.bind::<()>().unwrap_err().to_string();
        assert_eq!(text, "kernel `mixed_scalars`: the kernel has 7 parameters, the signature 0");
        // SAFETY: the signature is the kernel's.
        unsafe { vector.bind_unchecked::<(InOut<u8>, u32, Float4, Uint2)>() }.unwrap();
    });
}

#[test]
fn a_geometry_beyond_the_limits_is_refused_with_the_limit() {
    in_context(|cx| {
        let module = kernels!(cx, "saxpy");
        let kernel = module.function("saxpy").unwrap().bind::<(u32, f32, In<f32>, InOut<f32>)>().unwrap();
        let x = Buffer::<f32>::zeroed(cx, 1).unwrap();
        let mut y = Buffer::<f32>::zeroed(cx, 1).unwrap();
        let stream = Stream::default_in(cx);
        let mut refused = |config| {
            // SAFETY: no element is asked for, so nothing is accessed, if it runs at all.
            unsafe { kernel.launch(cx, &stream, config, (0u32, 1f32, &x, &mut y)) }.unwrap_err()
        };
        assert_eq!(
            refused(LaunchConfig::new(0, 32)),
            LaunchError::Empty { grid: 0.into(), block: 32.into() }
        );
        assert!(matches!(refused(LaunchConfig::new(1, (1, 0))), LaunchError::Empty { .. }));
        assert!(matches!(refused(LaunchConfig::new(1 << 31, 1)), LaunchError::Grid { .. }));
        assert!(matches!(refused(LaunchConfig::new(1, (1024, 1024, 64))), LaunchError::Block { .. }));
        assert!(
            matches!(refused(LaunchConfig::new(1, 1025)), LaunchError::Block { threads, .. } if threads <= 1024)
        );
        assert!(matches!(
            refused(LaunchConfig::new(1, (1, 1, 65))),
            LaunchError::Block { limit: Dim3 { z: 64, .. }, .. }
        ));
        let tall = LaunchConfig::new((1, 1 << 16), 1);
        assert!(matches!(refused(tall), LaunchError::Grid { limit: Dim3 { y: 65535, .. }, .. }));
        let greedy = LaunchConfig { shared_bytes: 48 * 1024 + 1, ..LaunchConfig::new(1, 1) };
        assert!(matches!(refused(greedy), LaunchError::SharedMemory { limit, .. } if limit <= 48 * 1024));
        cx.synchronize().expect("nothing was launched");
    });
}

#[test]
fn more_shared_memory_can_be_allowed() {
    in_context(|cx| {
        let module = kernels!(cx, "reduce_shared");
        let function = module.function("reduce_shared_dynamic").unwrap();
        let mut kernel = function.bind::<(In<u32>, InOut<u32>, u32)>().unwrap();
        kernel.allow_shared_bytes(64 * 1024).unwrap();
        let too_much = kernel.allow_shared_bytes(u32::MAX).unwrap_err();
        assert_eq!(too_much.code(), cuprum::sys::CUresult::CUDA_ERROR_INVALID_VALUE);
    });
}

#[test]
fn kernel_and_stream_must_be_of_the_current_context() {
    let other = common::context();
    in_context(|cx| {
        let module = kernels!(cx, "signatures");
        let kernel = module.function("no_arguments").unwrap().bind::<()>().unwrap();
        let stream = Stream::new(cx).unwrap();
        let inner = cx.push(&other).unwrap();
        let theirs = Stream::new(&inner).unwrap();
        for stream in [&stream, &theirs] {
            // SAFETY: the kernel does nothing.
            let refused = unsafe { kernel.launch(&inner, stream, LaunchConfig::new(1, 1), ()) }.unwrap_err();
            let LaunchError::Driver(error) = refused else { panic!("another error: {refused}") };
            assert!(error.code() == cuprum::Error::WRONG_CONTEXT);
            assert_eq!(error.call(), FnId::cuLaunchKernel);
        }
    });
}

#[test]
fn a_configuration_covers_all_elements() {
    let blocks = |elements, block| LaunchConfig::for_elements(elements, block).grid.x;
    assert_eq!([blocks(0, 256), blocks(1, 256), blocks(256, 256), blocks(257, 256)], [1, 1, 1, 2]);
    assert_eq!(blocks(usize::MAX, 1), u32::MAX);
    assert_eq!(blocks(5, 0), 5);
}
