//! Two devices: copies between them, and kernels of one that use memory of the other.
//!
//! A program of its own, because the emulator has one device unless it is set up otherwise before
//! its first use. It fails on a machine with one GPU: `tests/gpu.sh` runs it on machines with two.

use cuprum_testing::{common, itself};
use std::sync::Once;

use common::{driver, kernels};
use cuprum::context::{Context, ContextFlags, ContextStack};
use cuprum::launch::Dim3;
use cuprum::memory::{
    Array, ArrayFlags, ArrayShape, ForeignBuffer, Granularity, Mapping, MemoryAccess, MemoryLocation, Peer,
    PhysicalFlags, PhysicalMemory, Pitched, PitchedBuffer, PitchedMut, Reservation,
};
use cuprum::pool::{MemoryPool, PoolAccess, PoolOptions, PoolPlace, StreamBuffer};
use cuprum::stream::{Event, EventFlags};
use cuprum::sys::{CUdevice_P2PAttribute, CUresult};
use cuprum::{Buffer, Current, In, InOut, Kernel, LaunchConfig, Module, Stream};

type VectorAdd = (In<f32>, In<f32>, InOut<f32>, u32);

const LEN: usize = 64;
const CONFIG: LaunchConfig =
    LaunchConfig { grid: Dim3 { x: 2, y: 1, z: 1 }, block: Dim3 { x: 32, y: 1, z: 1 }, shared_bytes: 0 };

fn two_devices() -> (Context, Context) {
    static TWO: Once = Once::new();
    TWO.call_once(|| {
        if !common::on_gpu() {
            cuprum_emulator::Settings::from_env().unwrap().devices(2).install().expect("the first use");
        }
    });
    let context =
        |ordinal| Context::create(driver().device(ordinal).unwrap(), ContextFlags::empty()).unwrap();
    assert_eq!(driver().devices().unwrap().len().min(2), 2, "this test needs two devices");
    (context(0), context(1))
}

fn vector_add<'module>(module: &'module Module<'_>) -> Kernel<'module, VectorAdd> {
    module.function("vector_add").unwrap().bind().unwrap()
}

fn filled<'ctx>(cx: &Current<'_, 'ctx>, value: f32) -> Buffer<'ctx, f32> {
    let buffer = Buffer::from_slice(cx, &[value; LEN]).unwrap();
    cx.synchronize().unwrap();
    buffer
}

#[test]
fn a_kernel_reads_memory_of_the_other_device() {
    let (here, there) = two_devices();
    let (first, second) = (here.device(), there.device());
    assert!(first.can_access_peer(second).unwrap() && second.can_access_peer(first).unwrap());
    let supported = CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED;
    assert_eq!(first.peer_attribute(supported, second).unwrap(), 1);
    let mut stack = ContextStack::take().unwrap();
    let mut cx = stack.push(&here).unwrap();
    let theirs = Buffer::from_slice(&cx.push(&there).unwrap(), &[1.5f32; LEN]).unwrap();
    let mut out = Buffer::<f32>::zeroed(&cx, LEN).unwrap();

    // Without access, a copy passes through the host or not; that is for the driver to say.
    cx.copy(&mut out, &Peer(&theirs)).unwrap();
    assert_eq!(out.to_vec(&cx).unwrap(), [1.5; LEN]);

    let access = cx.enable_peer_access(&there).unwrap();
    let again = cx.enable_peer_access(&there).unwrap_err();
    assert_eq!(again.code(), CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    let module = kernels!(&cx, "vector_add");
    let mine = Buffer::from_slice(&cx, &[2.0f32; LEN]).unwrap();
    let stream = Stream::new(&cx).unwrap();
    let arguments = (&mine, &theirs, &mut out, LEN as u32);
    // SAFETY: 64 elements of each; the other device's memory can be read, and nothing writes it.
    unsafe { vector_add(&module).launch(&cx, &stream, CONFIG, arguments) }.unwrap();
    assert_eq!(out.to_vec(&cx).unwrap(), [3.5; LEN]);
    access.close().unwrap();
    // It can be had once more, so the first one has ended; and dropped with another context
    // current.
    let access = cx.enable_peer_access(&there).unwrap();
    let above = cx.push(&there).unwrap();
    drop(access);
    drop(above);
    drop(cx.enable_peer_access(&there).unwrap());
}

#[test]
fn copies_on_a_stream_wait_for_an_event_of_the_other_device() {
    let (here, there) = two_devices();
    let mut stack = ContextStack::take().unwrap();
    let mut cx = stack.push(&here).unwrap();
    let (mut mine, mut back) = (filled(&cx, 0.0), filled(&cx, 9.0));
    let stream = Stream::non_blocking(&cx).unwrap();
    let copied = Event::new(&cx, EventFlags::DISABLE_TIMING).unwrap();
    let above = cx.push(&there).unwrap();
    let (one, two, mut sum) = (filled(&above, 1.0), filled(&above, 2.0), filled(&above, 0.0));
    let module = kernels!(&above, "vector_add");
    let their_stream = Stream::non_blocking(&above).unwrap();
    let computed = Event::new(&above, EventFlags::DISABLE_TIMING).unwrap();
    let arguments = (&one, &two, &mut sum, LEN as u32);
    // SAFETY: 64 elements of each; the copy below waits for it.
    unsafe { vector_add(&module).launch(&above, &their_stream, CONFIG, arguments) }.unwrap();
    computed.record(&above, &their_stream).unwrap();
    drop(above);

    stream.wait_event(&cx, &computed).unwrap();
    cx.scope(&stream, |scope| {
        let mine = scope.lend(mine.as_mut_slice()).unwrap();
        scope.copy(&mine, &scope.lend(Peer(sum.as_slice())).unwrap()).unwrap();
        // After it, on the same stream.
        scope.copy(&scope.lend(back.as_mut_slice()).unwrap(), &mine).unwrap();
        copied.record(&cx, &stream).unwrap();
        Ok(())
    })
    .unwrap();
    assert_eq!(mine.to_vec(&cx).unwrap(), [3.0; LEN]);
    assert!(copied.is_done().unwrap());
    cx.scope(&stream, |scope| {
        let to = scope.lend(Peer(sum.as_mut_slice())).unwrap();
        scope.copy(&to, &scope.lend(mine.as_mut_slice()).unwrap().as_shared()).unwrap();
        Ok(())
    })
    .unwrap();
    assert_eq!(back.to_vec(&cx).unwrap(), [3.0; LEN]);
    assert_eq!(sum.to_vec(&cx.push(&there).unwrap()).unwrap(), [3.0; LEN]);
}

#[test]
fn rows_slices_and_arrays_go_between_devices() {
    let (here, there) = two_devices();
    let extent = (5, 4, 3);
    let numbers: Vec<u32> = (0..60).collect();
    let mut stack = ContextStack::take().unwrap();
    let mut cx = stack.push(&here).unwrap();
    let above = cx.push(&there).unwrap();
    let theirs = PitchedBuffer::from_slice(&above, &numbers, extent).unwrap();
    let shape = ArrayShape::ThreeD { width: 5, height: 4, depth: 3 };
    let array = Array::from_slice(&above, shape, ArrayFlags::empty(), &numbers).unwrap();
    above.synchronize().unwrap();
    drop(above);

    let mut mine = PitchedBuffer::<u32>::alloc(&cx, extent).unwrap();
    cx.copy(&mut mine, &Peer(&theirs)).unwrap();
    assert_eq!(mine.to_vec(&cx).unwrap(), numbers);
    cx.fill(&mut mine, 0).unwrap();
    cx.copy(&mut mine, &Peer(&array)).unwrap();
    assert_eq!(mine.to_vec(&cx).unwrap(), numbers);
    cx.fill(&mut mine, 0).unwrap();
    cx.synchronize().unwrap();
    let stream = Stream::non_blocking(&cx).unwrap();
    cx.scope(&stream, |scope| {
        let lent = scope.lend(mine.as_pitched_mut()).unwrap();
        scope.copy(&lent, &scope.lend(Peer(&theirs)).unwrap()).unwrap();
        Ok(())
    })
    .unwrap();
    assert_eq!(mine.to_vec(&cx).unwrap(), numbers);
}

/// Bytes that take a GPU tens of milliseconds, so that work without a wait is still running.
fn many_bytes() -> usize {
    if common::on_gpu() { 1 << 30 } else { 1 << 20 }
}

/// The last elements, which are copied last.
fn last(cx: &Current<'_, '_>, buffer: &Buffer<'_, u32>) -> Vec<u32> {
    let len = buffer.len();
    buffer.slice(len - LEN..).unwrap().to_vec(cx).unwrap()
}

fn of_value<'ctx>(cx: &Current<'_, 'ctx>, value: u32) -> Buffer<'ctx, u32> {
    let mut buffer = Buffer::alloc(cx, many_bytes() / 4).unwrap();
    cx.fill(&mut buffer, value).unwrap();
    cx.synchronize().unwrap();
    buffer
}

/// The driver waits for a copy between devices when it frees one side, and not for the other (two
/// H200s: error 719 in both contexts; `tests/data/goldens/waits.txt`).
#[test]
fn either_side_of_a_copy_can_be_freed_at_once() {
    let (here, there) = two_devices();
    let mut stack = ContextStack::take().unwrap();
    let mut cx = stack.push(&here).unwrap();
    let extent = (LEN, many_bytes() / 4 / LEN);
    for with_access in [false, true] {
        let accesses = with_access.then(|| {
            let back = cx.push(&there).unwrap().enable_peer_access(&here).unwrap();
            (cx.enable_peer_access(&there).unwrap(), back)
        });
        for value in [1, 2] {
            let from = of_value(&cx.push(&there).unwrap(), value);
            let mut to = of_value(&cx, 0);
            cx.copy(&mut to, &Peer(&from)).unwrap();
            drop(from);
            let next = of_value(&cx.push(&there).unwrap(), 10 + value);
            assert_eq!(last(&cx, &to), [value; LEN]);

            let rows = Pitched::over(next.as_slice(), extent).unwrap();
            cx.copy(&mut PitchedMut::over(to.as_mut_slice(), extent).unwrap(), &Peer(&rows)).unwrap();
            next.close().unwrap();
            let next = of_value(&cx.push(&there).unwrap(), 20 + value);
            assert_eq!(last(&cx, &to), [10 + value; LEN]);

            cx.copy(&mut to, &Peer(&next)).unwrap();
            to.close().unwrap();
            let again = of_value(&cx, 99);
            assert_eq!(last(&cx.push(&there).unwrap(), &next), [20 + value; LEN]);
            assert_eq!(last(&cx, &again), [99; LEN], "the copy wrote what was freed");
        }
        drop(accesses);
    }
}

/// A scope waits for its copies, in both directions, before either side can be freed.
#[test]
fn what_was_lent_to_copies_between_devices_can_be_freed_behind_the_scope() {
    let (here, there) = two_devices();
    let mut stack = ContextStack::take().unwrap();
    let mut cx = stack.push(&here).unwrap();
    let access = cx.enable_peer_access(&there).unwrap();
    for stream in [Stream::new(&cx).unwrap(), Stream::non_blocking(&cx).unwrap()] {
        let theirs = of_value(&cx.push(&there).unwrap(), 3);
        let mut mine = of_value(&cx, 0);
        cx.scope(&stream, |scope| {
            let from = scope.lend(Peer(theirs.as_slice()))?;
            Ok(scope.copy(&scope.lend(mine.as_mut_slice())?, &from)?)
        })
        .unwrap();
        drop(theirs);
        let mut theirs = of_value(&cx.push(&there).unwrap(), 4);
        assert_eq!(last(&cx, &mine), [3; LEN]);
        cx.scope(&stream, |scope| {
            let to = scope.lend(Peer(theirs.as_mut_slice()))?;
            Ok(scope.copy(&to, &scope.lend(mine.as_slice())?)?)
        })
        .unwrap();
        drop(mine);
        let _next = of_value(&cx, 5);
        assert_eq!(last(&cx.push(&there).unwrap(), &theirs), [3; LEN]);
    }
    access.close().unwrap();
}

/// Neither needs access of contexts: pools and mappings have their own.
#[test]
fn pools_and_mappings_are_opened_to_the_other_device() {
    let (here, there) = two_devices();
    let (first, second) = (here.device(), there.device());
    let mut stack = ContextStack::take().unwrap();
    let mut cx = stack.push(&here).unwrap();
    let pool = MemoryPool::new(driver(), &PoolOptions::new(PoolPlace::Device(first))).unwrap();
    assert_eq!(pool.access(second).unwrap(), PoolAccess::CU_MEM_ACCESS_FLAGS_PROT_NONE);
    pool.set_access(&[(second, PoolAccess::CU_MEM_ACCESS_FLAGS_PROT_READWRITE)]).unwrap();
    assert_eq!(pool.access(second).unwrap(), PoolAccess::CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    assert_eq!(pool.access(first).unwrap(), PoolAccess::CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    let stream = Stream::new(&cx).unwrap();
    let mut pooled = StreamBuffer::<f32>::alloc_from(&cx, &stream, &pool, LEN).unwrap();
    cx.fill(&mut pooled, 1.0).unwrap();
    stream.synchronize(&cx).unwrap();

    let (place, none) = (MemoryLocation::Device(first), PhysicalFlags::empty());
    let granule =
        PhysicalMemory::granularity(driver(), place, none, Granularity::CU_MEM_ALLOC_GRANULARITY_MINIMUM)
            .unwrap();
    let memory = PhysicalMemory::new(driver(), place, granule, none).unwrap();
    let mut mapped: Mapping<'_, f32> =
        Reservation::new(driver(), granule, 0).unwrap().map(&cx, 0, &memory).unwrap();
    mapped.set_access(MemoryLocation::Device(second), MemoryAccess::CU_MEM_ACCESS_FLAGS_PROT_READ).unwrap();
    cx.fill(&mut mapped, 2.0).unwrap();
    cx.synchronize().unwrap();

    let above = cx.push(&there).unwrap();
    let module = kernels!(&above, "vector_add");
    let mut sum = filled(&above, 0.0);
    let arguments = (&pooled, mapped.slice(..LEN).unwrap(), &mut sum, LEN as u32);
    // SAFETY: 64 elements of each, which this device may read; nothing writes them.
    unsafe { vector_add(&module).launch(&above, &Stream::new(&above).unwrap(), CONFIG, arguments) }.unwrap();
    assert_eq!(sum.to_vec(&above).unwrap(), [3.0; LEN]);
}

/// Set in the other process, with the handle.
const HANDLE: &str = "CUPRUM_TEST_PEER_HANDLE";

#[test]
fn a_process_on_one_device_opens_memory_of_the_other() {
    let (here, there) = two_devices();
    let mut stack = ContextStack::take().unwrap();
    if let Ok(hex) = std::env::var(HANDLE) {
        let cx = stack.push(&there).unwrap();
        let byte = |at: usize| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap();
        let handle = core::array::from_fn(byte);
        // SAFETY: the test made the handle, and keeps the memory until this process is over.
        let mut theirs = unsafe { ForeignBuffer::<f32>::open_ipc(&cx, handle) }.unwrap();
        let module = kernels!(&cx, "vector_add");
        let (one, mut sum) = (filled(&cx, 1.0), filled(&cx, 0.0));
        let arguments = (&theirs, &one, &mut sum, LEN as u32);
        // SAFETY: 64 elements of each; the other process waits.
        unsafe { vector_add(&module).launch(&cx, &Stream::new(&cx).unwrap(), CONFIG, arguments) }.unwrap();
        cx.copy(&mut theirs, &sum).unwrap();
        cx.synchronize().unwrap();
        return;
    }
    let cx = stack.push(&here).unwrap();
    let mine = filled(&cx, 4.0);
    let hex: String = mine.ipc_handle(&cx).unwrap().map(|byte| format!("{byte:02x}")).concat();
    let other = itself::itself()
        .args(["--exact", "a_process_on_one_device_opens_memory_of_the_other", "--nocapture"])
        .env(HANDLE, hex)
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&other.stdout), String::from_utf8_lossy(&other.stderr));
    assert!(other.status.success() && out.contains("1 passed"), "{out}\n{err}");
    assert_eq!(mine.to_vec(&cx).unwrap(), [5.0; LEN]);
}
