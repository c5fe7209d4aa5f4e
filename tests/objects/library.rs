//! Code that belongs to no context: kernels, modules and variables of it, while contexts come and
//! go.

use cuprum::context::PrimaryContext;
use cuprum::module::{CodeLibrary, LoadOptions, LoadingMode, ModuleError};
use cuprum::sys::{CUfunction_attribute, CUresult};
use cuprum::{Buffer, Current, In, InOut, Kernel, LaunchConfig, Stream};

use crate::common::{context, device, driver, in_context};

const SAXPY: &str = include_str!("../../kernels/saxpy.ptx");

/// A variable, a constant, a managed variable, and a kernel that counts the first up.
const COUNTER: &str = ".version 7.0\n.target sm_52\n.address_size 64
.visible .global .align 4 .u32 count = 5;
.visible .const .align 4 .u32 steps[2] = {1, 2};
.visible .global .attribute(.managed) .align 4 .u32 common = 7;
.visible .entry up() {
    .reg .b32 %r<3>;
    ld.global.u32 %r1, [count];
    add.u32 %r2, %r1, 1;
    st.global.u32 [count], %r2;
    ret;
}\n";

type Saxpy = (u32, f32, In<f32>, InOut<f32>);

fn counter() -> CodeLibrary {
    CodeLibrary::load_ptx(driver(), COUNTER).unwrap()
}

fn count(cx: &Current<'_, '_>, library: &CodeLibrary) -> u32 {
    let mut value = [0];
    cx.copy(&mut value, &library.global::<u32>(cx, "count").unwrap()).unwrap();
    value[0]
}

fn up(cx: &Current<'_, '_>, library: &CodeLibrary) {
    let kernel = library.kernel("up").unwrap().function(cx).unwrap().bind::<()>().unwrap();
    // SAFETY: the kernel touches a variable of its own, which is read after it, and the library is
    // here.
    unsafe { kernel.launch(cx, &Stream::default_in(cx), LaunchConfig::new(1, 1), ()) }.unwrap();
    cx.synchronize().unwrap();
}

#[test]
fn kernels_are_there_before_any_context() {
    let library = CodeLibrary::load_ptx(driver(), SAXPY).unwrap();
    let kernels = library.kernels().unwrap();
    let mut names: Vec<String> = kernels.iter().map(|kernel| kernel.name().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["saxpy", "saxpy_grid_stride"]);
    let saxpy = library.kernel("saxpy").unwrap();
    assert!(kernels.iter().any(|kernel| kernel.as_raw() == saxpy.as_raw()));
    let threads = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
    assert!(saxpy.attribute(device(), threads).unwrap() > 0);
    library.close().unwrap();
}

#[test]
fn a_kernel_tells_its_parameters_where_a_context_is_current() {
    in_context(|cx| {
        let library = CodeLibrary::load_ptx(driver(), SAXPY).unwrap();
        let saxpy = library.kernel("saxpy").unwrap();
        let saxpy = saxpy.function(cx).unwrap();
        assert_eq!(saxpy.parameter_count().unwrap(), 4);
        assert_eq!(saxpy.parameter(2).unwrap(), (8, 8));
        assert_eq!(saxpy.parameter(4).unwrap_err().code(), CUresult::CUDA_ERROR_INVALID_VALUE);
    });
}

#[test]
fn a_missing_kernel_is_reported_with_the_existing_ones() {
    let library = CodeLibrary::load_ptx(driver(), SAXPY).unwrap();
    let refused = library.kernel("saxpi").unwrap_err();
    let ModuleError::NoFunction { error, name, there_are } = &refused else { panic!("{refused}") };
    assert_eq!((error.code(), name.as_str()), (CUresult::CUDA_ERROR_NOT_FOUND, "saxpi"));
    assert_eq!(there_are.as_deref().unwrap(), ["saxpy", "saxpy_grid_stride"]);
    let inside = library.kernel("sax\0py").unwrap_err();
    assert_eq!(inside, ModuleError::InteriorNul { what: "the kernel's name", position: 3 });
}

#[test]
fn each_context_has_variables_of_its_own_but_for_managed_ones() {
    let library = counter();
    let (first, second) = (context(), context());
    first.enter(|cx| Ok((up(cx, &library), up(cx, &library)))).unwrap();
    second
        .enter(|cx| {
            up(cx, &library);
            Ok(())
        })
        .unwrap();
    assert_eq!(first.enter(|cx| Ok(count(cx, &library))).unwrap(), 7);
    assert_eq!(second.enter(|cx| Ok(count(cx, &library))).unwrap(), 6);
    let managed = |cx: &mut Current<'_, '_>, add: u32| {
        let mut common = library.managed::<u32>(cx, "common").unwrap();
        let mut value = [0];
        cx.copy(&mut value, &common).unwrap();
        cx.copy(&mut common, &[value[0] + add]).unwrap();
        value[0]
    };
    assert_eq!(first.enter(|cx| Ok(managed(cx, 1))).unwrap(), 7);
    assert_eq!(second.enter(|cx| Ok(managed(cx, 1))).unwrap(), 8);
    // A context that comes later has fresh ones.
    drop(first);
    assert_eq!(context().enter(|cx| Ok((count(cx, &library), managed(cx, 1)))).unwrap(), (5, 9));
}

#[test]
fn variables_are_found_by_name_and_size() {
    in_context(|cx| {
        let library = counter();
        let mut steps = [0u32; 2];
        cx.copy(&mut steps, &library.global(cx, "steps").unwrap()).unwrap();
        assert_eq!(steps, [1, 2]);
        assert!(matches!(library.global::<u32>(cx, "none"), Err(ModuleError::NoGlobal { .. })));
        assert!(matches!(library.managed::<u32>(cx, "count"), Err(ModuleError::NoGlobal { .. })));
        assert!(matches!(
            library.global::<[u8; 3]>(cx, "count"),
            Err(ModuleError::GlobalSize { bytes: 4, .. })
        ));
    });
}

#[test]
fn its_module_is_like_any_other() {
    in_context(|cx| {
        let library = CodeLibrary::load_ptx_with(
            driver(),
            SAXPY,
            &LoadOptions { max_registers: Some(32), ..LoadOptions::default() },
        )
        .unwrap();
        let module = library.module(cx).unwrap();
        let bound = module.function("saxpy").unwrap().bind::<Saxpy>().unwrap();
        let (x, mut y) =
            (Buffer::from_slice(cx, &[1.0f32; 8]).unwrap(), Buffer::from_slice(cx, &[2.0f32; 8]).unwrap());
        let stream = Stream::new(cx).unwrap();
        // SAFETY: saxpy(n, alpha, x, y) touches n elements of each, and the copy comes after it.
        unsafe { bound.launch(cx, &stream, LaunchConfig::for_elements(8, 8), (8u32, 3.0f32, &x, &mut y)) }
            .unwrap();
        assert_eq!(y.to_vec(cx).unwrap(), [5.0; 8]);
        assert!(module.function("saxpy").unwrap().bind::<(u32,)>().is_err());
        // Closing does not unload it: it ends with the library.
        drop(bound);
        module.close().unwrap();
        let again = library.module(cx).unwrap();
        assert!(again.function("saxpy").is_ok());
    });
}

#[test]
fn settings_of_a_kernel_hold_for_its_functions() {
    in_context(|cx| {
        let library = CodeLibrary::load_ptx(driver(), SAXPY).unwrap();
        let (kernel, shared) = (
            library.kernel("saxpy").unwrap(),
            CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
        );
        kernel.set_attribute(device(), shared, 60000).unwrap();
        let function = kernel.function(cx).unwrap();
        assert_eq!(function.attribute(shared).unwrap(), 60000);
        function.set_attribute(shared, 70000).unwrap();
        assert_eq!(kernel.attribute(device(), shared).unwrap(), 60000);
        let registers = CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS;
        let refused = kernel.set_attribute(device(), registers, 3).unwrap_err();
        assert_eq!(refused.code(), CUresult::CUDA_ERROR_INVALID_VALUE);
    });
}

#[test]
fn functions_are_loaded_at_once_or_on_demand() {
    in_context(|cx| {
        let mode = driver().loading_mode().unwrap();
        assert!([LoadingMode::CU_MODULE_EAGER_LOADING, LoadingMode::CU_MODULE_LAZY_LOADING].contains(&mode));
        let library = counter();
        let function = library.kernel("up").unwrap().function(cx).unwrap();
        function.load().unwrap();
        assert!(function.is_loaded().unwrap());
    });
}

/// The library, its module and a kernel are kept by each other, and dropped in any order on any
/// thread.
#[test]
fn a_shared_library_is_unloaded_with_the_last_of_its_modules() {
    let context = PrimaryContext::retain(device()).unwrap().share();
    let library = CodeLibrary::load_ptx(driver(), SAXPY).unwrap().share();
    let module = context.enter_as(|cx| library.module(cx)).unwrap().share();
    let kernel: Kernel<'static, Saxpy> = module.kernel("saxpy").unwrap();
    drop((module, library.clone(), library));
    std::thread::spawn(move || {
        let (x, y) = ([1.0f32; 4], [2.0f32; 4]);
        let sum = context.enter(|cx| {
            let (x, mut y) = (Buffer::from_slice(cx, &x).unwrap(), Buffer::from_slice(cx, &y).unwrap());
            let stream = Stream::new(cx).unwrap();
            // SAFETY: saxpy(n, alpha, x, y) touches n elements of each, and the copy comes after
            // it.
            unsafe {
                kernel.launch(cx, &stream, LaunchConfig::for_elements(4, 4), (4u32, 1.0f32, &x, &mut y))
            }
            .unwrap();
            Ok(y.to_vec(cx).unwrap())
        });
        drop(context);
        assert_eq!(sum.unwrap(), [3.0; 4]);
        drop(kernel);
    })
    .join()
    .unwrap();
}

/// A module that borrows a shared handle takes a share too, which is not the last.
#[test]
fn a_shared_library_lends_modules_as_well() {
    in_context(|cx| {
        let library = counter().share();
        let borrowed = cuprum::module::CodeLibrary::module(&library, cx).unwrap();
        assert!(borrowed.function("up").is_ok());
        drop(borrowed);
        assert_eq!(count(cx, &library), 5);
    });
}

#[test]
fn a_library_is_loaded_from_memory() {
    let text = COUNTER.to_owned() + "\0";
    // SAFETY: PTX with a NUL at its end.
    let library =
        unsafe { CodeLibrary::load_binary(driver(), text.as_bytes(), &LoadOptions::default()) }.unwrap();
    // The driver has a copy.
    drop(text);
    assert!(library.kernel("up").is_ok());
}

#[test]
fn a_library_that_is_refused_says_why() {
    let ptx =
        ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() {\n  frobnicate.u32 %r1;\n}\n";
    let newer = ".version 99.9\n.target sm_75\n.address_size 64\n";
    assert_eq!(CodeLibrary::load_ptx(driver(), "\x7fELF").unwrap_err(), ModuleError::NotPtx);
    // It loads all the same, and requests for its kernels are refused.
    let (invalid, unknown) = (CUresult::CUDA_ERROR_INVALID_PTX, CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
    for (ptx, code, why) in [(ptx, invalid, "frobnicate"), (newer, unknown, "99.9")] {
        let library = CodeLibrary::load_ptx(driver(), ptx).unwrap();
        let refused = library.kernel("k").unwrap_err();
        let ModuleError::Rejected { error, log, .. } = &refused else { panic!("{refused}") };
        assert_eq!(error.code(), code);
        assert!(log.contains(why), "{log}");
        assert!(library.kernels().unwrap().is_empty());
    }
}

/// No device of these tests has any.
#[test]
fn functions_for_both_sides_are_refused_where_there_are_none() {
    let library = counter();
    let ModuleError::Driver(error) = library.unified_function("up").unwrap_err() else {
        panic!("another error")
    };
    assert_eq!(error.code(), CUresult::CUDA_ERROR_INVALID_VALUE);
    assert!(matches!(library.unified_function("\0"), Err(ModuleError::InteriorNul { position: 0, .. })));
}
