//! Texture objects: made and destroyed, and given to a kernel.

use std::ffi::c_void;
use std::hint::black_box;
use std::ptr;

use cuprum::memory::{Array, ArrayFlags, ArrayShape};
use cuprum::sys::{CUDA_RESOURCE_DESC, CUDA_TEXTURE_DESC, CUresult};
use cuprum::texture::{FilterMode, Sampler, Texture, TextureObject};
use cuprum::{Buffer, Current, Driver, InOut, LaunchConfig, Module, Stream};

use crate::{Answer, Measurement, operation};

/// Writes `tex1D(texture, x)`, for one x.
const READ: &str = "
    .version 7.0
    .target sm_52
    .address_size 64
    .entry read(.param .u64 texture, .param .f32 x, .param .u64 out) {
        .reg .f32 %f<5>; .reg .b64 %rd<4>;
        ld.param.u64 %rd1, [texture];
        ld.param.f32 %f0, [x];
        ld.param.u64 %rd2, [out];
        cvta.to.global.u64 %rd3, %rd2;
        tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f0}];
        st.global.f32 [%rd3], %f1;
        ret;
    }";

const X: f32 = 2.0;

pub(crate) fn measure(measurement: &mut Measurement<'_>, driver: Driver, cx: &Current<'_, '_>) {
    let shape = ArrayShape::OneD { width: 64 };
    let array = Array::from_slice(cx, shape, ArrayFlags::empty(), &[1.0f32; 64]).expect("an array");
    let sampler = Sampler { filter: FilterMode::CU_TR_FILTER_MODE_LINEAR, ..Sampler::default() };
    objects(measurement, driver, cx, &array, &sampler);
    launches(measurement, driver, cx, &array, &sampler);
}

fn objects(
    measurement: &mut Measurement<'_>,
    driver: Driver,
    cx: &Current<'_, '_>,
    array: &Array<'_, f32>,
    sampler: &Sampler,
) {
    // The descriptions are ready, which is the least that C code can spend on them.
    let (mut resource, mut sampling) = (CUDA_RESOURCE_DESC::zeroed(), CUDA_TEXTURE_DESC::zeroed());
    {
        let texture = Texture::new(cx, array, sampler).expect("a texture");
        let fns = driver.library().fns();
        unsafe { (fns.cuTexObjectGetResourceDesc)(&raw mut resource, texture.as_raw()) }.must_succeed();
        unsafe { (fns.cuTexObjectGetTextureDesc)(&raw mut sampling, texture.as_raw()) }.must_succeed();
    }
    let (resource, sampling) = (&raw const resource, &raw const sampling);
    operation! {
        measurement, "texture create + destroy", driver, || (),
        raw [cuTexObjectCreate cuTexObjectDestroy] {
            let mut texture = 0;
            match unsafe { cuTexObjectCreate(&raw mut texture, resource, sampling, ptr::null()) } {
                CUresult::CUDA_SUCCESS => unsafe { cuTexObjectDestroy(texture) },
                refused => refused,
            }
        }
        wrapper { Texture::new(cx, array, sampler).map(drop) }
    }
}

fn launches(
    measurement: &mut Measurement<'_>,
    driver: Driver,
    cx: &Current<'_, '_>,
    array: &Array<'_, f32>,
    sampler: &Sampler,
) {
    let texture = Texture::new(cx, array, sampler).expect("a texture");
    let module = Module::load_ptx(cx, READ).expect("the module");
    let function = module.function("read").expect("the kernel");
    let kernel = function.bind::<(TextureObject, f32, InOut<f32>)>().expect("its signature");
    let (stream, config) = (Stream::new(cx).expect("a stream"), LaunchConfig::new(1, 1));
    let mut out = Buffer::<f32>::zeroed(cx, 1).expect("a buffer");
    let raw_arguments = (texture.as_raw(), X, out.as_raw());
    let (raw_function, raw_stream) = (kernel.function().as_raw(), stream.as_raw());
    operation! {
        measurement, "launch with a texture", driver, || stream.synchronize(cx).must_succeed(),
        raw [cuLaunchKernel] {
            let (mut texture, mut x, mut out) = black_box(raw_arguments);
            let mut pointers: [*mut c_void; 3] =
                [(&raw mut texture).cast(), (&raw mut x).cast(), (&raw mut out).cast()];
            let (pointers, none) = (pointers.as_mut_ptr(), ptr::null_mut());
            unsafe { cuLaunchKernel(raw_function, 1, 1, 1, 1, 1, 1, 0, raw_stream, pointers, none) }
        }
        wrapper { unsafe { kernel.launch(cx, &stream, config, (&texture, black_box(X), &mut out)) } }
    }
}
