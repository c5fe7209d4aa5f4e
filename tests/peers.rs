//! Two devices: copies between them, and kernels of one that use memory of the other.
//!
//! Alone, since the emulator has one device unless it is told otherwise before its first use. On a machine with one GPU it
//! fails: `tests/gpu.sh` runs it where there are two.

#[path = "support/common/mod.rs"]
mod common;
#[path = "support/itself.rs"]
mod itself;

use std::sync::Once;

use common::{driver, kernels};
use cuprum::memory::{
    Array, ArrayFlags, ArrayShape, Granularity, IpcBuffer, IpcMemHandle, Mapping, MemoryAccess,
    MemoryLocation, PhysicalFlags, PhysicalMemory, PitchedBuffer, Reservation,
};
use cuprum::pool::{MemoryPool, PoolAccess, PoolOptions, PoolPlace, StreamBuffer};
use cuprum::sys::{CUdevice_P2PAttribute, CUresult};
use cuprum::{
    Buffer, Context, ContextFlags, ContextStack, Current, Dim3, Event, EventFlags, In, InOut, Kernel,
    LaunchConfig, Module, Stream,
};

type VectorAdd = (In<f32>, In<f32>, InOut<f32>, u32);

const LEN: usize = 64;
const CONFIG: LaunchConfig = LaunchConfig::from_dims(Dim3 { x: 2, y: 1, z: 1 }, Dim3 { x: 32, y: 1, z: 1 });

fn two_devices() -> (Context, Context) {
    static TWO: Once = Once::new();
    TWO.call_once(|| {
        if !common::on_gpu() {
            cuprum_emulator::Settings::from_env().unwrap().devices(2).install().expect("the first use");
        }
    });
    let context =
        |ordinal| Context::create(driver().device(ordinal).unwrap(), ContextFlags::empty()).unwrap();
    assert_eq!(driver().device_count().unwrap().min(2), 2, "this test needs two devices");
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
    out.as_mut_slice().copy_from_peer(&cx, theirs.as_slice()).unwrap();
    assert_eq!(out.to_vec(&cx).unwrap(), [1.5; LEN]);

    let access = cx.enable_peer_access(&there).unwrap();
    let again = cx.enable_peer_access(&there).unwrap_err();
    assert_eq!(again.code(), CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    let module = kernels!(&cx, "vector_add");
    let mine = Buffer::from_slice(&cx, &[2.0f32; LEN]).unwrap();
    let stream = Stream::new(&cx).unwrap();
    let arguments = (&mine, &theirs, &mut out, LEN as u32);
    // SAFETY: 64 elements of each; the other device's memory can be read, and nobody writes it.
    unsafe { vector_add(&module).launch(&cx, &stream, CONFIG, arguments) }.unwrap();
    assert_eq!(out.to_vec(&cx).unwrap(), [3.5; LEN]);
    access.close().unwrap();
    // It can be had once more, so the first one has ended; and dropped with another context current.
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

    stream.wait(&cx, &computed).unwrap();
    cx.scope(&stream, |scope| {
        let mine = scope.lend(mine.as_mut_slice()).unwrap();
        mine.copy_from_peer(&scope.lend_peer(sum.as_slice()).unwrap()).unwrap();
        // In order behind it.
        scope.lend(back.as_mut_slice()).unwrap().copy_from(&mine).unwrap();
        copied.record(&cx, &stream).unwrap();
    })
    .unwrap();
    assert_eq!(mine.to_vec(&cx).unwrap(), [3.0; LEN]);
    assert!(copied.is_done().unwrap());
    cx.scope(&stream, |scope| {
        let to = scope.lend_peer(sum.as_mut_slice()).unwrap();
        scope.lend(mine.as_mut_slice()).unwrap().as_shared().copy_to_peer(&to).unwrap();
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
    mine.as_pitched_mut().copy_from_peer(&cx, &theirs).unwrap();
    assert_eq!(mine.to_vec(&cx).unwrap(), numbers);
    mine.fill(&cx, 0).unwrap();
    mine.as_pitched_mut().copy_from_peer(&cx, array.view().all()).unwrap();
    assert_eq!(mine.to_vec(&cx).unwrap(), numbers);
    mine.fill(&cx, 0).unwrap();
    cx.synchronize().unwrap();
    let stream = Stream::non_blocking(&cx).unwrap();
    cx.scope(&stream, |scope| {
        let lent = scope.lend_pitched(mine.as_pitched_mut()).unwrap();
        lent.copy_from_peer(&scope.lend_peer(&theirs).unwrap()).unwrap();
    })
    .unwrap();
    assert_eq!(mine.to_vec(&cx).unwrap(), numbers);
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
    pooled.fill(&cx, 1.0).unwrap();
    stream.synchronize(&cx).unwrap();

    let (place, none) = (MemoryLocation::Device(first), PhysicalFlags::empty());
    let granule = PhysicalMemory::granularity(driver(), place, none, Granularity::Minimum).unwrap();
    let memory = PhysicalMemory::new(driver(), place, granule, none).unwrap();
    let mut mapped: Mapping<'_, f32> =
        Reservation::new(driver(), granule, 0).unwrap().map(&cx, 0, &memory).unwrap();
    mapped.set_access(MemoryLocation::Device(second), MemoryAccess::READ).unwrap();
    mapped.as_mut_slice().fill(&cx, 2.0).unwrap();
    cx.synchronize().unwrap();

    let above = cx.push(&there).unwrap();
    let module = kernels!(&above, "vector_add");
    let mut sum = filled(&above, 0.0);
    let arguments = (&pooled, mapped.slice(..LEN).unwrap(), &mut sum, LEN as u32);
    // SAFETY: 64 elements of each, which this device may read; nobody writes them.
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
        let handle = IpcMemHandle::from_bytes(core::array::from_fn(byte));
        // SAFETY: the test made the handle, and keeps the memory until this process is over.
        let mut theirs = unsafe { IpcBuffer::<f32>::open(&cx, handle) }.unwrap();
        let module = kernels!(&cx, "vector_add");
        let (one, mut sum) = (filled(&cx, 1.0), filled(&cx, 0.0));
        let arguments = (&theirs, &one, &mut sum, LEN as u32);
        // SAFETY: 64 elements of each; the other process waits.
        unsafe { vector_add(&module).launch(&cx, &Stream::new(&cx).unwrap(), CONFIG, arguments) }.unwrap();
        theirs.as_mut_slice().copy_from(&cx, sum.as_slice()).unwrap();
        cx.synchronize().unwrap();
        return;
    }
    let cx = stack.push(&here).unwrap();
    let mine = filled(&cx, 4.0);
    let hex: String = mine.ipc_handle(&cx).unwrap().to_bytes().map(|byte| format!("{byte:02x}")).concat();
    let other = itself::itself()
        .args(["--exact", "a_process_on_one_device_opens_memory_of_the_other", "--nocapture"])
        .env(HANDLE, hex)
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&other.stdout), String::from_utf8_lossy(&other.stderr));
    assert!(other.status.success() && out.contains("1 passed"), "{out}\n{err}");
    assert_eq!(mine.to_vec(&cx).unwrap(), [5.0; LEN]);
}
