//! Relocatable device code: lists of fat binaries to link, and the device runtime library.

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use cuprum_sys::*;
use cuprum_testing::driver_calls::*;

const HEADER: &str = ".version 7.8\n.target sm_75\n.address_size 64\n";

const DECLARATIONS: &str = "
.extern .func (.param .b64 r) cudaCGGetIntrinsicHandle(.param .b32 a);
.extern .func (.param .b32 r) cudaCGSynchronize(.param .b64 a, .param .b32 b);
.extern .func (.param .b32 r) cudaCGGetSize(.param .b64 a, .param .b64 b, .param .b64 c);
.extern .func (.param .b32 r) cudaCGGetRank(.param .b64 a, .param .b64 b, .param .b64 c);
.extern .func (.param .b32 r) shared_helper(.param .b32 a);
";

/// Each thread writes its rank, waits for the grid, and adds the rank at the grid's other end.
const KERNEL: &str = "
.visible .entry meet(.param .u64 out)
{
    .reg .b32 %r<12>;
    .reg .b64 %rd<12>;
    .local .align 4 .b8 places[8];
    .param .b32 scope;
    .param .b64 handle;
    .param .b64 a;
    .param .b64 b;
    .param .b32 code;
    ld.param.u64 %rd0, [out];
    mov.b32 %r9, SCOPE;
    st.param.b32 [scope], %r9;
    call (handle), cudaCGGetIntrinsicHandle, (scope);
    ld.param.b64 %rd1, [handle];
    mov.u64 %rd2, places;
    cvta.local.u64 %rd2, %rd2;
    add.u64 %rd3, %rd2, 4;
    st.param.b64 [a], %rd2;
    st.param.b64 [b], %rd3;
    st.param.b64 [handle], %rd1;
    call (code), cudaCGGetSize, (a, b, handle);
    ld.param.b32 %r8, [code];
    ld.u32 %r0, [%rd2];
    call (code), cudaCGGetRank, (a, b, handle);
    ld.u32 %r1, [%rd2];
    mul.wide.u32 %rd4, %r1, 4;
    add.u64 %rd4, %rd0, %rd4;
    st.global.u32 [%rd4], %r1;
    st.param.b32 [scope], 0;
    call (code), cudaCGSynchronize, (handle, scope);
    ld.param.b32 %r2, [code];
    or.b32 %r8, %r8, %r2;
    not.b32 %r3, %r1;
    add.u32 %r3, %r0, %r3;
    mul.wide.u32 %rd5, %r3, 4;
    add.u64 %rd5, %rd0, %rd5;
    ld.volatile.global.u32 %r4, [%rd5];
    call (code), cudaCGSynchronize, (handle, scope);
    st.param.b32 [scope], %r4;
    call (code), shared_helper, (scope);
    ld.param.b32 %r4, [code];
    add.u32 %r5, %r1, %r4;
    mad.lo.u32 %r5, %r8, 1000, %r5;
    st.global.u32 [%rd4], %r5;
    ret;
}
";

const HELPER: &str = "
.visible .func (.param .b32 r) shared_helper(.param .b32 a)
{
    .reg .b32 %r<2>;
    ld.param.u32 %r0, [a];
    add.u32 %r0, %r0, 5;
    st.param.b32 [r], %r0;
    ret;
}
";

fn kernel() -> String {
    format!("{HEADER}{DECLARATIONS}{}", KERNEL.replace("SCOPE", "1"))
}

fn helper() -> String {
    format!("{HEADER}{HELPER}")
}

fn container(ptx: &str) -> Vec<u64> {
    let mut payload = ptx.as_bytes().to_vec();
    payload.resize((payload.len() + 1).next_multiple_of(8), 0);
    let mut entry = vec![0u8; 64];
    entry[0..4].copy_from_slice(&[1, 0, 1, 1]);
    entry[4..8].copy_from_slice(&64u32.to_le_bytes());
    entry[8..16].copy_from_slice(&(payload.len() as u64).to_le_bytes());
    entry[28..32].copy_from_slice(&75u32.to_le_bytes());
    let files = (entry.len() + payload.len()) as u64;
    let mut bytes = 0x0010_0001_ba55_ed50_u64.to_le_bytes().to_vec();
    bytes.extend(files.to_le_bytes());
    bytes.extend(entry);
    bytes.extend(payload);
    bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect()
}

/// Wrapper that a C compiler puts around a list of fat binaries.
#[repr(C)]
struct Wrapper {
    magic: u32,
    version: u32,
    linked: *const u64,
    list: *const *const u64,
}

/// Returns an archive: an empty symbol table, the table of long names, one member of this name.
pub(crate) fn archive(member: &str) -> Vec<u8> {
    let header =
        |name: &str, size: usize| format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, 0, 0);
    let mut names = format!("{member}\n");
    if names.len() % 2 == 1 {
        names.push('\n');
    }
    let (symbols, table, object) = (header("/", 0), header("//", names.len()), header("/0", 4));
    format!("!<arch>\n{symbols}{table}{names}{object}xxxx").into_bytes()
}

/// Launches four blocks of 48 threads, and checks the result of each thread.
fn assert_meets(module: CUmodule) {
    const THREADS: u32 = 4 * 48;
    let mut function = CUfunction::null();
    ok!(cuModuleGetFunction(&mut function, module, c"meet".as_ptr()));
    let mut out = alloc(4 * THREADS as usize);
    let place = out;
    let mut params: [*mut c_void; 1] = [(&raw mut out).cast()];
    let stream = CUstream::null();
    ok!(cuLaunchCooperativeKernel(function, 2, 2, 1, 8, 3, 2, 0, stream, params.as_mut_ptr()));
    let expected = vec![THREADS - 1 + 5; THREADS as usize];
    assert_eq!(read::<u32>(place, THREADS as usize), expected);
}

#[test]
fn a_list_of_fat_binaries_is_linked() {
    let _context = TestContext::new();
    let (first, second) = (container(&kernel()), container(&helper()));
    let empty = [0x0010_0001_ba55_ed50_u64, 0];
    let list = [first.as_ptr(), second.as_ptr(), null()];
    let wrapper = Wrapper { magic: 0x4662_43b1, version: 2, linked: empty.as_ptr(), list: list.as_ptr() };
    let mut module = CUmodule::null();
    ok!(cuModuleLoadData(&mut module, (&raw const wrapper).cast()));
    assert_meets(module);
    // Without the binary with the definitions.
    let list = [first.as_ptr(), null()];
    let wrapper = Wrapper { list: list.as_ptr(), ..wrapper };
    let refused = code!(cuModuleLoadData(&mut module, (&raw const wrapper).cast()));
    assert_eq!(refused, CUresult::CUDA_ERROR_INVALID_PTX);
    let list = [empty.as_ptr(), null()];
    let wrapper = Wrapper { list: list.as_ptr(), ..wrapper };
    let refused = code!(cuModuleLoadData(&mut module, (&raw const wrapper).cast()));
    assert_eq!(refused, CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU);
    let wrapper = Wrapper { list: null(), ..wrapper };
    let refused = code!(cuModuleLoadData(&mut module, (&raw const wrapper).cast()));
    assert_eq!(refused, CUresult::CUDA_ERROR_INVALID_VALUE);
}

#[test]
fn the_library_of_the_device_runtime_is_built_in() {
    let _context = TestContext::new();
    let link = |with: &[u8]| {
        let mut link = CUlinkState::null();
        ok!(cuLinkCreate_v2(0, null_mut(), null_mut(), &mut link));
        let add = |kind, bytes: &[u8]| {
            let data = bytes.as_ptr().cast_mut().cast();
            code!(cuLinkAddData_v2(link, kind, data, bytes.len(), c"x".as_ptr(), 0, null_mut(), null_mut()))
        };
        for text in [kernel(), helper()] {
            let code = add(CUjitInputType::CU_JIT_INPUT_PTX, format!("{text}\0").as_bytes());
            assert_eq!(code, CUresult::CUDA_SUCCESS);
        }
        let added = add(CUjitInputType::CU_JIT_INPUT_LIBRARY, with);
        let (mut image, mut size) = (NULL, 0);
        let completed = code!(cuLinkComplete(link, &mut image, &mut size));
        if completed == CUresult::CUDA_SUCCESS {
            let mut module = CUmodule::null();
            ok!(cuModuleLoadData(&mut module, image));
            assert_meets(module);
        }
        ok!(cuLinkDestroy(link));
        (added, completed)
    };
    let success = CUresult::CUDA_SUCCESS;
    assert_eq!(link(&archive("cuda_device_runtime.o/")), (success, success));
    // As on hardware, its definitions are missing without it.
    let refused = (CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU, CUresult::CUDA_ERROR_INVALID_SOURCE);
    assert_eq!(link(&archive("other.o/")), refused);
    assert_eq!(link(b"!<arch>\n"), refused);
}

/// libgpuarray finds these by name. An H200 answers as by the names with `_v2`.
#[test]
fn the_names_of_cuda_5_5_link_like_the_later_ones() {
    let _context = TestContext::new();
    let path = std::env::temp_dir().join(format!("cuprum-link-{}.ptx", std::process::id()));
    std::fs::write(&path, helper()).unwrap();
    let file = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
    let (mut link, ptx) = (CUlinkState::null(), CUjitInputType::CU_JIT_INPUT_PTX);
    let (mut option, mut value) = (CUjit_option::CU_JIT_MAX_REGISTERS, core::ptr::without_provenance_mut(32));
    ok!(cuLinkCreate(1, &mut option, &mut value, &mut link));
    let text = format!("{}\0", kernel());
    let add = |bytes: &[u8]| {
        let data = bytes.as_ptr().cast_mut().cast();
        code!(cuLinkAddData(link, ptx, data, bytes.len(), c"kernel".as_ptr(), 0, null_mut(), null_mut()))
    };
    assert_eq!(add(text.as_bytes()), CUresult::CUDA_SUCCESS);
    ok!(cuLinkAddFile(link, ptx, file.as_ptr(), 0, null_mut(), null_mut()));
    let library = archive("cuda_device_runtime.o/");
    let (data, kind) = (library.as_ptr().cast_mut().cast(), CUjitInputType::CU_JIT_INPUT_LIBRARY);
    ok!(cuLinkAddData(link, kind, data, library.len(), c"x".as_ptr(), 0, null_mut(), null_mut()));
    let (mut image, mut size, mut module) = (NULL, 0, CUmodule::null());
    ok!(cuLinkComplete(link, &mut image, &mut size));
    ok!(cuModuleLoadData(&mut module, image));
    assert_meets(module);
    // The link is complete.
    assert_eq!(add(text.as_bytes()), CUresult::CUDA_ERROR_INVALID_VALUE);
    ok!(cuLinkDestroy(link));
    std::fs::remove_file(path).unwrap();
}

/// Two inputs whose variables and functions of their own have the same names.
fn inputs_with_names_of_their_own() -> [String; 2] {
    [("k", "{5, 6}", 7), ("l", "{8, 9}", 10)].map(|(kernel, constants, result)| {
        format!(
            "{HEADER}.file 1 \"{kernel}.cu\"
            .const .u32 text[2] = {constants};
            .func (.param .b32 r) own() {{ st.param.b32 [r], {result}; ret; }}
            .visible .entry {kernel}(.param .u64 out) {{
                .reg .b32 %a, %b; .reg .b64 %x;
                .param .b32 r<2>;
                .loc 1 7 1
                ld.param.u64 %x, [out];
                ld.const.u32 %a, [text+4];
                call (r1), own, ();
                ld.param.b32 %b, [r1];
                st.global.v2.u32 [%x], {{%a, %b}};
                ret;
            }}\n"
        )
    })
}

#[test]
fn names_that_are_not_visible_belong_to_their_input() {
    let _context = TestContext::new();
    let inputs = inputs_with_names_of_their_own().map(|text| container(&text));
    let list = [inputs[0].as_ptr(), inputs[1].as_ptr(), null()];
    let wrapper = Wrapper { magic: 0x4662_43b1, version: 2, linked: list[0], list: list.as_ptr() };
    let mut module = CUmodule::null();
    ok!(cuModuleLoadData(&mut module, (&raw const wrapper).cast()));
    for (kernel, expected) in [(c"k", [6, 7]), (c"l", [9, 10])] {
        let mut function = CUfunction::null();
        ok!(cuModuleGetFunction(&mut function, module, kernel.as_ptr()));
        let mut out = alloc(8);
        let mut params: [*mut c_void; 1] = [(&raw mut out).cast()];
        let params = params.as_mut_ptr();
        ok!(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, CUstream::null(), params, null_mut()));
        assert_eq!(read::<u32>(out, 2), expected, "{kernel:?}");
    }
    // The name alone leads to the first of them.
    let (mut at, mut bytes) = (CUdeviceptr::default(), 0);
    ok!(cuModuleGetGlobal_v2(&mut at, &mut bytes, module, c"text".as_ptr()));
    assert_eq!(read::<u32>(at, 2), [5, 6]);
}

#[test]
fn a_second_definition_ends_the_link() {
    let _context = TestContext::new();
    let mut link = CUlinkState::null();
    ok!(cuLinkCreate_v2(0, null_mut(), null_mut(), &mut link));
    let add = |text: &str| {
        let (text, name) = (format!("{text}\0"), c"input".as_ptr());
        let data = text.as_ptr().cast_mut().cast();
        let kind = CUjitInputType::CU_JIT_INPUT_PTX;
        code!(cuLinkAddData_v2(link, kind, data, text.len(), name, 0, null_mut(), null_mut()))
    };
    let kernel = format!("{HEADER}.visible .entry k() {{ ret; }}\n");
    assert_eq!(add(&helper()), CUresult::CUDA_SUCCESS);
    // Texts that are wrong by themselves do not count.
    let twice = format!("{kernel}.visible .entry k() {{ ret; }}\n");
    for wrong in [kernel.replace("ret", "add.u32 %a, %a, 1"), twice] {
        assert_eq!(add(&wrong), CUresult::CUDA_ERROR_INVALID_PTX);
    }
    assert_eq!(add(&kernel), CUresult::CUDA_SUCCESS);
    assert_eq!(add(&helper()), CUresult::CUDA_ERROR_INVALID_SOURCE);
    assert_eq!(add(&kernel.replace("entry k", "entry l")), CUresult::CUDA_ERROR_INVALID_SOURCE);
    let (mut image, mut size) = (NULL, 0);
    assert_eq!(code!(cuLinkComplete(link, &mut image, &mut size)), CUresult::CUDA_ERROR_INVALID_SOURCE);
    ok!(cuLinkDestroy(link));
}

/// Codes of the second input and of the end of a link of two inputs, as on an H200 (driver 580,
/// 2026-11-28). `DEFINED` is `f`, and `CALLED` is a declaration of it that is called.
#[test]
fn two_inputs_agree_as_on_hardware() {
    const DEFINED: &str = ".visible .func (.param .u32 r) f(.param .u32 a) { ret; }";
    const CALLED: &str = ".extern .func (.param .u32 r) f(.param .u32 a);
        .visible .entry k() { .param .u32 p; call (p), f, (p); ret; }";
    const SUCCESS: CUresult = CUresult::CUDA_SUCCESS;
    const WRONG: CUresult = CUresult::CUDA_ERROR_INVALID_SOURCE;
    let cases = [
        (CALLED, DEFINED, [SUCCESS, SUCCESS]),
        (CALLED, "", [SUCCESS, WRONG]),
        // A register is passed like a parameter.
        (CALLED, ".visible .func (.reg .u32 r) f(.reg .u32 a) { ret; }", [SUCCESS, SUCCESS]),
        (CALLED, ".visible .entry f() { ret; }", [WRONG, WRONG]),
        // Without a call, a declaration does not count.
        (DEFINED, ".extern .func f(.param .u64 a);", [SUCCESS, SUCCESS]),
        (".extern .func f();", ".visible .entry f() { ret; }", [SUCCESS, SUCCESS]),
        (".extern .func f();", ".visible .global .u32 f;", [SUCCESS, SUCCESS]),
        (".extern .global .u32 f;", "", [SUCCESS, WRONG]),
        (DEFINED, ".visible .func f(); .visible .func g() { ret; } .alias f, g;", [WRONG, WRONG]),
        (".common .global .u32 g;", ".visible .global .u64 g = 1;", [SUCCESS, SUCCESS]),
        (".common .global .u64 g;", ".visible .global .u32 g = 1;", [WRONG, WRONG]),
        (".visible .global .u32 g = 1;", ".global .u32 g = 2; .extern .global .u32 g;", [SUCCESS, SUCCESS]),
    ];
    let _context = TestContext::new();
    for (first, second, expected) in cases {
        let mut link = CUlinkState::null();
        ok!(cuLinkCreate_v2(0, null_mut(), null_mut(), &mut link));
        let codes = [first, second].map(|text| {
            let text = format!("{HEADER}{text}\0");
            let (data, kind) = (text.as_ptr().cast_mut().cast(), CUjitInputType::CU_JIT_INPUT_PTX);
            let name = c"input".as_ptr();
            code!(cuLinkAddData_v2(link, kind, data, text.len(), name, 0, null_mut(), null_mut()))
        });
        let (mut image, mut size) = (NULL, 0);
        let end = code!(cuLinkComplete(link, &mut image, &mut size));
        assert_eq!((codes[0], [codes[1], end]), (SUCCESS, expected), "{first}\n{second}");
        ok!(cuLinkDestroy(link));
    }
}
