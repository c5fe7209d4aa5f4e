//! Libraries and their kernels, without a context and in one. As recorded on an H100.

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use cuprum_sys::*;
use cuprum_testing::driver_calls::*;

const DYNAMIC_SHARED: CUfunction_attribute =
    CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
const REGISTERS: CUfunction_attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS;
const LOCAL: CUfunction_attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES;

const TEXT: &core::ffi::CStr = c".version 7.7\n.target sm_75\n.address_size 64\n\
    .visible .global .attribute(.managed) .align 8 .u64 managed = 7;\n\
    .visible .entry count(.param .u64 counter) { .reg .b64 %c; .reg .b32 %n;\n\
    ld.param.u64 %c, [counter]; ld.global.u32 %n, [%c]; add.u32 %n, %n, 1; st.global.u32 [%c], %n; ret; }\n";

fn load_with(text: &core::ffi::CStr, option: Option<(CUjit_option, usize)>) -> CUlibrary {
    let mut library = CUlibrary::null();
    let (mut options, mut values) = (option.map(|(name, _)| name), option.map(|(_, value)| value));
    let options = options.as_mut().map_or(null_mut(), |option| &raw mut *option);
    let values = values.as_mut().map_or(null_mut(), |value| (&raw mut *value).cast::<*mut c_void>());
    let count = u32::from(option.is_some());
    ok!(cuLibraryLoadData(
        &mut library,
        text.as_ptr().cast(),
        options,
        values,
        count,
        null_mut(),
        null_mut(),
        0
    ));
    library
}

fn load() -> CUlibrary {
    load_with(TEXT, None)
}

fn kernel(library: CUlibrary, name: &core::ffi::CStr) -> CUkernel {
    let mut kernel = CUkernel::null();
    ok!(cuLibraryGetKernel(&mut kernel, library, name.as_ptr()));
    kernel
}

fn function(kernel: CUkernel) -> CUfunction {
    let mut function = CUfunction::null();
    ok!(cuKernelGetFunction(&mut function, kernel));
    function
}

fn attribute(function: CUfunction, attribute: CUfunction_attribute) -> i32 {
    let mut value = -2;
    ok!(cuFuncGetAttribute(&mut value, attribute, function));
    value
}

#[test]
fn a_function_has_what_was_set_for_its_kernel_until_it_has_its_own() {
    let _context = TestContext::new();
    let kernel = kernel(load(), c"count");
    let function = function(kernel);
    assert_eq!(attribute(function, DYNAMIC_SHARED), 49152);
    ok!(cuKernelSetAttribute(DYNAMIC_SHARED, 65536, kernel, 0));
    assert_eq!(attribute(function, DYNAMIC_SHARED), 65536);
    ok!(cuFuncSetAttribute(function, DYNAMIC_SHARED, 50000));
    ok!(cuKernelSetAttribute(DYNAMIC_SHARED, 1024, kernel, 0));
    assert_eq!(attribute(function, DYNAMIC_SHARED), 50000);
    let mut value = 0;
    ok!(cuKernelGetAttribute(&mut value, DYNAMIC_SHARED, kernel, 0));
    assert_eq!(value, 1024);
    // A kernel is not accepted as a function here, unlike in launches.
    let cast = CUfunction(kernel.0);
    assert_eq!(code!(cuFuncSetAttribute(cast, DYNAMIC_SHARED, 1)), CUresult::CUDA_ERROR_INVALID_HANDLE);
    let read = code!(cuFuncGetAttribute(&mut value, DYNAMIC_SHARED, cast));
    assert_eq!(read, CUresult::CUDA_ERROR_INVALID_HANDLE);
    ok!(cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut value, cast, 32, 0));
}

#[test]
fn managed_variables_belong_to_no_context() {
    let library = load();
    let (mut address, mut size) = (0, 0);
    ok!(cuLibraryGetManaged(&mut address, &mut size, library, c"managed".as_ptr()));
    assert_eq!(size, 8);
    let value = core::ptr::with_exposed_provenance_mut::<u64>(address as usize);
    // SAFETY: eight bytes that the host may read.
    assert_eq!(unsafe { value.read() }, 7);
    for _ in 0..2 {
        let _context = TestContext::new();
        let (mut here, mut there) = (0, 0);
        ok!(cuLibraryGetManaged(&mut here, null_mut(), library, c"managed".as_ptr()));
        ok!(cuLibraryGetGlobal(&mut there, null_mut(), library, c"managed".as_ptr()));
        assert_eq!((here, there), (address, address));
    }
    ok!(cuLibraryUnload(library));
}

#[test]
fn a_graph_takes_a_kernel_in_place_of_a_function() {
    let context = TestContext::new();
    let kernel = kernel(load(), c"count");
    let counter = alloc(4);
    write(counter, &[0u32]);
    let mut argument = counter;
    let mut arguments = [(&raw mut argument).cast::<c_void>()];
    let (mut graph, mut node, mut exec) = (CUgraph::null(), CUgraphNode::null(), CUgraphExec::null());
    ok!(cuGraphCreate(&mut graph, 0));
    let params = CUDA_KERNEL_NODE_PARAMS {
        kern: kernel,
        gridDimX: 1,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 1,
        blockDimY: 1,
        blockDimZ: 1,
        kernelParams: arguments.as_mut_ptr(),
        ..CUDA_KERNEL_NODE_PARAMS::zeroed()
    };
    ok!(cuGraphAddKernelNode_v2(&mut node, graph, null(), 0, &params));
    let mut back = CUDA_KERNEL_NODE_PARAMS::zeroed();
    ok!(cuGraphKernelNodeGetParams_v2(node, &mut back));
    assert_eq!((back.func, back.kern, back.ctx), (function(kernel), kernel, context.0));
    ok!(cuGraphInstantiateWithFlags(&mut exec, graph, 0));
    ok!(cuGraphLaunch(exec, CUstream::null()));
    assert_eq!(read::<u32>(counter, 1), [1]);
    let swapped = CUDA_KERNEL_NODE_PARAMS { kern: CUkernel::null(), func: CUfunction(kernel.0), ..params };
    let refused = code!(cuGraphAddKernelNode_v2(&mut node, graph, null(), 0, &swapped));
    assert_eq!(refused, CUresult::CUDA_ERROR_INVALID_HANDLE);
}

/// Returns a kernel with 60 sums that are live at the same time.
fn heavy() -> std::ffi::CString {
    let each = |line: &dyn Fn(usize) -> String| (0..60).map(line).collect::<String>();
    let loads = each(&|at| format!("ld.volatile.global.f32 %f{at}, [%a+{}];\n", 4 * at));
    let stores = each(&|at| format!("st.volatile.global.f32 [%a+{}], %f{};\n", 4 * at, 59 - at));
    let text = format!(
        ".version 7.7\n.target sm_75\n.address_size 64\n.visible .entry heavy(.param .u64 a) {{\n\
        .reg .b64 %a; .reg .f32 %f<60>;\nld.param.u64 %a, [a];\n{loads}{stores}ret; }}\n"
    );
    std::ffi::CString::new(text).unwrap()
}

#[test]
fn the_compiler_keeps_to_the_registers_that_it_may_use() {
    let _context = TestContext::new();
    let text = heavy();
    let attributes = |option| {
        let function = function(kernel(load_with(&text, option), c"heavy"));
        [attribute(function, REGISTERS), attribute(function, LOCAL)]
    };
    let [free, spilled] = attributes(None);
    assert!(free > 40 && spilled == 0, "{free} {spilled}");
    for most in [1, 17, 24, 32, 40] {
        let [kept, spilled] = attributes(Some((CUjit_option::CU_JIT_MAX_REGISTERS, most)));
        assert_eq!(kept, most.max(24) as i32);
        assert!(spilled >= 4 * (free - kept), "{spilled}");
    }
    assert_eq!(attributes(Some((CUjit_option::CU_JIT_MAX_REGISTERS, 255))), [free, 0]);
    let [kept, _] = attributes(Some((CUjit_option::CU_JIT_THREADS_PER_BLOCK, 1024)));
    assert!(kept <= 64, "{kept}");
    // Linked with a limit and loaded without, or with another.
    let mut most = core::ptr::without_provenance_mut::<c_void>(32);
    let mut link = CUlinkState::null();
    let mut limit = CUjit_option::CU_JIT_MAX_REGISTERS;
    ok!(cuLinkCreate_v2(1, &mut limit, &mut most, &mut link));
    let (ptx, bytes) = (CUjitInputType::CU_JIT_INPUT_PTX, text.as_bytes_with_nul());
    let data = bytes.as_ptr().cast_mut().cast();
    ok!(cuLinkAddData_v2(link, ptx, data, bytes.len(), c"heavy".as_ptr(), 0, null_mut(), null_mut()));
    let (mut image, mut size) = (null_mut(), 0);
    ok!(cuLinkComplete(link, &mut image, &mut size));
    // SAFETY: the linker's result is PTX with a NUL, which lives as long as the linker.
    let linked = unsafe { std::ffi::CStr::from_ptr(image.cast()) }.to_owned();
    ok!(cuLinkDestroy(link));
    for (option, expected) in [(None, 32), (Some((limit, 255)), 32), (Some((limit, 24)), 24)] {
        let function = function(kernel(load_with(&linked, option), c"heavy"));
        assert_eq!(attribute(function, REGISTERS), expected);
    }
    let mut module = CUmodule::null();
    ok!(cuModuleLoadData(&mut module, linked.as_ptr().cast()));
    let mut in_module = CUfunction::null();
    ok!(cuModuleGetFunction(&mut in_module, module, c"heavy".as_ptr()));
    assert_eq!(attribute(in_module, REGISTERS), 32);

    let (mut none, mut option, mut library) =
        (null_mut::<c_void>(), CUjit_option::CU_JIT_MAX_REGISTERS, CUlibrary::null());
    let refused = code!(cuLibraryLoadData(
        &mut library,
        text.as_ptr().cast(),
        &mut option,
        &mut none,
        1,
        null_mut(),
        null_mut(),
        0
    ));
    assert_eq!(refused, CUresult::CUDA_ERROR_INVALID_VALUE);
}

/// As recorded on an H100 with driver 580, in both loading modes: any image creates a library, but
/// access to its contents fails.
#[test]
fn an_image_that_is_refused_makes_a_library_without_anything() {
    let entry = ".visible .entry k() { frobnicate; ret; }";
    let good = ".visible .global .u32 var; .visible .entry good() { ret; }";
    let images = [
        (
            format!(".version 7.0\n.target sm_75\n.address_size 64\n{good}\n{entry}\0"),
            CUresult::CUDA_ERROR_INVALID_PTX,
        ),
        (
            format!(".version 99.9\n.target sm_75\n.address_size 64\n{good}\0"),
            CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
        ),
        ("garbage\0".to_owned(), CUresult::CUDA_ERROR_INVALID_IMAGE),
        ("\0".to_owned(), CUresult::CUDA_ERROR_INVALID_IMAGE),
    ];
    for (image, refused) in images {
        let mut log = [0u8; 512];
        let mut options =
            [CUjit_option::CU_JIT_ERROR_LOG_BUFFER, CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        let mut values: [*mut c_void; 2] =
            [log.as_mut_ptr().cast(), core::ptr::without_provenance_mut(log.len())];
        let mut library = CUlibrary::null();
        ok!(cuLibraryLoadData(
            &mut library,
            image.as_ptr().cast(),
            options.as_mut_ptr(),
            values.as_mut_ptr(),
            2,
            null_mut(),
            null_mut(),
            0
        ));
        assert_ne!(log[0], 0, "the log says why");
        let asked = |in_context: CUresult| {
            let (mut kernel, mut count, mut kernels) = (CUkernel::null(), 9, [CUkernel::null(); 2]);
            ok!(cuLibraryGetKernelCount(&mut count, library));
            ok!(cuLibraryEnumerateKernels(kernels.as_mut_ptr(), 2, library));
            assert_eq!((count, kernels), (0, [CUkernel::null(); 2]));
            for name in [c"good", c"k", c"absent"] {
                assert_eq!(code!(cuLibraryGetKernel(&mut kernel, library, name.as_ptr())), refused);
            }
            let (mut address, mut bytes, mut module) = (0, 0, CUmodule::null());
            let var = c"var".as_ptr();
            assert_eq!(code!(cuLibraryGetManaged(&mut address, &mut bytes, library, var)), refused);
            assert_eq!(code!(cuLibraryGetGlobal(&mut address, &mut bytes, library, var)), in_context);
            assert_eq!(code!(cuLibraryGetModule(&mut module, library)), in_context);
            let mut function = null_mut();
            let unified = code!(cuLibraryGetUnifiedFunction(&mut function, library, c"k".as_ptr()));
            assert_eq!(unified, CUresult::CUDA_ERROR_INVALID_VALUE);
        };
        asked(CUresult::CUDA_ERROR_INVALID_CONTEXT);
        let context = TestContext::new();
        asked(refused);
        drop(context);
        ok!(cuLibraryUnload(library));
    }
}

#[test]
fn no_image_is_no_value() {
    let mut library = CUlibrary::null();
    let none =
        code!(cuLibraryLoadData(&mut library, null(), null_mut(), null_mut(), 0, null_mut(), null_mut(), 0));
    assert_eq!(none, CUresult::CUDA_ERROR_INVALID_VALUE);
}

#[test]
fn a_kernel_has_no_more_registers_than_its_largest_block_can_have() {
    let _context = TestContext::new();
    for (bounds, most) in [("", 64), (".maxntid 256", 255), (".maxntid 100, 5", 128)] {
        let fill: String =
            (0..300).map(|i| format!("ld.volatile.global.u32 %r{i}, [%x + {}];\n", 4 * i)).collect();
        let sums: String = (1..300).map(|i| format!("add.u32 %r0, %r0, %r{i};\n")).collect();
        let text = format!(
            ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p) {bounds} {{\n\
             .reg .b64 %x; .reg .b32 %r<300>; ld.param.u64 %x, [p];\n{fill}{sums}st.global.u32 [%x], %r0; ret; }}\n"
        );
        let text = std::ffi::CString::new(text).unwrap();
        let function = function(kernel(load_with(&text, None), c"k"));
        assert_eq!(attribute(function, REGISTERS), most, "{bounds}");
        let threads = attribute(function, CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
        let mut blocks = 0;
        ok!(cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, function, threads, 0));
        assert!(blocks >= 1, "{bounds}");
    }
}

/// As an H200: a kernel may write a constant by its address, and later launches read it.
#[test]
fn constants_are_written_by_kernels_that_do_not_read_them() {
    let context = TestContext::new();
    let text = c".version 7.0\n.target sm_75\n.address_size 64\n.visible .const .u32 limit[2] = {5, 6};\n\
        .visible .entry set(.param .u64 at) { .reg .b64 %x; .reg .b32 %r; ld.param.u64 %x, [at];\n\
        st.global.u32 [%x], 7; atom.global.add.u32 %r, [%x+4], 8; ret; }\n\
        .visible .entry get(.param .u64 at) { .reg .b64 %x; .reg .b32 %r<2>; ld.param.u64 %x, [at];\n\
        ld.const.v2.u32 {%r0, %r1}, [limit]; st.global.v2.u32 [%x], {%r0, %r1}; ret; }\n\
        .visible .entry both(.param .u64 at) { .reg .b64 %x; .reg .b32 %r; ld.param.u64 %x, [at];\n\
        ld.const.u32 %r, [limit]; st.global.u32 [%x], %r; ret; }\n";
    let mut module = CUmodule::null();
    ok!(cuModuleLoadData(&mut module, text.as_ptr().cast()));
    let (mut limit, mut bytes) = (CUdeviceptr::default(), 0);
    ok!(cuModuleGetGlobal_v2(&mut limit, &mut bytes, module, c"limit".as_ptr()));
    let run = |name: &core::ffi::CStr, mut at: CUdeviceptr| {
        let mut function = CUfunction::null();
        ok!(cuModuleGetFunction(&mut function, module, name.as_ptr()));
        let mut params: [*mut c_void; 1] = [(&raw mut at).cast()];
        let params = params.as_mut_ptr();
        ok!(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, CUstream::null(), params, null_mut()));
        code!(cuCtxSynchronize())
    };
    let out = alloc(8);
    assert_eq!(run(c"set", limit), CUresult::CUDA_SUCCESS);
    assert_eq!(run(c"get", out), CUresult::CUDA_SUCCESS);
    assert_eq!(read::<u32>(out, 2), [7, 14]);
    // Hardware does not promise which of the two values such a kernel reads.
    assert_eq!(run(c"both", limit), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    drop(context);
}
