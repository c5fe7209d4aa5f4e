//! PyCUDA's tests of the CUDA array interface (`test/test_driver.py`), each under its name.

use cuprum::context::{Context, ContextFlags};
use cuprum::{Buffer, Current, Driver, InOut, LaunchConfig, Module, Stream};
use cuprum_dlpack::ArrayInterface;

fn in_context(test: impl FnOnce(&mut Current<'_, '_>)) {
    let device = Driver::init(cuprum_emulator::library()).unwrap().device(0).unwrap();
    Context::create(device, ContextFlags::empty())
        .unwrap()
        .enter(|cx| {
            test(cx);
            Ok(())
        })
        .unwrap();
}

#[test]
fn test_gpuarray_cai() {
    in_context(|cx| {
        let array = Buffer::<f32>::zeroed(cx, 10).unwrap();
        let address = array.as_raw();
        let read = ArrayInterface::of(&array.as_slice(), &[10], None).unwrap();
        let values = ArrayInterface { read_only: false, ..read };
        assert_eq!((&*values.shape, &*values.typestr, &values.strides), (&[10][..], "<f4", &None));
        assert!(address != 0 && values.address == address);
        assert!(!values.read_only);
        assert_eq!(values.stream, None);
        assert!(values.to_string().ends_with("'version': 3}"), "{values}");
    });
}

/// An array of other code is the argument of a kernel.
#[test]
fn test_pass_cai_array() {
    const ARANGE: &str = "
        .version 7.0
        .target sm_52
        .address_size 64
        .entry gpu_arange(.param .u64 x) {
            .reg .b32 %r<2>; .reg .b64 %rd<3>;
            mov.u32 %r0, %tid.x; mul.wide.u32 %rd0, %r0, 4;
            ld.param.u64 %rd1, [x]; add.u64 %rd1, %rd1, %rd0; st.global.u32 [%rd1], %r0;
            ret;
        }";
    in_context(|cx| {
        let memory = Buffer::<i32>::zeroed(cx, 1024).unwrap();
        let values = ArrayInterface {
            shape: vec![1024],
            typestr: "<i4".to_owned(),
            address: memory.as_raw(),
            read_only: false,
            strides: Some(vec![4]),
            stream: None,
        };
        // SAFETY: the memory outlives the borrow, and is not used meanwhile.
        let mut array = unsafe { values.borrow::<i32>(cx) }.unwrap();
        let module = Module::load_ptx(cx, ARANGE).unwrap();
        let arange = module.function("gpu_arange").unwrap().bind::<(InOut<i32>,)>().unwrap();
        let config = LaunchConfig::new(1, 1024);
        // SAFETY: each of the 1024 threads writes the element of its number, and the copy comes
        // after it.
        unsafe { arange.launch(cx, &Stream::default_in(cx), config, (&mut array,)) }.unwrap();
        drop(array);
        assert!(memory.to_vec(cx).unwrap().into_iter().eq(0..1024));
    });
}
