//! Modules: rejected code and its errors, globals, attributes.

use cuprum::Module;
use cuprum::module::{LoadOptions, ModuleError};
use cuprum::sys::{CUfunction_attribute, CUresult};

use crate::common::{self, device, in_context, kernels};

#[test]
fn bad_ptx_is_refused_with_the_compilers_log() {
    in_context(|cx| {
        let ptx = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() {\n  frobnicate.u32 %r1;\n}\n";
        let ModuleError::Rejected { error, log, .. } = Module::load_ptx(cx, ptx).unwrap_err() else {
            panic!("another error")
        };
        assert_eq!(error.code(), CUresult::CUDA_ERROR_INVALID_PTX);
        assert!(log.contains("line 5") || log.contains(":5"), "{log}");
        assert!(log.contains("frobnicate"), "{log}");
    });
}

#[test]
fn ptx_that_is_too_new_is_refused_with_both_versions() {
    in_context(|cx| {
        let ptx = ".version 99.9\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n";
        let refused = Module::load_ptx(cx, ptx).unwrap_err();
        let ModuleError::Rejected { error, .. } = &refused else { panic!("another error") };
        assert_eq!(error.code(), CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
        let text = refused.to_string();
        let driver = common::driver().version().to_string();
        assert!(text.contains("99.9") && text.contains(&driver), "{text}");
    });
}

#[test]
fn ptx_for_a_newer_device_is_refused_with_both_capabilities() {
    in_context(|cx| {
        let device = device().compute_capability().unwrap();
        // Known to every compiler that these drivers hold, and newer than any device of these tests
        // but itself.
        let target = if device < (cuprum::device::ComputeCapability { major: 9, minor: 0 }) {
            "sm_90"
        } else {
            "sm_100"
        };
        let ptx =
            format!(".version 8.7\n.target {target}\n.address_size 64\n.visible .entry k() {{ ret; }}\n");
        let refused = Module::load_ptx(cx, &ptx).unwrap_err();
        let ModuleError::Rejected { error, .. } = &refused else { panic!("another error") };
        // As an H200 with driver 580 answers.
        assert_eq!(error.code(), CUresult::CUDA_ERROR_INVALID_PTX, "{refused}");
        let text = refused.to_string();
        assert!(text.contains(target) && text.contains(&device.to_string()), "{text}");
    });
}

#[test]
fn text_with_a_nul_inside_is_refused() {
    in_context(|cx| {
        for ptx in [".version 7.0\0\n", ".version 7.0\0\0"] {
            let refused = Module::load_ptx(cx, ptx).unwrap_err();
            assert_eq!(refused, ModuleError::InteriorNul { what: "the PTX", position: 12 });
        }
        let module = kernels!(cx, "saxpy");
        assert!(matches!(module.function("sax\0py"), Err(ModuleError::InteriorNul { position: 3, .. })));
        assert!(matches!(module.global::<u8>("\0"), Err(ModuleError::InteriorNul { position: 0, .. })));
    });
}

/// NVRTC counts the NUL at the end of its text as a part of it.
#[test]
fn one_nul_at_the_end_is_no_part_of_the_text() {
    in_context(|cx| {
        let ptx = include_str!("../../kernels/saxpy.ptx").to_owned() + "\0";
        Module::load_ptx(cx, &ptx).unwrap().function("saxpy").unwrap();
    });
}

#[test]
fn source_in_place_of_ptx_is_explained() {
    in_context(|cx| {
        for source in [include_str!("../../kernels/saxpy.cu"), "#include <cstdint>\n", "__device__ int x;\0"]
        {
            let refused = Module::load_ptx(cx, source).unwrap_err();
            assert_eq!(refused, ModuleError::CudaSource);
            let text = refused.to_string();
            assert!(text.contains("CUDA C++") && text.contains("cuprum-compile"), "{text}");
        }
        // Text with a version is passed to the driver, whatever its comments contain.
        let ptx =
            "// __global__ void k();\n.version 7.0\n.target sm_52\n.address_size 64\n.entry k() { ret; }";
        Module::load_ptx(cx, ptx).unwrap();
        assert!(matches!(Module::load_ptx(cx, "rubbish"), Err(ModuleError::Rejected { .. })));
    });
}

#[test]
fn a_missing_name_is_in_the_error() {
    in_context(|cx| {
        let module = kernels!(cx, "saxpy");
        let missing = module.function("sxapy").unwrap_err();
        let ModuleError::NoFunction { name, there_are, .. } = &missing else { panic!("{missing}") };
        assert_eq!((name.as_str(), there_are.as_ref().map(Vec::len)), ("sxapy", Some(2)));
        let words = "no function named `sxapy`; it has `saxpy`, `saxpy_grid_stride`";
        assert!(missing.to_string().ends_with(words), "{missing}");
        let missing = module.global::<f32>("table").unwrap_err();
        assert!(matches!(missing, ModuleError::NoGlobal { .. }));
        module.close().unwrap();
    });
}

#[test]
fn a_modules_functions_are_listed_by_name() {
    in_context(|cx| {
        let module = kernels!(cx, "faults");
        let functions = module.functions().unwrap();
        let mut names: Vec<String> = functions.iter().map(|function| function.name().unwrap()).collect();
        names.sort();
        let mut written: Vec<&str> = include_str!("../../kernels/faults.ptx")
            .lines()
            .filter_map(|line| line.split(".entry ").nth(1)?.split('(').next())
            .collect();
        written.sort_unstable();
        assert_eq!(names, written);
        for function in functions {
            let again = module.function(&function.name().unwrap()).unwrap();
            assert_eq!(again.as_raw(), function.as_raw());
        }
    });
}

/// A name mangled by C++ comes before the others, and the message gives the reason.
#[test]
fn a_missing_function_comes_with_those_there_are() {
    in_context(|cx| {
        let names: Vec<String> = (0..20).map(|n| format!("a{n}")).collect();
        let entries: String =
            names.iter().map(|name| format!(".visible .entry {name}() {{ ret; }}\n")).collect();
        let ptx = format!(
            ".version 7.0\n.target sm_52\n.address_size 64\n{entries}.visible .entry _Z5scalef() {{ ret; }}"
        );
        let module = Module::load_ptx(cx, &ptx).unwrap();
        let text = module.function("scale").unwrap_err().to_string();
        assert!(
            text.contains("it has `_Z5scalef`, `a0`, `a1`, ") && text.contains(" and 9 more (C++ changes"),
            "{text}"
        );
        let empty = Module::load_ptx(cx, ".version 7.0\n.target sm_52\n.address_size 64\n").unwrap();
        let text = empty.function("scale").unwrap_err().to_string();
        assert!(text.ends_with("; it has none"), "{text}");
    });
}

#[test]
fn binary_rubbish_is_refused() {
    in_context(|cx| {
        // SAFETY: not an image by its first bytes; drivers refuse that without reading further.
        let refused = unsafe { Module::load_binary(cx, &[0xFF; 256], &LoadOptions::default()) }.unwrap_err();
        let ModuleError::Rejected { error, .. } = refused else { panic!("another error") };
        assert!(
            matches!(
                error.code(),
                CUresult::CUDA_ERROR_INVALID_IMAGE | CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU
            ),
            "{error}"
        );
    });
}

#[test]
fn globals_are_read_and_written() {
    in_context(|cx| {
        let module = common::load(
            cx,
            ".version 7.0\n.target sm_75\n.address_size 64\n\
             .visible .const .align 4 .f32 table[4] = {0f3F800000, 0f40000000, 0f40400000, 0f40800000};\n\
             .visible .entry k() { ret; }\n",
        );
        let mut table = module.global::<f32>("table").unwrap();
        assert_eq!(table.len(), 4);
        let mut host = [0.0; 4];
        cx.copy(&mut host, &table).unwrap();
        assert_eq!(host, [1.0, 2.0, 3.0, 4.0]);
        cx.copy(&mut table, &[5.0, 6.0, 7.0, 8.0]).unwrap();
        cx.copy(&mut host, &module.global::<f32>("table").unwrap()).unwrap();
        assert_eq!(host, [5.0, 6.0, 7.0, 8.0]);
        assert!(cx.copy(&mut table, &[0.0; 3]).is_err());
        let size = module.global::<[u8; 5]>("table").unwrap_err();
        assert!(matches!(size, ModuleError::GlobalSize { bytes: 16, element_bytes: 5, .. }));
        assert!(matches!(module.global::<[u8; 0]>("table"), Err(ModuleError::GlobalSize { .. })));
    });
}

#[test]
fn functions_have_attributes() {
    in_context(|cx| {
        let module = kernels!(cx, "reduce_shared");
        let function = module.function("reduce_shared").unwrap();
        let attribute = |attribute| function.attribute(attribute).unwrap();
        assert!(
            (32..=1024).contains(&attribute(CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK))
        );
        assert!(attribute(CUfunction_attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES) > 0);
        assert_eq!(attribute(CUfunction_attribute::CU_FUNC_ATTRIBUTE_PTX_VERSION), 75);
        let unknown = function.attribute(CUfunction_attribute(9999)).unwrap_err();
        assert_eq!(unknown.code(), CUresult::CUDA_ERROR_INVALID_VALUE);
        let dynamic = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        function.set_attribute(dynamic, 8192).unwrap();
        assert_eq!(attribute(dynamic), 8192);
    });
}
