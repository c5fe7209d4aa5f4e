//! Modules, functions, launches, and the state after a fault.

use core::cell::Cell;
use core::ffi::{CStr, c_char, c_void};
use core::ptr::null_mut;

use cuprum_emulator::report::FaultKind;
use cuprum_sys::*;
use cuprum_testing::driver_calls::*;
use cuprum_testing::processes::in_child;

const INVALID_VALUE: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const INVALID_HANDLE: CUresult = CUresult::CUDA_ERROR_INVALID_HANDLE;
const NOT_FOUND: CUresult = CUresult::CUDA_ERROR_NOT_FOUND;

/// `scale(float *data, float factor, unsigned n)`: data[i] *= factor; with a constant, a variable
/// that contains an address, and static shared memory in a second kernel.
const PTX: &CStr = c"
.version 7.0
.target sm_50
.address_size 64

.visible .const .align 4 .f32 offset = 0f3F800000;
.visible .global .align 4 .u32 table[4] = {10, 20, 30, 40};
.visible .global .align 8 .u64 pointer = table+8;

.visible .entry scale(.param .u64 data, .param .f32 factor, .param .u32 n)
{
    .reg .pred %p<2>;
    .reg .f32 %f<4>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [data];
    ld.param.f32 %f1, [factor];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra DONE;
    cvta.to.global.u64 %rd2, %rd1;
    mul.wide.u32 %rd3, %r5, 4;
    add.s64 %rd4, %rd2, %rd3;
    ld.global.f32 %f2, [%rd4];
    mul.f32 %f3, %f2, %f1;
    st.global.f32 [%rd4], %f3;
DONE:
    ret;
}

.visible .entry limited(.param .u64 out)
.maxntid 64, 1, 1
{
    .shared .align 4 .b8 space[1024];
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, space;
    st.shared.u32 [%r1], %r1;
    st.global.u32 [%rd2], %r1;
    ret;
}
";

fn load(image: &CStr) -> CUmodule {
    let mut module = CUmodule::null();
    ok!(cuModuleLoadData(&mut module, image.as_ptr().cast()));
    module
}

fn function(module: CUmodule, name: &CStr) -> CUfunction {
    let mut function = CUfunction::null();
    ok!(cuModuleGetFunction(&mut function, module, name.as_ptr()));
    function
}

/// Launches `scale` over `blocks` blocks of 128 threads.
fn scale(function: CUfunction, data: CUdeviceptr, factor: f32, n: u32, blocks: u32) -> CUresult {
    let (mut data, mut factor, mut n) = (data, factor, n);
    let mut params: [*mut c_void; 3] =
        [(&raw mut data).cast(), (&raw mut factor).cast(), (&raw mut n).cast()];
    let stream = CUstream::null();
    code!(cuLaunchKernel(function, blocks, 1, 1, 128, 1, 1, 0, stream, params.as_mut_ptr(), null_mut()))
}

#[test]
fn a_kernel_does_its_work_with_either_kind_of_arguments() {
    let _context = TestContext::new();
    let module = load(PTX);
    let scale_function = function(module, c"scale");
    assert_eq!(function(module, c"scale"), scale_function);
    let data = alloc(4000);
    let values: Vec<f32> = (0..1000).map(|value| value as f32).collect();
    write(data, &values);
    assert_eq!(scale(scale_function, data, 2.0, 1000, 8), CUresult::CUDA_SUCCESS);
    ok!(cuCtxSynchronize());
    let doubled: Vec<f32> = values.iter().map(|value| value * 2.0).collect();
    assert_eq!(read::<f32>(data, 1000), doubled);

    let mut buffer = Vec::new();
    buffer.extend(data.to_ne_bytes());
    buffer.extend(0.5f32.to_ne_bytes());
    buffer.extend(1000u32.to_ne_bytes());
    let size = Cell::new(buffer.len());
    let mut extra = [
        CU_LAUNCH_PARAM_BUFFER_POINTER,
        buffer.as_mut_ptr().cast(),
        CU_LAUNCH_PARAM_BUFFER_SIZE,
        size.as_ptr().cast(),
        CU_LAUNCH_PARAM_END,
    ];
    let stream = CUstream::null();
    let launch = |extra: &mut [*mut c_void]| {
        code!(cuLaunchKernel(scale_function, 8, 1, 1, 128, 1, 1, 0, stream, null_mut(), extra.as_mut_ptr()))
    };
    assert_eq!(launch(&mut extra), CUresult::CUDA_SUCCESS);
    assert_eq!(read::<f32>(data, 1000), values);
    size.set(8);
    assert_eq!(launch(&mut extra), INVALID_VALUE);

    let config = CUlaunchConfig {
        gridDimX: 8,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 128,
        blockDimY: 1,
        blockDimZ: 1,
        ..CUlaunchConfig::zeroed()
    };
    size.set(buffer.len());
    ok!(cuLaunchKernelEx(&config, scale_function, null_mut(), extra.as_mut_ptr()));
    assert_eq!(read::<f32>(data, 3), [0.0, 0.5, 1.0]);
}

#[test]
fn globals_have_addresses_initial_values_and_relocations() {
    let _context = TestContext::new();
    let module = load(PTX);
    let global = |name: &CStr| {
        let (mut address, mut bytes) = (0, 0);
        ok!(cuModuleGetGlobal_v2(&mut address, &mut bytes, module, name.as_ptr()));
        (address, bytes)
    };
    let (table, bytes) = global(c"table");
    assert_eq!(bytes, 16);
    assert_eq!(read::<u32>(table, 4), [10, 20, 30, 40]);
    assert_eq!(read::<u64>(global(c"pointer").0, 1), [table + 8]);
    assert_eq!(read::<f32>(global(c"offset").0, 1), [1.0]);
    let mut address = 0;
    let missing = c"missing".as_ptr();
    assert_eq!(code!(cuModuleGetGlobal_v2(&mut address, null_mut(), module, missing)), NOT_FOUND);
    ok!(cuModuleUnload(module));
    assert_eq!(code!(cuModuleUnload(module)), INVALID_HANDLE);
    let to = (&raw mut address).cast();
    assert_eq!(code!(cuMemcpyDtoH_v2(to, table, 4)), INVALID_VALUE);
}

#[test]
fn functions_know_their_limits_and_parameters() {
    let _context = TestContext::new();
    let module = load(PTX);
    let (scale_function, limited) = (function(module, c"scale"), function(module, c"limited"));
    let mut missing = CUfunction::null();
    assert_eq!(code!(cuModuleGetFunction(&mut missing, module, c"nothing".as_ptr())), NOT_FOUND);
    use CUfunction_attribute as A;
    let attribute = |function, which| {
        let mut value = -1;
        ok!(cuFuncGetAttribute(&mut value, which, function));
        value
    };
    assert_eq!(attribute(scale_function, A::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
    assert_eq!(attribute(limited, A::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 64);
    assert_eq!(attribute(limited, A::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES), 1024);
    assert_eq!(attribute(limited, A::CU_FUNC_ATTRIBUTE_PTX_VERSION), 50);
    assert_eq!(attribute(limited, A::CU_FUNC_ATTRIBUTE_BINARY_VERSION), 90);
    let dynamic = A::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    assert_eq!(attribute(limited, dynamic), (48 << 10) - 1024);
    assert_eq!(code!(cuFuncSetAttribute(limited, dynamic, 227 << 10)), INVALID_VALUE);
    ok!(cuFuncSetAttribute(limited, dynamic, (227 << 10) - 1024));
    assert_eq!(attribute(limited, dynamic), (227 << 10) - 1024);

    let (mut offset, mut size, mut params) = (9, 9, Vec::new());
    while code!(cuFuncGetParamInfo(scale_function, params.len(), &mut offset, &mut size))
        == CUresult::CUDA_SUCCESS
    {
        params.push((offset, size));
    }
    assert_eq!(params, [(0, 8), (8, 4), (12, 4)]);
    let mut name: *const c_char = core::ptr::null();
    ok!(cuFuncGetName(&mut name, limited));
    // SAFETY: a string that lives as long as the module.
    assert_eq!(unsafe { CStr::from_ptr(name) }, c"limited");
    let (mut count, mut functions) = (0, [CUfunction::null(); 2]);
    ok!(cuModuleGetFunctionCount(&mut count, module));
    ok!(cuModuleEnumerateFunctions(functions.as_mut_ptr(), 2, module));
    assert_eq!((count, functions), (2, [scale_function, limited]));
    let (mut blocks, mut grid, mut block) = (0, 0, 0);
    ok!(cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, limited, 64, 100 << 10));
    assert_eq!(blocks, 2);
    ok!(cuOccupancyMaxPotentialBlockSize(&mut grid, &mut block, limited, None, 0, 0));
    assert_eq!(block, 64);
}

#[test]
fn impossible_launches_are_refused_at_once() {
    let _context = TestContext::new();
    let module = load(PTX);
    let limited = function(module, c"limited");
    let out = alloc(4);
    let launch = |function, grid: [u32; 3], block: [u32; 3], shared| {
        let mut out = out;
        let mut params: [*mut c_void; 1] = [(&raw mut out).cast()];
        let stream = CUstream::null();
        code!(cuLaunchKernel(
            function,
            grid[0],
            grid[1],
            grid[2],
            block[0],
            block[1],
            block[2],
            shared,
            stream,
            params.as_mut_ptr(),
            null_mut(),
        ))
    };
    let one = [1, 1, 1];
    assert_eq!(launch(limited, one, [64, 1, 1], 0), CUresult::CUDA_SUCCESS);
    assert_eq!(launch(limited, [0, 1, 1], one, 0), INVALID_VALUE);
    assert_eq!(launch(limited, [1, 65536, 1], one, 0), INVALID_VALUE);
    assert_eq!(launch(limited, one, [1, 0, 1], 0), INVALID_VALUE);
    assert_eq!(launch(limited, one, [1025, 1, 1], 0), INVALID_VALUE);
    assert_eq!(launch(limited, one, [1, 1, 65], 0), INVALID_VALUE);
    assert_eq!(launch(limited, one, [32, 33, 1], 0), INVALID_VALUE);
    assert_eq!(launch(limited, one, [65, 1, 1], 0), INVALID_VALUE);
    assert_eq!(launch(limited, one, one, 48 << 10), INVALID_VALUE);
    assert_eq!(launch(CUfunction(module.0), one, one, 0), INVALID_HANDLE);
    let no_params =
        code!(cuLaunchKernel(limited, 1, 1, 1, 1, 1, 1, 0, CUstream::null(), null_mut(), null_mut()));
    assert_eq!(no_params, INVALID_VALUE);
    let _other = TestContext::new();
    assert_eq!(launch(limited, one, one, 0), INVALID_HANDLE);
}

/// As on an H200 (driver 580): a block of one thread stands for the block that a kernel requires.
#[test]
fn a_required_block_replaces_a_single_thread() {
    let _context = TestContext::new();
    let module = load(
        c".version 8.0\n.target sm_52\n.address_size 64\n.visible .global .u32 n;
        .visible .entry k() .reqntid 8, 4 { .reg .b32 %r; atom.global.add.u32 %r, [n], 1; ret; }",
    );
    let kernel = function(module, c"k");
    let (mut count, mut bytes) = (0, 0);
    ok!(cuModuleGetGlobal_v2(&mut count, &mut bytes, module, c"n".as_ptr()));
    let launch =
        |x, y| code!(cuLaunchKernel(kernel, 1, 1, 1, x, y, 1, 0, CUstream::null(), null_mut(), null_mut()));
    for (x, y) in [(32, 1), (4, 8), (1, 4), (8, 1), (2, 1)] {
        assert_eq!(launch(x, y), CUresult::CUDA_ERROR_INVALID_VALUE, "{x} x {y}");
    }
    assert_eq!([launch(1, 1), launch(8, 4)], [CUresult::CUDA_SUCCESS; 2]);
    assert_eq!(read::<u32>(count, 1), [64]);
    assert_eq!(
        code!(cuModuleGetGlobal_v2(&mut count, &mut bytes, module, c"".as_ptr())),
        CUresult::CUDA_ERROR_INVALID_VALUE
    );
}

#[test]
fn a_fault_is_sticky_and_leaves_other_contexts_alone() {
    in_child("launch::a_fault_is_sticky_and_leaves_other_contexts_alone", &[], sticky_fault);
}

fn sticky_fault() {
    let healthy = TestContext::new();
    let good = alloc(64);
    write(good, &[7u32]);
    let poisoned = TestContext::new();
    let module = load(PTX);
    let data = alloc(400);
    // 128 threads, but memory for 100 numbers: the launch itself succeeds.
    assert_eq!(scale(function(module, c"scale"), data, 1.0, 128, 1), CUresult::CUDA_SUCCESS);
    let illegal = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
    assert_eq!(code!(cuCtxSynchronize()), illegal);
    let mut pointer = 0;
    assert_eq!(code!(cuMemAlloc_v2(&mut pointer, 4)), illegal);
    assert_eq!(code!(cuMemFree_v2(data)), illegal);
    assert_eq!(code!(cuStreamSynchronize(CUstream::null())), illegal);

    let fault = cuprum_emulator::last_fault().unwrap();
    assert_eq!(fault.kind, FaultKind::OutOfBounds);
    assert_eq!((fault.kernel.as_str(), fault.block, fault.thread), ("scale", [0; 3], [100, 0, 0]));
    assert!(fault.ptx_text.contains("ld.global.f32"), "{fault}");
    let access = fault.access.unwrap();
    assert_eq!((access.address, access.size, access.is_write), (data + 400, 4, false));
    assert_eq!(access.allocation.unwrap().len, 400);

    ok!(cuCtxPopCurrent_v2(null_mut()));
    assert_eq!(read::<u32>(good, 1), [7]);
    ok!(cuCtxDestroy_v2(poisoned.0));
    assert_eq!(current(), healthy.0);
}

#[test]
fn an_info_log_with_nothing_to_say_is_empty() {
    let _context = TestContext::new();
    for image in [PTX, c".version 7.0\n.target sm_50\nblah\n"] {
        let mut info = [b'#'; 100];
        let mut options =
            [CUjit_option::CU_JIT_INFO_LOG_BUFFER, CUjit_option::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES];
        let mut values = [info.as_mut_ptr().cast::<c_void>(), core::ptr::without_provenance_mut(info.len())];
        let mut module = CUmodule::null();
        let _ = code!(cuModuleLoadDataEx(
            &mut module,
            image.as_ptr().cast(),
            2,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        ));
        assert_eq!(info[..2], *b"\0#", "{module:?}");
    }
}

/// Loads with an error log. Returns the code and the log.
fn load_logged(image: &CStr) -> (CUresult, String) {
    let mut module = CUmodule::null();
    let mut log = [0u8; 2000];
    let mut options =
        [CUjit_option::CU_JIT_ERROR_LOG_BUFFER, CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    let mut values = [log.as_mut_ptr().cast::<c_void>(), core::ptr::without_provenance_mut(log.len())];
    let result = code!(cuModuleLoadDataEx(
        &mut module,
        image.as_ptr().cast(),
        2,
        options.as_mut_ptr(),
        values.as_mut_ptr()
    ));
    let text = CStr::from_bytes_until_nul(&log).unwrap().to_str().unwrap().to_owned();
    assert_eq!(values[1].addr(), text.len());
    (result, text)
}

#[test]
fn what_cannot_be_loaded_is_explained_in_the_log() {
    let _context = TestContext::new();
    assert_eq!(load_logged(PTX), (CUresult::CUDA_SUCCESS, String::new()));
    let broken = c".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry k() {\n  blah;\n}\n";
    let (result, log) = load_logged(broken);
    assert_ne!(result, CUresult::CUDA_SUCCESS);
    assert!(log.contains("line 5") && log.contains("blah"), "{log}");
    let (result, log) = load_logged(c".version 7.0\n.target sm_50\n.visible .entry (\n");
    assert_eq!(result, CUresult::CUDA_ERROR_INVALID_PTX, "{log}");
    assert!(log.contains("line 3"), "{log}");
    let (result, log) = load_logged(c".version 99.0\n.target sm_50\n");
    assert_eq!(result, CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "{log}");
    let (result, log) = load_logged(c"\x7fELF\x02\x01\x01");
    assert_eq!(result, CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU);
    assert!(log.contains("compute_XX"), "{log}");
    assert_eq!(load_logged(c"neither fish nor fowl").0, CUresult::CUDA_ERROR_INVALID_IMAGE);
    let mut module = CUmodule::null();
    let nowhere = c"/nonexistent.ptx".as_ptr();
    assert_eq!(code!(cuModuleLoad(&mut module, nowhere)), CUresult::CUDA_ERROR_FILE_NOT_FOUND);
    assert_eq!(code!(cuModuleLoadData(&mut module, core::ptr::null())), INVALID_VALUE);
}

#[test]
fn a_library_serves_every_context() {
    let mut library = CUlibrary::null();
    fns();
    ok!(cuLibraryLoadData(
        &mut library,
        PTX.as_ptr().cast(),
        null_mut(),
        null_mut(),
        0,
        null_mut(),
        null_mut(),
        0
    ));
    let mut kernel = CUkernel::null();
    ok!(cuLibraryGetKernel(&mut kernel, library, c"scale".as_ptr()));
    for _ in 0..2 {
        let _context = TestContext::new();
        let data = alloc(512);
        write(data, &[1.5f32; 128]);
        assert_eq!(scale(CUfunction(kernel.0), data, 2.0, 128, 1), CUresult::CUDA_SUCCESS);
        assert_eq!(read::<f32>(data, 128), [3.0; 128]);
        let mut function = CUfunction::null();
        ok!(cuKernelGetFunction(&mut function, kernel));
        assert_eq!(scale(function, data, 2.0, 1, 1), CUresult::CUDA_SUCCESS);
        assert_eq!(read::<f32>(data, 2), [6.0, 3.0]);
        let (mut address, mut bytes) = (0, 0);
        ok!(cuLibraryGetGlobal(&mut address, &mut bytes, library, c"table".as_ptr()));
        assert_eq!(read::<u32>(address, 1), [10]);
    }
    ok!(cuLibraryUnload(library));
    assert_eq!(code!(cuLibraryUnload(library)), INVALID_HANDLE);
    assert_eq!(code!(cuLibraryGetKernel(&mut kernel, library, c"scale".as_ptr())), INVALID_HANDLE);
}

#[test]
fn the_calls_from_before_cuda_4_still_launch() {
    let _context = TestContext::new();
    let scale_function = function(load(PTX), c"scale");
    let data = alloc(512);
    write(data, &[1.5f32; 128]);
    let mut pointer = data;
    ok!(cuFuncSetBlockShape(scale_function, 64, 1, 1));
    ok!(cuFuncSetSharedSize(scale_function, 0));
    ok!(cuParamSetv(scale_function, 0, (&raw mut pointer).cast(), 8));
    ok!(cuParamSetf(scale_function, 8, 4.0));
    ok!(cuParamSeti(scale_function, 12, 100));
    ok!(cuParamSetSize(scale_function, 16));
    ok!(cuLaunchGrid(scale_function, 2, 1));
    let scaled = read::<f32>(data, 128);
    assert_eq!(scaled[..100], [6.0; 100]);
    assert_eq!(scaled[100..], [1.5; 28]);
    assert_eq!(code!(cuLaunchGrid(scale_function, 0, 1)), INVALID_VALUE);
    assert_eq!(code!(cuFuncSetBlockShape(scale_function, 0, 1, 1)), INVALID_VALUE);
    assert_eq!(code!(cuParamSeti(scale_function, -4, 0)), INVALID_VALUE);
}
