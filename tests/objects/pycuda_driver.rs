//! PyCUDA's tests of memory, kernels and contexts (`test/test_driver.py`), each under its name;
//! `tests/pycuda.md` has the table of all.
//!
//! The kernels are PyCUDA's, as PTX. If a test there checks nothing, its counterpart checks the
//! result.

use cuprum::context::{Context, ContextFlags, PrimaryContext};
use cuprum::launch::{HostIn, HostOut};
use cuprum::memory::vector::float3;
use cuprum::memory::{ForeignBuffer, PinnedFlags, RegisterFlags, Registered};
use cuprum::module::Function;
use cuprum::sys::{CUresult, call};
use cuprum::{Buffer, Current, In, InOut, LaunchConfig, Module, PinnedBuffer, Stream};

use crate::common::{device, in_context, load};

/// Kernels whose threads have the numbers `%r0`, counted through the blocks, and `%rd0`, the same
/// times four.
fn kernels<'ctx>(cx: &Current<'_, 'ctx>) -> Module<'ctx> {
    const PLACE: &str = "
            .reg .f32 %f<8>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
            mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.y; mov.u32 %r2, %tid.y;
            mad.lo.u32 %r0, %r0, %r1, %r2;
            mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;
            mad.lo.u32 %r0, %r0, %r1, %r2;
            mul.wide.u32 %rd0, %r0, 4;";
    let kernels = "
        .version 7.0
        .target sm_52
        .address_size 64
        .visible .const .align 4 .b8 const_array[128];
        .entry multiply_them(.param .u64 dest, .param .u64 a, .param .u64 b) {
            PLACE
            ld.param.u64 %rd1, [a]; add.u64 %rd1, %rd1, %rd0; ld.global.f32 %f0, [%rd1];
            ld.param.u64 %rd2, [b]; add.u64 %rd2, %rd2, %rd0; ld.global.f32 %f1, [%rd2];
            mul.rn.f32 %f0, %f0, %f1;
            ld.param.u64 %rd3, [dest]; add.u64 %rd3, %rd3, %rd0; st.global.f32 [%rd3], %f0;
            ret;
        }
        .entry combine(.param .u64 dest, .param .u64 a, .param .u64 b) {
            PLACE
            ld.param.u64 %rd1, [a]; add.u64 %rd1, %rd1, %rd0; ld.global.f32 %f0, [%rd1];
            ld.param.u64 %rd2, [b]; add.u64 %rd2, %rd2, %rd0; ld.global.f32 %f1, [%rd2];
            mul.rn.f32 %f1, %f1, 0f40400000; sub.rn.f32 %f1, %f0, %f1; sub.rn.f32 %f1, %f1, %f0;
            ld.param.u64 %rd3, [dest]; add.u64 %rd3, %rd3, %rd0; st.global.f32 [%rd3], %f1;
            ret;
        }
        .entry set_them(.param .u64 dest, .param .align 4 .b8 x[12]) {
            PLACE
            ld.param.f32 %f0, [x]; ld.param.f32 %f1, [x+4]; ld.param.f32 %f2, [x+8];
            ld.param.u64 %rd1, [dest]; mul.wide.u32 %rd2, %r0, 12; add.u64 %rd1, %rd1, %rd2;
            st.global.f32 [%rd1], %f0; st.global.f32 [%rd1+4], %f1; st.global.f32 [%rd1+8], %f2;
            ret;
        }
        .entry doublify(.param .u64 a) {
            PLACE
            ld.param.u64 %rd1, [a]; add.u64 %rd1, %rd1, %rd0; ld.global.f32 %f0, [%rd1];
            add.f32 %f0, %f0, %f0; st.global.f32 [%rd1], %f0;
            ret;
        }
        .entry through_shared(.param .u64 data) {
            PLACE
            .shared .align 4 .b8 sdata[16000];
            mov.u64 %rd1, sdata; add.u64 %rd1, %rd1, %rd0; st.shared.u32 [%rd1], %r0;
            ld.shared.u32 %r3, [%rd1];
            ld.param.u64 %rd2, [data]; add.u64 %rd2, %rd2, %rd0; st.global.u32 [%rd2], %r3;
            ret;
        }
        .entry copy_constant_into_global(.param .u64 result) {
            PLACE
            mov.u64 %rd1, const_array; add.u64 %rd1, %rd1, %rd0; ld.const.f32 %f0, [%rd1];
            ld.param.u64 %rd2, [result]; add.u64 %rd2, %rd2, %rd0; st.global.f32 [%rd2], %f0;
            ret;
        }";
    load(cx, &kernels.replace("PLACE", PLACE))
}

/// Numbers without a pattern.
fn noise(len: usize, seed: u32) -> Vec<f32> {
    let number = |at: u32| ((at ^ seed).wrapping_mul(2_654_435_761) >> 8) as f32 / (1 << 24) as f32 - 0.5;
    (0..len as u32).map(number).collect()
}

fn products(a: &[f32], b: &[f32]) -> Vec<f32> {
    a.iter().zip(b).map(|(a, b)| a * b).collect()
}

type Three = (InOut<f32>, In<f32>, In<f32>);

fn function<'m>(module: &'m Module<'_>, name: &str) -> Function<'m> {
    module.function(name).unwrap()
}

#[test]
fn test_memory() {
    in_context(|cx| {
        let z = noise(400, 1);
        let buffer = Buffer::from_slice(cx, &z).unwrap();
        assert_eq!(buffer.to_vec(cx).unwrap(), z);
    });
}

#[test]
fn test_simple_kernel() {
    in_context(|cx| {
        let module = kernels(cx);
        let multiply = function(&module, "multiply_them").bind::<Three>().unwrap();
        let (a, b, mut dest) = (noise(400, 1), noise(400, 2), vec![0.0; 400]);
        let (stream, config) = (Stream::default_in(cx), LaunchConfig::new(1, 400));
        // SAFETY: each of the 400 threads touches the element of its number.
        unsafe { multiply.call(cx, &stream, config, (HostOut(&mut dest), HostIn(&a), HostIn(&b))) }.unwrap();
        assert_eq!(dest, products(&a, &b));
    });
}

/// Memory that is on the device already, and a part of it from the second element on.
#[test]
fn test_simple_kernel_2() {
    in_context(|cx| {
        let module = kernels(cx);
        let multiply = function(&module, "multiply_them").bind::<Three>().unwrap();
        let (a, b, mut dest) = (noise(400, 1), noise(400, 2), vec![0.0; 400]);
        let [a_gpu, b_gpu] = [&a, &b].map(|host| Buffer::from_slice(cx, host).unwrap());
        let stream = Stream::default_in(cx);
        let config = LaunchConfig::new(1, 400);
        // SAFETY: each of the 400 threads touches the element of its number.
        unsafe { multiply.call(cx, &stream, config, (HostOut(&mut dest), &a_gpu, &b_gpu)) }.unwrap();
        assert_eq!(dest, products(&a, &b));
        cx.synchronize().unwrap();
        let (config, shifted) = (LaunchConfig::new(1, 399), a_gpu.slice(1..).unwrap());
        // SAFETY: 399 threads, and as many elements of each at least.
        unsafe { multiply.call(cx, &stream, config, (HostOut(&mut dest), shifted, &b_gpu)) }.unwrap();
        assert_eq!(dest[..399], products(&a[1..], &b[..399]));
    });
}

#[test]
fn test_vector_types() {
    in_context(|cx| {
        let module = kernels(cx);
        let set = function(&module, "set_them").bind::<(InOut<float3>, float3)>().unwrap();
        let (a, mut dest) = (float3::new(1.0, 2.0, 3.0), [float3::new(0.0, 0.0, 0.0); 400]);
        let (stream, config) = (Stream::default_in(cx), LaunchConfig::new(1, 400));
        // SAFETY: each of the 400 threads writes the element of its number.
        unsafe { set.call(cx, &stream, config, (HostOut(&mut dest), a)) }.unwrap();
        assert_eq!(dest, [a; 400]);
    });
}

/// All copies and the kernel run asynchronously, in page-locked memory.
#[test]
fn test_streamed_kernel() {
    in_context(|cx| {
        let module = kernels(cx);
        let multiply = function(&module, "multiply_them").bind::<Three>().unwrap();
        let pinned = |host: &[f32]| PinnedBuffer::from_slice(cx, host, PinnedFlags::empty()).unwrap();
        let (mut a, mut b, mut dest) = (pinned(&noise(256, 1)), pinned(&noise(256, 2)), pinned(&[0.0; 256]));
        let expected = products(&a, &b);
        let stream = Stream::new(cx).unwrap();
        let [mut a_gpu, mut b_gpu] = [(); 2].map(|()| Buffer::<f32>::alloc(cx, 256).unwrap());
        cx.scope(&stream, |scope| {
            for (host, device) in [(&mut a, &mut a_gpu), (&mut b, &mut b_gpu)] {
                let device = scope.lend(device.as_mut_slice()).unwrap();
                scope.copy(&device, &scope.lend(host).unwrap()).unwrap();
            }
            Ok(())
        })
        .unwrap();
        let config = LaunchConfig::new(1, (32, 8));
        // SAFETY: each of the 256 threads touches the element of its number.
        unsafe { multiply.call(cx, &stream, config, (HostOut(&mut dest), &a_gpu, &b_gpu)) }.unwrap();
        assert_eq!(dest[..], expected);
        a.fill(0.0);
        cx.scope(&stream, |scope| {
            let device = scope.lend(a_gpu.as_mut_slice()).unwrap();
            scope.copy(&scope.lend(&mut a).unwrap(), &device).unwrap();
            Ok(())
        })
        .unwrap();
        assert_eq!(a[..], noise(256, 1));
    });
}

/// PyCUDA's arrays have operators; here the kernel is written.
#[test]
fn test_gpuarray() {
    in_context(|cx| {
        const LEN: usize = 200_000;
        let module = kernels(cx);
        let a: Vec<f32> = (0..LEN as u32).map(|number| number as f32).collect();
        let b: Vec<f32> = a.iter().map(|a| a + 17.0).collect();
        let [a_gpu, b_gpu] = [&a, &b].map(|host| Buffer::from_slice(cx, host).unwrap());
        let mut out = Buffer::<f32>::zeroed(cx, LEN).unwrap();
        let (stream, config) = (Stream::default_in(cx), LaunchConfig::new(1000, 200));
        for (name, expected) in [
            ("combine", a.iter().zip(&b).map(|(a, b)| a - 3.0 * b - a).collect()),
            ("multiply_them", products(&a, &b)),
        ] {
            let kernel = function(&module, name).bind::<Three>().unwrap();
            // SAFETY: each of the 200000 threads touches the element of its number; the copy comes
            // after it.
            unsafe { kernel.launch(cx, &stream, config, (&mut out, &a_gpu, &b_gpu)) }.unwrap();
            assert_eq!(out.to_vec(cx).unwrap(), expected, "{name}");
        }
    });
}

/// Static shared memory of 16000 bytes; PyCUDA's test checks nothing.
#[test]
fn test_large_smem() {
    in_context(|cx| {
        let module = kernels(cx);
        let kernel = function(&module, "through_shared").bind::<(InOut<u32>,)>().unwrap();
        let shared = cuprum::sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES;
        assert_eq!(kernel.function().attribute(shared).unwrap(), 16000);
        let mut numbers = [u32::MAX; 1000];
        let config = LaunchConfig::new(1, 1000);
        // SAFETY: each of 1000 threads writes the element of its number.
        unsafe { kernel.call(cx, &Stream::default_in(cx), config, (HostOut(&mut numbers),)) }.unwrap();
        assert!(numbers.iter().enumerate().all(|(at, number)| *number == at as u32));
    });
}

/// Memory of a context is freed while another is current; PyCUDA's test checks nothing.
#[test]
fn test_multi_context() {
    in_context(|cx| {
        let first = Buffer::from_slice(cx, &[5u8; 50]).unwrap();
        let other = Context::create(device(), ContextFlags::empty()).unwrap();
        {
            let inner = cx.push(&other).unwrap();
            let second = Buffer::from_slice(&inner, &[6u8; 60]).unwrap();
            assert_ne!(first.context().as_raw(), second.context().as_raw());
            first.close().unwrap();
            assert_eq!(second.to_vec(&inner).unwrap(), [6; 60]);
            second.close().unwrap();
        }
        other.close().unwrap();
        cx.synchronize().unwrap();
    });
}

/// The same with the primary context; PyCUDA's test checks nothing.
#[test]
fn test_additional_primary_context() {
    in_context(|cx| {
        let first = Buffer::from_slice(cx, &[5u8; 50]).unwrap();
        let primary = PrimaryContext::retain(device()).unwrap();
        {
            let inner = cx.push(&primary).unwrap();
            let second = Buffer::from_slice(&inner, &[6u8; 60]).unwrap();
            first.close().unwrap();
            assert_eq!(second.to_vec(&inner).unwrap(), [6; 60]);
            second.close().unwrap();
        }
        primary.close().unwrap();
        cx.synchronize().unwrap();
    });
}

/// A kernel that is bound once is a prepared one.
#[test]
fn test_prepared_invocation() {
    in_context(|cx| {
        let a = noise(16, 3);
        let mut a_gpu = Buffer::from_slice(cx, &a).unwrap();
        let module = kernels(cx);
        let doublify = function(&module, "doublify").bind::<(InOut<f32>,)>().unwrap();
        let stream = Stream::default_in(cx);
        let config = LaunchConfig { shared_bytes: 20, ..LaunchConfig::new(1, (4, 4)) };
        // SAFETY: 16 threads, each with the element of its number; the copies come after the
        // launches.
        unsafe { doublify.launch(cx, &stream, config, (&mut a_gpu,)) }.unwrap();
        let times = |factor: f32| a.iter().map(|a| factor * a).collect::<Vec<_>>();
        assert_eq!(a_gpu.to_vec(cx).unwrap(), times(2.0));
        let shifted = a_gpu.slice_mut(1..).unwrap();
        // SAFETY: 15 threads and as many elements.
        unsafe { doublify.launch(cx, &stream, LaunchConfig::new(1, 15), (shifted,)) }.unwrap();
        let quadrupled = a_gpu.to_vec(cx).unwrap();
        assert_eq!((quadrupled[0], &quadrupled[1..]), (2.0 * a[0], &times(4.0)[1..]));
    });
}

/// A vector by value to a kernel that is bound once; PyCUDA's test checks nothing.
#[test]
fn test_prepared_with_vector() {
    in_context(|cx| {
        let module = kernels(cx);
        let set = function(&module, "set_them").bind::<(InOut<float3>, float3)>().unwrap();
        let mut out = Buffer::from_slice(cx, &[float3::new(9.0, 9.0, 9.0)]).unwrap();
        for input in [float3::new(0.0, 1.0, 2.0), float3::new(3.0, 4.0, 5.0)] {
            // SAFETY: one thread writes one element, and the copy comes after it.
            unsafe { set.launch(cx, &Stream::default_in(cx), LaunchConfig::new(1, 1), (&mut out, input)) }
                .unwrap();
            assert_eq!(out.to_vec(cx).unwrap(), [input]);
        }
    });
}

/// PyCUDA's assertion names a method without calling it, and cannot fail.
#[test]
fn test_constant_memory() {
    in_context(|cx| {
        let module = kernels(cx);
        let numbers = noise(32, 4);
        cx.copy(&mut module.global::<f32>("const_array").unwrap(), &numbers).unwrap();
        let copy = function(&module, "copy_constant_into_global").bind::<(InOut<f32>,)>().unwrap();
        let mut result = vec![0f32; 32];
        let config = LaunchConfig::new(1, 32);
        // SAFETY: each of the 32 threads writes the element of its number.
        unsafe { copy.call(cx, &Stream::default_in(cx), config, (HostOut(&mut result),)) }.unwrap();
        assert_eq!(result, numbers);
    });
}

/// In PyCUDA an expected failure.
#[test]
fn test_register_host_memory() {
    in_context(|cx| {
        const LEN: usize = 1 << 20;
        let numbers: Vec<f64> = (0..LEN as u32).map(f64::from).collect();
        let mut registered = Registered::new(cx, numbers, RegisterFlags::empty()).unwrap();
        let mut gpu = Buffer::<f64>::alloc(cx, LEN).unwrap();
        let stream = Stream::new(cx).unwrap();
        cx.scope(&stream, |scope| {
            let device = scope.lend(gpu.as_mut_slice()).unwrap();
            scope.copy(&device, &scope.lend(&mut registered).unwrap()).unwrap();
            Ok(())
        })
        .unwrap();
        assert_eq!(gpu.to_vec(cx).unwrap(), registered[..]);
    });
}

/// A buffer over memory with another owner; PyCUDA's test checks nothing.
#[test]
fn test_pointer_holder_base() {
    in_context(|cx| {
        let (fns, mut address) = (cx.context().driver().library().fns(), 0);
        // SAFETY: the out-parameter outlives the call.
        let (code, _) = unsafe { call!(fns, cuMemAlloc_v2(&raw mut address, 1024)) };
        assert_eq!(code, CUresult::CUDA_SUCCESS);
        // SAFETY: 1024 bytes that nothing else uses, and that outlive the buffer.
        let mut held = unsafe { ForeignBuffer::<u8>::from_raw(cx, address, 1024) }.unwrap();
        cx.fill(&mut held, 7).unwrap();
        assert_eq!(held.as_slice().to_vec(cx).unwrap(), [7; 1024]);
        held.close().unwrap();
        // It was only borrowed: its owner frees it.
        // SAFETY: it is not used any more.
        let (code, _) = unsafe { call!(fns, cuMemFree_v2(address)) };
        assert_eq!(code, CUresult::CUDA_SUCCESS);
    });
}
