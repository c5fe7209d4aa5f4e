//! Two devices: copies between them, and kernels of one that use memory of the other.
//!
//! Alone, since the emulator has one device unless it is told otherwise before its first use. On a machine with one GPU it
//! fails: `tests/gpu.sh` runs it where there are two.

#[path = "support/common/mod.rs"]
mod common;

use common::{driver, kernels};
use cuprum::sys::CUresult;
use cuprum::{Buffer, Context, ContextFlags, ContextStack, In, InOut, LaunchConfig, Stream};

fn two_devices() -> (Context, Context) {
    if !common::on_gpu() {
        cuprum_emulator::Settings::default().devices(2).install().expect("the first use");
    }
    let context =
        |ordinal| Context::create(driver().device(ordinal).unwrap(), ContextFlags::empty()).unwrap();
    assert_eq!(driver().device_count().unwrap().min(2), 2, "this test needs two devices");
    (context(0), context(1))
}

#[test]
fn a_kernel_reads_memory_of_the_other_device() {
    let (here, there) = two_devices();
    let (first, second) = (here.device(), there.device());
    assert!(first.can_access_peer(second).unwrap() && second.can_access_peer(first).unwrap());
    let mut stack = ContextStack::take().unwrap();
    let mut cx = stack.push(&here).unwrap();
    let theirs = Buffer::from_slice(&cx.push(&there).unwrap(), &[1.5f32; 64]).unwrap();
    let mut out = Buffer::<f32>::zeroed(&cx, 64).unwrap();

    // Without access, a copy passes through the host or not; that is for the driver to say.
    out.as_mut_slice().copy_from_peer(&cx, theirs.as_slice()).unwrap();
    assert_eq!(out.to_vec(&cx).unwrap(), [1.5; 64]);

    let access = cx.enable_peer_access(&there).unwrap();
    let again = cx.enable_peer_access(&there).unwrap_err();
    assert_eq!(again.code(), CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    let module = kernels!(&cx, "vector_add");
    let add = module.function("vector_add").unwrap().bind::<(In<f32>, In<f32>, InOut<f32>, u32)>().unwrap();
    let mine = Buffer::from_slice(&cx, &[2.0f32; 64]).unwrap();
    let stream = Stream::new(&cx).unwrap();
    // SAFETY: 64 elements of each; the other device's memory can be read, and nobody writes it.
    unsafe { add.launch(&cx, &stream, LaunchConfig::new(2, 32), (&mine, &theirs, &mut out, 64)) }.unwrap();
    assert_eq!(out.to_vec(&cx).unwrap(), [3.5; 64]);
    access.close().unwrap();
    // It can be had once more, so the first one has ended; and dropped with another context current.
    let access = cx.enable_peer_access(&there).unwrap();
    let above = cx.push(&there).unwrap();
    drop(access);
    drop(above);
    drop(cx.enable_peer_access(&there).unwrap());
}
