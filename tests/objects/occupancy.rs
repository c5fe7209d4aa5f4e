//! Occupancy, launch attributes and cooperative launches.

use cuprum::launch::{LaunchAttributes, LaunchError, OccupancyFlags};
use cuprum::sys::{CUdevice_attribute, CUresult};
use cuprum::{Buffer, In, InOut, LaunchConfig, Stream};

use crate::common::{in_context, kernels};

const NONE: OccupancyFlags = OccupancyFlags::CU_OCCUPANCY_DEFAULT;

#[test]
fn suggestions_fit_the_device_and_each_other() {
    in_context(|cx| {
        let module = kernels!(cx, "saxpy");
        let saxpy = module.function("saxpy").unwrap();
        let device = cx.context().device();
        let attribute = |attribute| u32::try_from(device.attribute(attribute).unwrap()).unwrap();
        let multiprocessors = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);

        let suggestion = saxpy.max_potential_block_size(|_| 0, 0, NONE).unwrap();
        let blocks = saxpy.max_active_blocks_per_multiprocessor(suggestion.block.x, 0, NONE).unwrap();
        assert_eq!(suggestion.grid.x, blocks * multiprocessors, "{suggestion:?}");
        // No larger block than allowed, and no block size runs more threads at once.
        let limited = saxpy.max_potential_block_size(|_| 0, 128, NONE).unwrap();
        assert!(limited.block.x <= 128 && limited.block.x > 0, "{limited:?}");
        for threads in [32, 64, 256, 1024] {
            let other = saxpy.max_active_blocks_per_multiprocessor(threads, 0, NONE).unwrap();
            assert!(other * threads <= blocks * suggestion.block.x, "{threads}: {other}");
        }
        // Shared memory limits these.
        let free = saxpy.available_shared_bytes_per_block(2, 64).unwrap();
        assert!(saxpy.max_active_blocks_per_multiprocessor(64, free, NONE).unwrap() >= 2);
        assert!(saxpy.max_active_blocks_per_multiprocessor(64, free * 3, NONE).unwrap() < 2);
        let refused = saxpy.max_active_blocks_per_multiprocessor(u32::MAX, 0, NONE).unwrap_err();
        assert_eq!(refused.code(), CUresult::CUDA_ERROR_INVALID_VALUE);
    });
}

#[test]
fn shared_memory_that_depends_on_the_block_is_asked_for() {
    in_context(|cx| {
        let module = kernels!(cx, "saxpy");
        let saxpy = module.function("saxpy").unwrap();
        let mut asked = Vec::new();
        let bytes = |threads| {
            asked.push(threads);
            // A block of more than 256 threads would not fit.
            if threads > 256 { 1 << 30 } else { 16 }
        };
        let suggestion = saxpy.max_potential_block_size(bytes, 0, NONE).unwrap();
        assert!(suggestion.block.x <= 256 && suggestion.block.x > 0, "{suggestion:?}");
        assert!(asked.contains(&suggestion.block.x), "{asked:?}");

        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            saxpy.max_potential_block_size(|_| std::panic::resume_unwind(Box::new(7u8)), 0, NONE)
        }));
        assert_eq!(panicked.unwrap_err().downcast_ref::<u8>(), Some(&7));
        assert!(saxpy.max_potential_block_size(|_| 0, 0, NONE).is_ok(), "the panic left nothing behind");
    });
}

#[test]
fn attributes_reach_the_launch() {
    in_context(|cx| {
        let module = kernels!(cx, "vector_add");
        let add =
            module.function("vector_add").unwrap().bind::<(In<f32>, In<f32>, InOut<f32>, u32)>().unwrap();
        let (a, b) =
            (Buffer::from_slice(cx, &[1.0; 64]).unwrap(), Buffer::from_slice(cx, &[2.0; 64]).unwrap());
        let mut out = Buffer::<f32>::zeroed(cx, 64).unwrap();
        let stream = Stream::new(cx).unwrap();
        let config = LaunchConfig::new(2, 32);
        let attributes = LaunchAttributes {
            priority: Some(0),
            shared_memory_carveout: Some(50),
            ..LaunchAttributes::default()
        };
        // SAFETY: the kernel adds 64 elements; the copy comes after it.
        unsafe { add.launch_with(cx, &stream, config, &attributes, (&a, &b, &mut out, 64)) }.unwrap();
        assert_eq!(out.to_vec(cx).unwrap(), [3.0; 64]);

        let cooperative = LaunchAttributes { cooperative: true, ..LaunchAttributes::default() };
        cx.fill_bytes(&mut out, 0).unwrap();
        // SAFETY: as above.
        unsafe { add.launch_with(cx, &stream, config, &cooperative, (&a, &b, &mut out, 64)) }.unwrap();
        assert_eq!(out.to_vec(cx).unwrap(), [3.0; 64]);

        // A grid whose blocks cannot all run at once; without the attribute the same grid would be
        // taken.
        let many = LaunchConfig::new(1 << 20, 1024);
        // SAFETY: nothing is launched.
        let refused = unsafe { add.launch_with(cx, &stream, many, &cooperative, (&a, &b, &mut out, 64)) };
        let Err(LaunchError::Driver(error)) = refused else { panic!("{refused:?}") };
        assert_eq!(error.code(), CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    });
}
