//! Modules, kernels and globals.

use std::ffi::c_void;

use cuprum::launch::{HostInOut, HostOut, LaunchAttributes, OccupancyFlags};
use cuprum::memory::PinnedFlags;
use cuprum::module::{Function, LoadOptions};
use cuprum::sys::{CUfunction_attribute, CUresult};
use cuprum::{Buffer, Current, InOut, Kernel, LaunchConfig, Module, PinnedBuffer, Stream};

use super::Steps;

/// A kernel that writes its first parameter where its second one points, and a variable.
pub(super) const PTX: &str = "
.version 7.0
.target sm_52
.address_size 64
.visible .global .align 4 .b8 table[16];
.visible .global .attribute(.managed) .align 4 .u32 common;
.visible .entry put(.param .u32 value, .param .u64 to)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.u32 %r1, [value];
    ld.param.u64 %rd1, [to];
    cvta.to.global.u64 %rd2, %rd1;
    st.global.u32 [%rd2], %r1;
    ret;
}
\0";

/// The signature of `put`.
type Put = (u32, InOut<u32>);

pub(super) fn all(steps: &Steps, cx: &Current<'_, '_>) {
    let text = PTX.trim_end_matches('\0');
    let Some(module) = steps.attempt("Module::load_ptx", || Module::load_ptx(cx, text)) else { return };
    if let Some(function) = steps.attempt("Module::function", || module.function("put")) {
        steps.attempt("Function::name", || function.name());
        attributes(steps, function);
        occupancy(steps, function);
        launches(steps, cx, function);
    }
    steps.attempt("Module::functions", || module.functions());
    if let Some(mut table) = steps.attempt("Module::global", || module.global::<u32>("table")) {
        let mut host = [3; 4];
        steps.attempt("Current::copy", || cx.copy(&mut table, &host));
        steps.attempt("Current::copy", || cx.copy(&mut host, &table));
    }
    // The launched work must end before the module is dropped, or the program may not unload it.
    match steps.attempt("Current::synchronize", || cx.synchronize()) {
        Some(()) => drop(steps.attempt("Module::close", || module.close())),
        None => std::mem::forget(module),
    }
    shared(steps, cx, text);
    with_options(steps, cx, text);
}

/// Options for the driver's compiler.
fn with_options(steps: &Steps, cx: &Current<'_, '_>, text: &str) {
    let options = LoadOptions { max_registers: Some(32), verbose: true, ..LoadOptions::default() };
    let module = steps.attempt("Module::load_ptx_with", || Module::load_ptx_with(cx, text, &options));
    steps.done("Module::drop", || drop(module));
    let image = PTX.as_bytes();
    // SAFETY: the emulator takes text that ends with a NUL where it takes an image.
    let binary = steps.attempt("Module::load_binary", || unsafe { Module::load_binary(cx, image, &options) });
    steps.done("Module::drop", || drop(binary));
}

/// Code that is kept by a kernel alone.
fn shared(steps: &Steps, cx: &Current<'_, '_>, text: &str) {
    let Some(module) = steps.attempt("Module::load_ptx", || Module::load_ptx(cx, text)) else { return };
    let module = module.share();
    let kernel = steps.attempt("Shared::kernel", || module.kernel::<Put>("put"));
    steps.done("Shared<Module>::drop", || drop(module));
    if let Some(mut kernel) = kernel {
        steps.attempt("Kernel::allow_shared_bytes", || kernel.allow_shared_bytes(2048));
        steps.done("Kernel::drop", || drop(kernel));
    }
}

fn attributes(steps: &Steps, function: Function<'_>) {
    let threads = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
    let shared = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    steps.attempt("Function::attribute", || function.attribute(threads));
    steps.attempt("Function::set_attribute", || function.set_attribute(shared, 1024));
    steps.attempt("Function::parameter_count", || function.parameter_count());
    steps.attempt("Function::parameter", || function.parameter(0));
}

fn occupancy(steps: &Steps, function: Function<'_>) {
    let none = OccupancyFlags::CU_OCCUPANCY_DEFAULT;
    steps.attempt("Function::max_active_blocks_per_multiprocessor", || {
        function.max_active_blocks_per_multiprocessor(64, 0, none)
    });
    steps.attempt("Function::max_potential_block_size", || {
        function.max_potential_block_size(|threads| threads as usize, 0, none)
    });
    steps.attempt("Function::available_shared_bytes_per_block", || {
        function.available_shared_bytes_per_block(1, 64)
    });
    let (one, pair) = (
        LaunchConfig::new(2, 1),
        LaunchAttributes { cluster: Some(2.into()), ..LaunchAttributes::default() },
    );
    let size = || function.max_potential_cluster_size(one, &pair);
    steps.attempt("Function::max_potential_cluster_size", size);
    steps.may_refuse("Function::max_active_clusters", CUresult::CUDA_ERROR_NOT_SUPPORTED, || {
        function.max_active_clusters(one, &pair)
    });
}

/// Calls with memory of the host, pageable and page-locked.
fn host_calls(steps: &Steps, cx: &Current<'_, '_>, kernel: &Kernel<'_, Put>) {
    let (stream, one) = (Stream::default_in(cx), LaunchConfig::new(1, 1));
    let mut out = [0u32];
    // SAFETY: the kernel writes one number.
    let called = steps
        .attempt("Kernel::call", || unsafe { kernel.call(cx, &stream, one, (5u32, HostInOut(&mut out))) });
    assert!(called.is_none() || out == [5]);
    // SAFETY: as above.
    steps.attempt("Kernel::call", || unsafe { kernel.call(cx, &stream, one, (6u32, HostOut(&mut out))) });
    let locked = || PinnedBuffer::from_slice(cx, &[0u32], PinnedFlags::empty());
    let Some(mut locked) = steps.attempt("PinnedBuffer::from_slice", locked) else { return };
    let (start, arguments) = (locked.as_raw(), (7u32, HostInOut(&mut locked)));
    // SAFETY: as above.
    let called = steps.attempt("Kernel::call", || unsafe { kernel.call(cx, &stream, one, arguments) });
    assert!(called.is_none() || locked[..] == [7]);
    if locked.is_lost() {
        steps.session().lost(start);
    }
    steps.session().scope_ended();
    steps.done("PinnedBuffer::drop", || drop(locked));
}

fn launches(steps: &Steps, cx: &Current<'_, '_>, function: Function<'_>) {
    let Some(mut out) = steps.attempt("Buffer::zeroed", || Buffer::<u32>::zeroed(cx, 1)) else { return };
    let (stream, one) = (Stream::default_in(cx), LaunchConfig::new(1, 1));
    if let Some(mut kernel) = steps.attempt("Function::bind", || function.bind::<Put>()) {
        steps.attempt("Kernel::allow_shared_bytes", || kernel.allow_shared_bytes(2048));
        // SAFETY: the kernel writes one number to `out`, which is freed after it on the same
        // stream.
        steps.attempt("Kernel::launch", || unsafe { kernel.launch(cx, &stream, one, (5u32, &mut out)) });
        host_calls(steps, cx, &kernel);
        let priority = LaunchAttributes { priority: Some(0), ..LaunchAttributes::default() };
        // SAFETY: as above.
        steps.attempt("Kernel::launch_with", || unsafe {
            kernel.launch_with(cx, &stream, one, &priority, (5u32, &mut out))
        });
    }
    // SAFETY: these are the parameters of `put`.
    steps.attempt("Function::bind_unchecked", || unsafe { function.bind_unchecked::<Put>() });
    let (mut value, mut to) = (6u32, out.as_raw());
    let mut pointers: [*mut c_void; 2] = [(&raw mut value).cast(), (&raw mut to).cast()];
    let pointers = pointers.as_mut_ptr();
    // SAFETY: as for the launch above; two pointers, to a value of each parameter's size.
    steps.attempt("Function::launch_pointers", || unsafe {
        function.launch_pointers(cx, &stream, one, pointers)
    });
    let none = LaunchAttributes::default();
    // SAFETY: as above.
    steps.attempt("Function::launch_pointers_with", || unsafe {
        function.launch_pointers_with(cx, &stream, one, &none, pointers)
    });
    steps.attempt("Buffer::to_vec", || out.to_vec(cx));
    steps.done("Buffer::drop", || drop(out));
}
