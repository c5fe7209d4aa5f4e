//! Page-locked memory: allocated or registered, copied asynchronously, seen from the device,
//! returned.

use cuprum::context::ContextStack;
use cuprum::memory::{PinnedFlags, RegisterFlags, Registered};
use cuprum::sys::CUresult;
use cuprum::{Buffer, In, InOut, LaunchConfig, MemoryError, PinnedBuffer, Stream};

use crate::common::{context, in_context, kernels, on_gpu};

const NONE: PinnedFlags = PinnedFlags::empty();

#[test]
fn it_is_a_slice_with_values() {
    in_context(|cx| {
        let mut pinned = PinnedBuffer::<u32>::zeroed(cx, 5, NONE).unwrap();
        assert_eq!(pinned[..], [0; 5]);
        pinned[2] = 7;
        pinned.iter_mut().for_each(|element| *element += 1);
        assert_eq!(pinned[..], [1, 1, 8, 1, 1]);
        assert_eq!(PinnedBuffer::from_slice(cx, &pinned, NONE).unwrap()[..], [1, 1, 8, 1, 1]);
        assert!(!pinned.is_lost());
        pinned.close().unwrap();
    });
}

#[test]
fn contents_that_were_not_asked_for_can_be_written_and_read() {
    in_context(|cx| {
        let mut pinned = PinnedBuffer::<u32>::alloc(cx, 1 << 20, NONE).unwrap();
        pinned[7] = 7;
        assert_eq!((pinned.len(), pinned[7]), (1 << 20, 7));
        let stream = Stream::new(cx).unwrap();
        let mut buffer = Buffer::from_slice(cx, &vec![9u32; 1 << 20]).unwrap();
        cx.scope_as(&stream, |scope| -> Result<(), MemoryError> {
            scope.copy(&scope.lend(&mut pinned)?, &scope.lend(buffer.as_mut_slice())?)
        })
        .unwrap();
        assert!(pinned.iter().all(|&number| number == 9));
        assert!(PinnedBuffer::<u32>::alloc(cx, 0, NONE).unwrap().is_empty());
    });
}

#[test]
fn flags_include_the_requested_ones() {
    in_context(|cx| {
        for flags in [NONE, PinnedFlags::PORTABLE, PinnedFlags::MAPPED, PinnedFlags::WRITE_COMBINED] {
            let pinned = PinnedBuffer::<u8>::zeroed(cx, 100, flags).unwrap();
            let told = pinned.flags(cx).unwrap();
            // A device with unified addressing makes all of it portable and mapped.
            assert!(told.contains(flags), "{told:?}");
        }
        // Flags without a name are not passed on: the bit after the named ones is for memory of
        // devices.
        let unknown = PinnedFlags::from_bits_retain(0x100);
        assert!(PinnedBuffer::<u8>::zeroed(cx, 1, unknown).is_ok());
        let io_memory = RegisterFlags::from_bits_retain(4);
        assert!(Registered::new(cx, vec![0u8; 4096], io_memory).is_ok());
    });
}

#[test]
fn nothing_is_allocated_for_nothing() {
    in_context(|cx| {
        let mut empty = PinnedBuffer::<u32>::zeroed(cx, 0, NONE).unwrap();
        let mut unit = PinnedBuffer::<[u8; 0]>::zeroed(cx, 9, NONE).unwrap();
        assert_eq!((empty.len(), unit.len(), empty.flags(cx).unwrap()), (0, 9, NONE));
        let mut none = Registered::new(cx, Vec::<u32>::new(), RegisterFlags::empty()).unwrap();
        let stream = Stream::new(cx).unwrap();
        let mut buffer = Buffer::<u32>::alloc(cx, 0).unwrap();
        cx.scope_as(&stream, |scope| -> Result<(), MemoryError> {
            let device = scope.lend(buffer.as_mut_slice())?;
            scope.copy(&scope.lend(&mut empty)?, &device)?;
            scope.copy(&device, &scope.lend(&mut none)?)?;
            assert!(scope.as_device(&scope.lend(&mut unit)?)?.len() == 9);
            Ok(())
        })
        .unwrap();
        assert!(none.unregister().unwrap().is_empty());
        let too_large = PinnedBuffer::<u64>::zeroed(cx, usize::MAX / 4, NONE).unwrap_err();
        assert!(matches!(too_large, MemoryError::TooLarge { element_bytes: 8, .. }), "{too_large}");
    });
}

/// Elements with a larger alignment than a driver provides.
#[derive(Clone, Copy)]
#[repr(C, align(33554432))]
struct Huge([u8; 1 << 25]);

// SAFETY: bytes in C layout.
unsafe impl cuprum::memory::DeviceData for Huge {}

#[test]
fn memory_that_is_not_aligned_for_its_elements_is_refused() {
    in_context(|cx| {
        // One of several in a row is not aligned, wherever they begin.
        let answers: Vec<_> = (0..3).map(|_| PinnedBuffer::<Huge>::zeroed(cx, 1, NONE)).collect();
        for answer in &answers {
            match answer {
                Ok(pinned) => assert!(pinned.as_raw().is_aligned()),
                Err(error) => assert_eq!(*error, MemoryError::Alignment { align: 1 << 25 }),
            }
        }
        assert!(answers.iter().any(Result::is_err) || on_gpu(), "nothing was refused");
    });
}

#[test]
fn a_scope_copies_there_and_back_and_waits() {
    in_context(|cx| {
        for stream in [Stream::new(cx).unwrap(), Stream::non_blocking(cx).unwrap()] {
            let numbers: Vec<u32> = (0..100_000).collect();
            let input = PinnedBuffer::from_slice(cx, &numbers, PinnedFlags::WRITE_COMBINED).unwrap();
            let mut one = PinnedBuffer::<u32>::zeroed(cx, numbers.len(), NONE).unwrap();
            let mut two = Registered::new(cx, vec![0u32; numbers.len()], RegisterFlags::empty()).unwrap();
            let mut three =
                Registered::new(cx, vec![0u32; numbers.len()].into_boxed_slice(), RegisterFlags::empty())
                    .unwrap();
            let mut buffer = Buffer::<u32>::zeroed(cx, numbers.len()).unwrap();
            cx.scope_as(&stream, |scope| -> Result<(), MemoryError> {
                let (one, two) = (scope.lend(&mut one)?, scope.lend(&mut two)?);
                let device = scope.lend(buffer.as_mut_slice())?;
                scope.copy(&device, &input)?;
                scope.copy(&one, &device)?;
                scope.fill(&device, 9)?;
                scope.copy(
                    &two.slice(10..).unwrap(),
                    &device.slice(..device.len() - 10).unwrap().as_shared(),
                )?;
                scope.copy(&device.slice(5..10).unwrap(), &one.slice(..5).unwrap())?;
                scope.copy(&scope.lend(&mut three)?, &device)
            })
            .unwrap();
            assert_eq!(one[..], numbers);
            assert_eq!((two[9], &two[10..]), (0, &[9; 100_000 - 10][..]));
            assert_eq!(three[..12], [9, 9, 9, 9, 9, 0, 1, 2, 3, 4, 9, 9]);
            assert_eq!(two.unregister().unwrap()[10], 9);
            assert_eq!(three.unregister().unwrap().len(), numbers.len());
        }
    });
}

#[test]
fn mismatches_are_refused_before_anything_is_copied() {
    in_context(|cx| {
        let streams = [Stream::new(cx).unwrap(), Stream::new(cx).unwrap()];
        let mut host = PinnedBuffer::<u32>::zeroed(cx, 4, NONE).unwrap();
        let mut buffer = Buffer::<u32>::zeroed(cx, 5).unwrap();
        let mut near = Buffer::<u32>::zeroed(cx, 5).unwrap();
        cx.multi_scope(|scope| {
            let (one, two) = (scope.on(&streams[0]).unwrap(), scope.on(&streams[1]).unwrap());
            let host = one.lend(&mut host).unwrap();
            let (near, device) = (one.lend(&mut near).unwrap(), two.lend(buffer.as_mut_slice()).unwrap());
            let four = device.slice(..4).unwrap();
            let length = MemoryError::Length { destination_len: 4, source_len: 5 };
            assert_eq!(one.copy(&host, &near), Err(length));
            assert_eq!(
                one.copy(&near, &host),
                Err(MemoryError::Length { destination_len: 5, source_len: 4 })
            );
            for scope in [&one, &two] {
                assert_eq!(scope.copy(&host, &four), Err(MemoryError::OtherStream));
                assert_eq!(scope.copy(&four, &host), Err(MemoryError::OtherStream));
            }
            assert!(host.slice(3..5).is_none());
            Ok(())
        })
        .unwrap();
    });
}

#[test]
fn kernels_and_fills_reach_mapped_memory() {
    in_context(|cx| {
        let module = kernels!(cx, "saxpy");
        let saxpy = module.function("saxpy").unwrap().bind::<(u32, f32, In<f32>, InOut<f32>)>().unwrap();
        let stream = Stream::new(cx).unwrap();
        let x = Buffer::from_slice(cx, &[2f32; 1000]).unwrap();
        let mut y = PinnedBuffer::from_slice(cx, &[1f32; 1000], PinnedFlags::MAPPED).unwrap();
        let mut z = Registered::new(cx, vec![0u16; 500], RegisterFlags::MAPPED).unwrap();
        cx.scope(&stream, |scope| {
            let y = scope.as_device(&scope.lend(&mut y).unwrap()).unwrap();
            let config = LaunchConfig::for_elements(1000, 128);
            // SAFETY: saxpy(n, alpha, x, y) touches n elements of each, which are lent to this
            // stream's scope.
            unsafe { saxpy.launch(cx, &stream, config, (1000, 3.0, &x, &y)) }.unwrap();
            scope.fill(&scope.as_device(&scope.lend(&mut z).unwrap()).unwrap(), 0xABCDu16).unwrap();
            Ok(())
        })
        .unwrap();
        assert_eq!(y[..], [7.0; 1000]);
        assert_eq!(z[..], [0xABCD; 500]);
    });
}

#[test]
fn portable_memory_serves_other_contexts() {
    let (first, second) = (context(), context());
    let mut stack = ContextStack::take().unwrap();
    let mut cx = stack.push(&first).unwrap();
    let mut portable = PinnedBuffer::<u8>::zeroed(&cx, 64, PinnedFlags::PORTABLE).unwrap();
    let mut registered = Registered::new(&cx, vec![0u8; 64], RegisterFlags::PORTABLE).unwrap();
    let mut local = PinnedBuffer::<u8>::zeroed(&cx, 64, NONE).unwrap();
    {
        let cx = cx.push(&second).unwrap();
        let stream = Stream::new(&cx).unwrap();
        let mut buffer = Buffer::<u8>::alloc(&cx, 64).unwrap();
        cx.scope(&stream, |scope| {
            let device = scope.lend(buffer.as_mut_slice()).unwrap();
            scope.fill(&device, 5).unwrap();
            scope.copy(&scope.lend(&mut portable).unwrap(), &device).unwrap();
            scope.copy(&scope.lend(&mut registered).unwrap(), &device).unwrap();
            let Err(MemoryError::Driver(refused)) = scope.lend(&mut local) else { panic!("taken") };
            assert!(refused.code() == cuprum::Error::WRONG_CONTEXT);
            Ok(())
        })
        .unwrap();
        assert_eq!((portable[63], registered[63]), (5, 5));
        // Dropped where another context is current.
        drop((portable, registered));
    }
    assert!(local.iter().all(|&byte| byte == 0));
}

#[test]
fn memory_registered_twice_is_given_back() {
    in_context(|cx| {
        let fns = cx.context().driver().library().fns();
        let memory = vec![1u8; 8192];
        let at = memory.as_ptr().cast_mut().cast();
        // SAFETY: so many bytes, unregistered below.
        let (code, _) = unsafe { cuprum::sys::call!(fns, cuMemHostRegister_v2(at, 8192, 0)) };
        assert_eq!(code, CUresult::CUDA_SUCCESS);
        let error = Registered::new(cx, memory, RegisterFlags::empty()).unwrap_err();
        let MemoryError::Driver(refused) = error.error else { panic!("{error}") };
        assert_eq!(refused.code(), CUresult::CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
        let memory = error.memory.expect("it is not lost");
        // It is registered still, by the other.
        // SAFETY: registered above.
        let (code, _) = unsafe { cuprum::sys::call!(fns, cuMemHostUnregister(at)) };
        assert_eq!(code, CUresult::CUDA_SUCCESS);
        assert_eq!(
            Registered::new(cx, memory, RegisterFlags::empty()).unwrap().unregister().unwrap(),
            [1; 8192]
        );
    });
}

#[test]
fn it_goes_to_other_threads_and_is_dropped_there() {
    let context = context();
    let mut stack = ContextStack::take().unwrap();
    let cx = stack.push(&context).unwrap();
    let pinned = PinnedBuffer::from_slice(&cx, &[3u64; 10], NONE).unwrap();
    let registered = Registered::new(&cx, vec![4u64; 10], RegisterFlags::empty()).unwrap();
    let sum = std::thread::scope(|threads| {
        threads
            .spawn(|| {
                let (pinned, registered) = (pinned, registered);
                pinned.iter().chain(registered.iter()).sum::<u64>()
            })
            .join()
            .unwrap()
    });
    assert_eq!(sum, 70);
}
