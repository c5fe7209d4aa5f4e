//! Tensors that change hands: exported, taken over or refused, and each freed once.

mod distances;
mod foreign;

use std::ffi::c_void;
use std::mem::{offset_of, size_of};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Once};

use cuprum::context::{Context, ContextFlags, GreenContext};
use cuprum::device::ResourceKind;
use cuprum::graph::CaptureMode;
use cuprum::memory::PinnedFlags;
use cuprum::stream::{Signals, Until};
use cuprum::{Buffer, Current, Driver, PinnedBuffer, Stream};
use cuprum_dlpack::abi::{
    CPU, CUDA, CUDA_HOST, CUDA_MANAGED, DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned,
    DLPackVersion, DLTensor, READ_ONLY,
};
use cuprum_dlpack::{ArrayInterface, ImportMismatch as Mismatch, NotATensor, Tensor};
use cuprum_emulator::{Mode, Settings};

use foreign::{FLOAT, Says};

fn driver() -> Driver {
    static ASYNC: Once = Once::new();
    // As on hardware, where calls that do not wait return before their work is done.
    ASYNC.call_once(|| Settings::default().mode(Mode::Async).install().expect("the first use"));
    Driver::init(cuprum_emulator::library()).unwrap()
}

/// Runs `test` in a counted context of its own.
fn in_shared(test: impl FnOnce(&mut Current<'_, 'static>)) {
    let context = Context::create(driver().device(0).unwrap(), ContextFlags::empty()).unwrap().share();
    context
        .enter(|cx| {
            test(cx);
            Ok(())
        })
        .unwrap();
}

/// The layout of the C structures on machines with 64-bit pointers.
#[test]
fn structures_lie_as_in_c() {
    assert_eq!((size_of::<DLDevice>(), size_of::<DLDataType>(), size_of::<DLTensor>()), (8, 4, 48));
    let tensor = [
        offset_of!(DLTensor, data),
        offset_of!(DLTensor, device),
        offset_of!(DLTensor, ndim),
        offset_of!(DLTensor, dtype),
        offset_of!(DLTensor, shape),
        offset_of!(DLTensor, strides),
        offset_of!(DLTensor, byte_offset),
    ];
    assert_eq!(tensor, [0, 8, 16, 20, 24, 32, 40]);
    let old = [offset_of!(DLManagedTensor, manager_ctx), offset_of!(DLManagedTensor, deleter)];
    assert_eq!((old, size_of::<DLManagedTensor>()), ([48, 56], 64));
    let versioned = [
        offset_of!(DLManagedTensorVersioned, version),
        offset_of!(DLManagedTensorVersioned, manager_ctx),
        offset_of!(DLManagedTensorVersioned, deleter),
        offset_of!(DLManagedTensorVersioned, flags),
        offset_of!(DLManagedTensorVersioned, dl_tensor),
    ];
    assert_eq!((versioned, size_of::<DLManagedTensorVersioned>()), ([0, 8, 16, 24, 32], 80));
}

#[test]
fn a_buffer_goes_out_and_comes_back_in_both_kinds_of_capsules() {
    in_shared(|cx| {
        let numbers: Vec<f32> = (0..24u8).map(f32::from).collect();
        for versioned in [true, false] {
            let buffer = Buffer::from_slice(cx, &numbers).unwrap();
            let address = buffer.as_raw();
            let tensor = Tensor::export(buffer, &[2, 3, 4]).unwrap();
            assert_eq!(tensor.device(), DLDevice { device_type: CUDA, device_id: 0 });
            assert_eq!((tensor.data_type(), tensor.shape()), (FLOAT, &[2, 3, 4][..]));
            assert_eq!((tensor.strides(), tensor.len()), (Some(&[12, 4, 1][..]), 24));
            assert!(!tensor.is_read_only());
            assert_eq!(tensor.address(), address);
            let tensor = match versioned {
                // SAFETY: the pointer that was just given up.
                true => unsafe { Tensor::from_versioned(tensor.into_versioned()) },
                // SAFETY: as above.
                false => unsafe { Tensor::from_unversioned(tensor.into_unversioned().unwrap()) },
            };
            let mut back = tensor.unwrap().into_buffer::<f32>(cx).unwrap();
            assert_eq!((back.as_raw(), back.as_slice().to_vec(cx).unwrap()), (address, numbers.clone()));
            cx.fill(&mut back, 1.0).unwrap();
            back.close().unwrap();
        }
    });
}

#[test]
fn the_last_owner_frees_the_memory_on_any_thread() {
    in_shared(|cx| {
        let before = cx.memory_info().unwrap().free;
        let tensor = Tensor::export(Buffer::<u8>::zeroed(cx, 64 << 20).unwrap(), &[64 << 20]).unwrap();
        // Other tests allocate some bytes meanwhile.
        assert!(cx.memory_info().unwrap().free < before - (32 << 20));
        let pointer = tensor.into_versioned() as usize;
        // SAFETY: the pointer that was given up, on another thread.
        let other = move || unsafe { Tensor::from_versioned(pointer as *mut _) }.map(drop);
        std::thread::spawn(other).join().unwrap().unwrap();
        assert!(cx.memory_info().unwrap().free > before - (32 << 20));
    });
}

#[test]
fn memory_of_the_host_is_recognized_and_shared_memory_must_not_be_written() {
    in_shared(|cx| {
        let pinned = PinnedBuffer::from_slice(cx, &[1i32, 2, 3], PinnedFlags::empty()).unwrap();
        let mut tensor = Tensor::export(pinned, &[3]).unwrap();
        assert_eq!(tensor.device().device_type, CUDA_HOST);
        tensor.as_mut_host_slice::<i32>().unwrap()[1] = 5;
        assert_eq!(tensor.as_host_slice::<i32>().unwrap(), [1, 5, 3]);

        let tensor = Tensor::export(vec![1.5f64; 6], &[3, 2]).unwrap();
        assert_eq!(tensor.device(), DLDevice { device_type: CPU, device_id: 0 });
        assert_eq!(tensor.as_host_slice::<f64>().unwrap(), [1.5; 6]);

        let shared = Arc::new(Buffer::from_slice(cx, &[7u16; 8]).unwrap());
        let tensor = Tensor::export(shared.clone(), &[8]).unwrap();
        assert!(tensor.is_read_only());
        let tensor = tensor.into_unversioned().expect_err("a capsule without flags cannot say so");
        let refused = tensor.into_buffer::<u16>(cx).unwrap_err();
        assert_eq!(refused.reason, Mismatch::ReadOnly);
        let read = refused.tensor.into_read_only_buffer::<u16>(cx).unwrap();
        assert_eq!(read.as_slice().to_vec(cx).unwrap(), shared.as_slice().to_vec(cx).unwrap());
        assert_eq!(Arc::strong_count(&shared), 2);
        drop(read);
        assert_eq!(Arc::strong_count(&shared), 1);

        let refused = Tensor::export(vec![0u8; 6], &[3, 3]).unwrap_err();
        assert_eq!((refused.owner.len(), refused.len, refused.lost), (6, 6, false));
        assert!(Tensor::export(vec![0u8; 6], &[usize::MAX, 2]).is_err());
        assert_eq!(Tensor::export(vec![0u8; 1], &[]).unwrap().as_host_slice::<u8>().unwrap(), [0]);
        assert!(Tensor::export(Vec::<u8>::new(), &[4, 0]).unwrap().as_host_slice::<u8>().unwrap().is_empty());
    });
}

#[test]
fn a_tensor_of_others_is_checked_and_freed_once() {
    in_shared(|cx| {
        let freed = Arc::new(AtomicUsize::new(0));
        let mut host = [1f32, 2.0, 3.0, 4.0, 5.0, 6.0];
        let data = host.as_mut_ptr().cast();
        let is = |say: fn(&mut Says)| {
            let mut says = Says::of(data, CPU, &[2, 3]);
            say(&mut says);
            says.imported(&freed)
        };
        assert_eq!(is(|_| ()).as_host_slice::<f32>().unwrap(), host);
        let row_major = is(|says| says.strides = Some(vec![3, 1]));
        assert!(row_major.as_host_slice::<f32>().is_ok());
        let one_row = is(|says| (says.shape, says.strides) = (vec![1, 3], Some(vec![77, 1])));
        assert_eq!(one_row.as_host_slice::<f32>().unwrap(), &host[..3]);
        let behind = is(|says| (says.shape, says.offset) = (vec![4], 8));
        assert_eq!(behind.as_host_slice::<f32>().unwrap(), &host[2..]);

        let transposed = is(|says| says.strides = Some(vec![1, 2]));
        let strides = Mismatch::Strides { shape: vec![2, 3], strides: vec![1, 2] };
        assert_eq!(transposed.as_host_slice::<f32>().unwrap_err(), strides);
        let broadcast = is(|says| says.strides = Some(vec![0, 1]));
        assert!(matches!(broadcast.as_host_slice::<f32>(), Err(Mismatch::Strides { .. })));
        assert!(matches!(is(|_| ()).as_host_slice::<i32>(), Err(Mismatch::DataType { .. })));
        let lanes = is(|says| says.dtype.lanes = 4);
        assert!(matches!(lanes.as_host_slice::<f32>(), Err(Mismatch::DataType { .. })));
        let crooked = is(|says| (says.shape, says.offset) = (vec![4], 2));
        assert!(matches!(crooked.as_host_slice::<f32>(), Err(Mismatch::Alignment { alignment: 4, .. })));
        let mut read_only = is(|says| says.flags = READ_ONLY);
        assert_eq!(read_only.as_mut_host_slice::<f32>().unwrap_err(), Mismatch::ReadOnly);
        assert!(read_only.as_host_slice::<f32>().is_ok());
        let elsewhere = is(|says| says.device.device_type = 10);
        assert!(matches!(elsewhere.as_host_slice::<f32>(), Err(Mismatch::Device { .. })));
        let on_host = is(|_| ()).into_buffer::<f32>(cx).unwrap_err();
        assert!(matches!(on_host.reason, Mismatch::Device { .. }), "{on_host}");
        drop((
            row_major, one_row, behind, transposed, broadcast, lanes, crooked, read_only, elsewhere, on_host,
        ));
        assert_eq!(freed.load(Ordering::Relaxed), 12);
    });
}

#[test]
fn an_invalid_tensor_is_refused_and_stays_the_callers() {
    let freed = Arc::new(AtomicUsize::new(0));
    let mut host = [0f32; 4];
    let data: *mut c_void = host.as_mut_ptr().cast();
    // SAFETY: null.
    let null = unsafe { Tensor::from_versioned(ptr::null_mut()) };
    assert_eq!(null.unwrap_err(), NotATensor::Null);
    let refused = |says: Says| {
        let pointer = says.versioned(&freed);
        // SAFETY: a live tensor of the test.
        let error = unsafe { Tensor::from_versioned(pointer) }.unwrap_err();
        assert_eq!(freed.load(Ordering::Relaxed), 0);
        error
    };
    let future = Says { major: 2, ..Says::of(data, CPU, &[4]) };
    assert_eq!(refused(future), NotATensor::Version { major: 2 });
    assert_eq!(refused(Says::of(data, CPU, &[-1])), NotATensor::Shape);
    assert_eq!(refused(Says::of(data, CPU, &[i64::MAX, 3])), NotATensor::Shape);
    let old = Says::of(data, CPU, &[4]).unversioned(&freed);
    // SAFETY: a live tensor, given up.
    let old = unsafe { Tensor::from_unversioned(old) }.unwrap();
    // SAFETY: the pointer that was given up.
    let wrapped = unsafe { Tensor::from_versioned(old.into_versioned()) }.unwrap();
    assert_eq!((wrapped.shape(), wrapped.strides(), wrapped.is_read_only()), (&[4][..], None, false));
    assert_eq!(freed.load(Ordering::Relaxed), 0);
    drop(wrapped);
    assert_eq!(freed.load(Ordering::Relaxed), 1);
}

/// Code that returns it knows no streams, so the drop waits for the context, which a capture
/// forbids.
#[test]
fn memory_of_others_is_returned_during_a_capture() {
    in_shared(|cx| {
        let freed = Arc::new(AtomicUsize::new(0));
        let buffer = Buffer::from_slice(cx, &[1f32, 2.0, 3.0]).unwrap();
        let data = ptr::with_exposed_provenance_mut::<c_void>(buffer.as_raw() as usize);
        let mut taken = Says::of(data, CUDA, &[3]).imported(&freed).into_buffer::<f32>(cx).unwrap();
        cx.fill(&mut taken, 5.0).unwrap();
        let mut stream = Stream::new(cx).unwrap();
        let whole = cx.capture(&mut stream, CaptureMode::ThreadLocal, |_| {
            std::thread::scope(|scope| scope.spawn(|| taken.close()).join().unwrap()).unwrap();
            assert_eq!(freed.load(Ordering::Relaxed), 1);
            Ok(())
        });
        whole.expect("the capture goes on");
        assert_eq!(buffer.to_vec(cx).unwrap(), [5.0; 3]);
    });
}

#[test]
fn memory_of_a_device_is_of_the_current_context_or_refused() {
    in_shared(|cx| {
        let freed = Arc::new(AtomicUsize::new(0));
        let buffer = Buffer::from_slice(cx, &[1f32, 2.0, 3.0]).unwrap();
        let data = ptr::with_exposed_provenance_mut::<c_void>(buffer.as_raw() as usize);
        let taken = Says::of(data, CUDA, &[3]).imported(&freed).into_buffer::<f32>(cx).unwrap();
        assert_eq!(taken.as_slice().to_vec(cx).unwrap(), [1.0, 2.0, 3.0]);
        drop(taken);
        assert_eq!(freed.load(Ordering::Relaxed), 1);
        let managed = Says::of(data, CUDA_MANAGED, &[3]).imported(&freed);
        assert!(managed.into_buffer::<f32>(cx).is_ok());
        let elsewhere =
            Says { device: DLDevice { device_type: CUDA, device_id: 9 }, ..Says::of(data, CUDA, &[3]) };
        let refused = elsewhere.imported(&freed).into_buffer::<f32>(cx).unwrap_err();
        assert!(
            refused.to_string().contains("device_id: 9") && refused.to_string().contains("CUDA device 0")
        );
        // Memory that no driver knows is no memory of a device, whatever the tensor claims.
        let mut host = [0f32; 3];
        let lie = Says::of(host.as_mut_ptr().cast(), CUDA, &[3]).imported(&freed);
        assert!(matches!(
            lie.into_buffer::<f32>(cx).unwrap_err().reason,
            Mismatch::Device { .. } | Mismatch::Driver(_)
        ));
        let other = Context::create(driver().device(0).unwrap(), ContextFlags::empty()).unwrap();
        let tensor = Says::of(data, CUDA, &[3]).imported(&freed);
        let refused = other.enter(|cx| Ok(tensor.into_buffer::<f32>(cx).map(drop).unwrap_err())).unwrap();
        assert_eq!(refused.reason, Mismatch::OtherContext);
    });
}

#[test]
fn an_array_interface_has_the_text_that_python_reads() {
    in_shared(|cx| {
        let buffer = Buffer::from_slice(cx, &[1f32, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        let address = buffer.as_raw();
        let (default, stream) = (Stream::default_in(cx), Stream::new(cx).unwrap());
        let read = ArrayInterface::of(&buffer.as_slice(), &[2, 3], Some(&default)).unwrap();
        assert_eq!((read.read_only, read.stream, &*read.typestr), (true, Some(1), "<f4"));
        assert_eq!(ArrayInterface::of(&buffer.as_slice(), &[2, 2], None), None);
        let mut written = ArrayInterface::of(&buffer.as_slice(), &[6], Some(&stream)).unwrap();
        written.read_only = false;
        let handle = stream.as_raw().0.addr();
        let text = format!(
            "{{'shape': (6,), 'typestr': '<f4', 'data': ({address}, False), 'strides': None, 'stream': {handle}, 'version': 3}}"
        );
        assert_eq!(written.to_string(), text);
        // SAFETY: the buffer outlives the borrow, and is not used meanwhile.
        let borrowed = |values: &ArrayInterface| unsafe { values.borrow::<f32>(cx) };
        assert_eq!(borrowed(&written).unwrap().as_slice().to_vec(cx).unwrap()[5], 6.0);
        assert_eq!(borrowed(&read).unwrap_err(), Mismatch::ReadOnly);
        written.strides = Some(vec![4]);
        assert!(borrowed(&written).is_ok());
        written.strides = Some(vec![8]);
        assert!(matches!(borrowed(&written).unwrap_err(), Mismatch::Strides { .. }));
        (written.strides, written.address) = (None, address + 2);
        assert!(matches!(borrowed(&written).unwrap_err(), Mismatch::Alignment { .. }));
        written.typestr = ">f4".to_owned();
        assert!(matches!(borrowed(&written).unwrap_err(), Mismatch::TypeString { .. }));
        let empty = Buffer::<u8>::alloc(cx, 0).unwrap();
        let empty = ArrayInterface::of(&empty.as_slice(), &[0, 4], None).unwrap();
        assert_eq!(empty.address, 0);
        assert!(empty.to_string().starts_with("{'shape': (0, 4), 'typestr': '|u1', 'data': (0, True), "));
    });
}

/// Copies within the device do not wait, so the drop does: a deleter may give the memory to others
/// at once.
#[test]
fn a_tensor_is_not_freed_under_work_that_is_queued() {
    static IS_WRITTEN: AtomicBool = AtomicBool::new(false);
    static FREED_AFTER: AtomicBool = AtomicBool::new(false);
    unsafe extern "C" fn delete(tensor: *mut DLManagedTensorVersioned) {
        FREED_AFTER.store(IS_WRITTEN.load(Ordering::SeqCst), Ordering::SeqCst);
        // SAFETY: the box of below, given back once.
        drop(unsafe { Box::from_raw(tensor) });
    }
    in_shared(|cx| {
        let memory = Buffer::<f32>::zeroed(cx, 4).unwrap();
        let source = Buffer::from_slice(cx, &[1.0f32; 4]).unwrap();
        let mut shape = [4];
        let tensor = Box::new(DLManagedTensorVersioned {
            version: DLPackVersion { major: 1, minor: 0 },
            manager_ctx: ptr::null_mut(),
            deleter: Some(delete),
            flags: 0,
            dl_tensor: DLTensor {
                data: ptr::with_exposed_provenance_mut(memory.as_raw() as usize),
                device: DLDevice { device_type: CUDA, device_id: 0 },
                ndim: 1,
                dtype: FLOAT,
                shape: shape.as_mut_ptr(),
                strides: ptr::null_mut(),
                byte_offset: 0,
            },
        });
        // SAFETY: a live tensor, given up, over memory that stays and that nothing else uses.
        let tensor = unsafe { Tensor::from_versioned(Box::into_raw(tensor)) }.unwrap();
        let mut taken = tensor.into_buffer::<f32>(cx).unwrap();
        let (stream, signals) = (Stream::new(cx).unwrap(), Signals::<u32>::new(cx, 1).unwrap());
        std::thread::scope(|threads| {
            cx.scope(&stream, |scope| {
                scope.wait_value(&scope.lend(&signals).unwrap(), 0, Until::Equal(1)).unwrap();
                let signals = &signals;
                threads.spawn(move || {
                    std::thread::sleep(std::time::Duration::from_millis(100));
                    IS_WRITTEN.store(true, Ordering::SeqCst);
                    signals[0].store(1, Ordering::SeqCst);
                });
                // After the wait, because the default stream is in order with this one.
                cx.copy(&mut taken, &source).unwrap();
                drop(taken);
                Ok(())
            })
            .unwrap();
        });
        assert!(FREED_AFTER.load(Ordering::SeqCst));
        assert_eq!(memory.to_vec(cx).unwrap(), [1.0; 4]);
    });
}

/// The memory of a green context is in the primary one, according to the driver.
#[test]
fn a_green_context_takes_its_own_exports_back() {
    let device = driver().device(0).unwrap();
    let all = device.resource(ResourceKind::CU_DEV_RESOURCE_TYPE_SM).unwrap();
    let context = GreenContext::create(&[all]).unwrap().share();
    context
        .enter(|cx| {
            let tensor = Tensor::export(Buffer::from_slice(cx, &[1.0f32; 4]).unwrap(), &[4]).unwrap();
            let again = tensor.into_buffer::<f32>(cx).unwrap();
            assert_eq!(again.as_slice().to_vec(cx).unwrap(), [1.0; 4]);
            Ok(())
        })
        .unwrap();
}

/// Makes no driver call, so that Miri runs it. It checks who owns the memory, on which thread it is
/// freed, and how its pointers may be used.
#[test]
fn memory_of_the_host_changes_hands_without_a_driver() {
    let freed = Arc::new(AtomicUsize::new(0));
    for round in 0..4 {
        let mut tensor = Tensor::export(vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3]).unwrap();
        assert_eq!((tensor.shape(), tensor.strides()), (&[2, 3][..], Some(&[3, 1][..])));
        tensor.as_mut_host_slice::<f32>().unwrap()[1] = 7.0;
        let mut tensor = match round {
            // SAFETY: given up, and taken over once.
            0 => unsafe { Tensor::from_versioned(tensor.into_versioned()) }.unwrap(),
            // SAFETY: as above.
            1 => unsafe { Tensor::from_unversioned(tensor.into_unversioned().unwrap()) }.unwrap(),
            2 => {
                // SAFETY: as above; it is wrapped once more.
                let old = unsafe { Tensor::from_unversioned(tensor.into_unversioned().unwrap()) }.unwrap();
                // SAFETY: as above.
                unsafe { Tensor::from_versioned(old.into_versioned()) }.unwrap()
            }
            _ => tensor,
        };
        assert_eq!(tensor.as_host_slice::<f32>().unwrap(), [1.0, 7.0, 3.0, 4.0, 5.0, 6.0]);
        tensor.as_mut_host_slice::<f32>().unwrap()[5] = 8.0;
        let sum = std::thread::scope(|threads| {
            let sum = || tensor.as_host_slice::<f32>().unwrap().iter().sum::<f32>();
            threads.spawn(sum).join().unwrap() + sum()
        });
        assert_eq!(sum, 56.0);
        std::thread::spawn(move || drop(tensor)).join().unwrap();
    }
    // Memory that others keep reading stays readable, in any order of drops, and is not written.
    let shared = Arc::new(vec![1u8, 2]);
    let mut tensor = Tensor::export(Arc::clone(&shared), &[2, 1]).unwrap();
    assert!(matches!(tensor.as_mut_host_slice::<u8>(), Err(Mismatch::ReadOnly)));
    let mut tensor = tensor.into_unversioned().unwrap_err();
    assert!(tensor.as_mut_host_slice::<u8>().is_err());
    drop(shared);
    assert_eq!(tensor.as_host_slice::<u8>().unwrap(), [1, 2]);
    // One of others, and one that is refused, which stays theirs.
    let mut data = [1.0f32; 4];
    let at = data.as_mut_ptr().cast::<c_void>();
    let mut tensor = Says { offset: 4, ..Says::of(at, CPU, &[3]) }.imported(&freed);
    tensor.as_mut_host_slice::<f32>().unwrap().fill(2.0);
    drop(tensor);
    assert_eq!((freed.load(Ordering::Relaxed), data), (1, [1.0, 2.0, 2.0, 2.0]));
    let refused = Says { offset: 2, ..Says::of(at, CPU, &[3]) }.imported(&freed);
    assert!(matches!(refused.as_host_slice::<f32>(), Err(Mismatch::Alignment { .. })));
    let empty = Tensor::export(Vec::<u64>::new(), &[3, 0, i64::MAX as usize]).unwrap();
    assert!(empty.as_host_slice::<u64>().unwrap().is_empty());
}
