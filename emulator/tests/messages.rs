//! Messages, in addition to codes, about unsupported functions: once each, with an alternative.
//!
//! A separate program: the hook belongs to the process, and messages appear once per process.

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::sync::{Mutex, PoisonError};

use cuprum_emulator::{Message, set_message_hook};
use cuprum_sys::*;
use cuprum_testing::driver_calls::*;

const NO_BINARY: CUresult = CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU;
const NOT_SUPPORTED: CUresult = CUresult::CUDA_ERROR_NOT_SUPPORTED;
const HEADER: &str = ".version 8.8\n.target sm_90a\n.address_size 64\n";

static HEARD: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Returns the messages that contain this text. Parallel tests search for their own words.
fn heard(part: &str) -> Vec<String> {
    let heard = HEARD.lock().unwrap_or_else(PoisonError::into_inner);
    heard.iter().filter(|text| text.contains(part)).cloned().collect()
}

fn listen() {
    set_message_hook(|message: &Message<'_>| {
        HEARD.lock().unwrap_or_else(PoisonError::into_inner).push(message.to_string());
    });
}

#[track_caller]
fn assert_says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
}

/// Calls unimplemented functions twice: one message with the name and the listed reason.
#[test]
fn a_function_that_is_not_implemented_says_so_once() {
    listen();
    let library = cuprum_emulator::library();
    for &id in FnId::ALL.iter().filter(|&&id| !cuprum_emulator::implements(id)) {
        let name = id.symbol().name.to_str().unwrap();
        // SAFETY: a function that is not implemented reads none of its arguments, whatever its
        // signature.
        let function = unsafe {
            core::mem::transmute::<*const c_void, unsafe extern "system" fn() -> CUresult>(
                library.address(id),
            )
        };
        for _ in 0..2 {
            // SAFETY: as above.
            assert_eq!(unsafe { function() }, NOT_SUPPORTED, "{name}");
        }
        let said = heard(&format!("{name} answers CUDA_ERROR_NOT_SUPPORTED: "));
        let [said] = &*said else { panic!("{name}: {said:?}") };
        let (_, reason) = said.split_once(": ").unwrap();
        assert!(reason.len() > 30 && !reason.contains("these arguments"), "{name}: {reason}");
    }
}

/// NVRTC also requests a table, and works without it.
#[test]
fn only_the_runtimes_table_means_a_program_of_the_runtime() {
    listen();
    let ask = |id: u128| {
        let (mut table, id) = (core::ptr::null(), CUuuid { bytes: id.to_be_bytes().map(|byte| byte as _) });
        assert_eq!(code!(cuGetExportTable(&mut table, &id)), NOT_SUPPORTED);
        heard("cuGetExportTable")
    };
    assert_eq!(ask(0xda91_51d3_3ae6_cc41_a5c0_4f26_d533_e328), [""; 0], "NVRTC's");
    let other = ask(7);
    assert!(other.len() == 1 && !other[0].contains("CUDA runtime"), "{other:?}");
    let said = ask(0x2131_8c60_9714_3248_8ca6_41ff_7324_c8f2);
    let runtime = said.iter().find(|one| one.contains("CUDA runtime")).expect("a message for cuFFT's");
    assert_says(runtime, &["CuPy", "PyTorch", "Device.sync", "Use the driver API"]);
    let count = said.len();
    assert_eq!(ask(0x6bd5_fb6c_5bf4_e74a_8987_d939_12fd_9df9).len(), count, "one reason is given once");
}

#[test]
fn arguments_that_are_not_supported_are_named_once_by_function() {
    listen();
    let _context = TestContext::new();
    let mut shape = CUDA_ARRAY3D_DESCRIPTOR::zeroed();
    (shape.Width, shape.Height, shape.NumChannels) = (64, 64, 1);
    (shape.Format, shape.Flags) = (CUarray_format::CU_AD_FORMAT_FLOAT, CUDA_ARRAY3D_SPARSE);
    let mut array = CUarray::null();
    for _ in 0..2 {
        assert_eq!(code!(cuArray3DCreate_v2(&mut array, &shape)), NOT_SUPPORTED);
    }
    let said = heard("cuArray3DCreate_v2 answers CUDA_ERROR_NOT_SUPPORTED: every array");
    assert_eq!(said.len(), 1, "{said:?}");
    assert_says(&said[0], &["leave out CUDA_ARRAY3D_SPARSE"]);
}

/// Each refusal of arguments has its own reason with an alternative; a function may have several.
#[test]
fn each_refusal_of_arguments_has_its_reason() {
    listen();
    let context = TestContext::new();
    let says = |function: &str, parts: &[&str]| {
        let said = heard(&format!("{function} answers CUDA_ERROR_NOT_SUPPORTED: "));
        assert!(parts.iter().all(|part| said.iter().any(|said| said.contains(part))), "{function}: {said:?}");
    };

    let mut props = CUmemAllocationProp::zeroed();
    props.type_ = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location.type_ = CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
    props.requestedHandleTypes = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_FABRIC;
    let mut handle = 0;
    assert_eq!(code!(cuMemCreate(&mut handle, 2 << 20, &props, 0)), NOT_SUPPORTED);
    says("cuMemCreate", &["ask for that type of handle, or none"]);

    let mut format = CUDA_ARRAY3D_DESCRIPTOR::zeroed();
    (format.Width, format.Height, format.NumChannels) = (64, 64, 3);
    format.Format = CUarray_format::CU_AD_FORMAT_NV12;
    let mut array = CUarray::null();
    assert_eq!(code!(cuArray3DCreate_v2(&mut array, &format)), NOT_SUPPORTED);
    says("cuArray3DCreate_v2", &["decode in a kernel"]);

    let mut graph = CUgraph::null();
    ok!(cuGraphCreate(&mut graph, 0));
    let (mut condition, mut node, mut copy) = (0, CUgraphNode::null(), CUgraph::null());
    ok!(cuGraphConditionalHandleCreate(&mut condition, graph, context.0, 0, 0));
    let mut params = CUgraphNodeParams::zeroed();
    params.type_ = CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL;
    params.u.conditional.handle = condition;
    params.u.conditional.type_ = CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_IF;
    params.u.conditional.size = 1;
    ok!(cuGraphAddNode(&mut node, graph, null(), 0, &mut params));
    assert_eq!(code!(cuGraphClone(&mut copy, graph)), NOT_SUPPORTED);
    says("cuGraphClone", &["build it again"]);
    assert_eq!(code!(cuGraphNodeSetParams(node, &mut params)), NOT_SUPPORTED);
    says("cuGraphNodeSetParams", &["destroy the node and add another"]);
    ok!(cuGraphDestroy(graph));

    let (location, device) = (CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0);
    let mut pool = CUmemoryPool::null();
    let mut place = CUmemLocation { type_: location, id: device };
    let kind = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
    assert_eq!(code!(cuMemGetDefaultMemPool(&mut pool, &mut place, kind)), NOT_SUPPORTED);
    says("cuMemGetDefaultMemPool", &["CU_MEM_LOCATION_TYPE_HOST_NUMA with the number 0"]);

    let everything = heard("answers CUDA_ERROR_NOT_SUPPORTED");
    assert!(everything.iter().all(|said| !said.contains("these arguments")), "{everything:?}");
}

#[test]
fn machine_code_is_refused_with_each_clients_way_out() {
    listen();
    let _context = TestContext::new();
    let image = b"\x7fELF machine code\0";
    let mut module = CUmodule::null();
    assert_eq!(code!(cuModuleLoadData(&mut module, image.as_ptr().cast())), NO_BINARY);
    let said = heard("module refused with CUDA_ERROR_NO_BINARY_FOR_GPU");
    let ways = ["nvidia-nvjitlink", "TRITON_PTXAS_PATH", "emulator/libcuda/bin", "compute_XX"];
    assert_says(&said[0], &ways);

    let mut library = CUlibrary::null();
    let load = code!(cuLibraryLoadData(
        &mut library,
        image.as_ptr().cast(),
        null_mut(),
        null_mut(),
        0,
        null_mut(),
        null_mut(),
        0
    ));
    // Any image creates a library; access to its contents is refused.
    assert_eq!(load, CUresult::CUDA_SUCCESS);
    let mut kernel = CUkernel::null();
    assert_eq!(code!(cuLibraryGetKernel(&mut kernel, library, c"k".as_ptr())), NO_BINARY);
    assert_eq!(heard("module refused with CUDA_ERROR_NO_BINARY_FOR_GPU").len(), 2);
}

fn ptx(body: &str) -> String {
    format!(
        "{HEADER}.visible .entry k()\n{{\n    .reg .b32 %r<4>;\n    .reg .b64 %rd<4>;\n    .reg .b16 %h<2>;\n{body}\n    ret;\n}}\n\0"
    )
}

#[test]
fn what_only_new_devices_have_is_refused_with_the_setting_that_avoids_it() {
    listen();
    let _context = TestContext::new();
    let cases = [
        ("tcgen05.wait::ld.sync.aligned;", "tcgen05.wait"),
        (
            "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%r0], \
             [%rd0, {%r1, %r1, %r1, %r1, %r1}], [%r0];",
            "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4",
        ),
        ("multimem.red.relaxed.sys.global.add.u64 [%rd0], %rd1;", "multimem.red"),
        (
            "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%rd0, {%r1, %r1, %r1, %r1, %r1}], \
             [%r0];",
            "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4",
        ),
        (
            "cp.async.bulk.tensor.3d.shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes [%r0], \
             [%rd0, {%r1, %r1, %r1}], [%r0], {%h0, %h1};",
            "cp.async.bulk.tensor.3d.shared::cluster.global.im2col::w.",
        ),
        (
            "cp.async.bulk.tensor.3d.shared::cluster.global.im2col::w::128.mbarrier::complete_tx::bytes [%r0], \
             [%rd0, {%r1, %r1, %r1}], [%r0], {%h0, %h1};",
            "cp.async.bulk.tensor.3d.shared::cluster.global.im2col::w::128",
        ),
    ];
    for (instruction, name) in cases {
        let image = ptx(instruction);
        let mut module = CUmodule::null();
        let loaded = code!(cuModuleLoadData(&mut module, image.as_ptr().cast()));
        assert_eq!(loaded, CUresult::CUDA_ERROR_INVALID_PTX, "{name}");
        let said = heard(&format!("`{name}"));
        assert_eq!(said.len(), 1, "{name}: {said:?}");
        assert_says(&said[0], &["CUPRUM_EMULATOR_COMPUTE_CAPABILITY=8.9 makes most compilers avoid it"]);
        if name.starts_with("cp.") {
            assert_says(&said[0], &["of compute capability 10.0 and later is unknown to it"]);
        }
    }
}

struct Link(CUlinkState);

impl Link {
    fn new() -> Self {
        let mut state = CUlinkState::null();
        ok!(cuLinkCreate_v2(0, null_mut(), null_mut(), &mut state));
        Self(state)
    }

    fn add(&self, kind: CUjitInputType, data: &[u8], name: &core::ffi::CStr) -> CUresult {
        let data_at = data.as_ptr().cast_mut().cast();
        code!(cuLinkAddData_v2(self.0, kind, data_at, data.len(), name.as_ptr(), 0, null_mut(), null_mut()))
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        assert_eq!(code!(cuLinkDestroy(self.0)), CUresult::CUDA_SUCCESS);
    }
}

#[test]
fn the_input_of_a_link_that_is_refused_is_named() {
    listen();
    let _context = TestContext::new();
    let link = Link::new();
    let good = ptx("");
    assert_eq!(link.add(CUjitInputType::CU_JIT_INPUT_PTX, good.as_bytes(), c"good"), CUresult::CUDA_SUCCESS);
    assert_eq!(link.add(CUjitInputType::CU_JIT_INPUT_CUBIN, b"\x7fELF", c"a_cubin"), NO_BINARY);
    assert_says(&heard("`a_cubin`")[0], &["refused with CUDA_ERROR_NO_BINARY_FOR_GPU", "nvidia-nvjitlink"]);
    // The same under another flag, as some clients pass it.
    assert_eq!(link.add(CUjitInputType::CU_JIT_INPUT_PTX, b"\x7fELF", c"mislabeled"), NO_BINARY);
    assert_says(&heard("`mislabeled`")[0], &["machine code"]);
    assert_eq!(link.add(CUjitInputType::CU_JIT_INPUT_OBJECT, b"\x7fELF", c"an_object"), NO_BINARY);
    assert_says(&heard("`an_object`")[0], &["only PTX"]);
    assert!(heard("`good`").is_empty());
    // A name that would clear the screen.
    assert_eq!(link.add(CUjitInputType::CU_JIT_INPUT_CUBIN, b"\x7fELF", c"clear\x1b[2J"), NO_BINARY);
    assert_says(&heard("`clear")[0], &["input `clear\\u{1b}[2J` of a link"]);
}

/// An error refers to lines of its input.
#[test]
fn the_line_of_an_input_is_told() {
    listen();
    let _context = TestContext::new();
    let link = Link::new();
    let helper = format!("{HEADER}.visible .func helper()\n{{\n    ret;\n}}\n\0");
    let bad = ptx("    frobnicate.u32 %rd0;");
    assert_eq!(
        link.add(CUjitInputType::CU_JIT_INPUT_PTX, helper.as_bytes(), c"first"),
        CUresult::CUDA_SUCCESS
    );
    let refused = link.add(CUjitInputType::CU_JIT_INPUT_PTX, bad.as_bytes(), c"second");
    assert_eq!(refused, CUresult::CUDA_ERROR_INVALID_PTX);
    let line = 1 + bad.lines().position(|line| line.contains("frobnicate")).unwrap();
    let said = heard("frobnicate");
    assert_eq!(said.len(), 1, "{said:?}");
    assert_says(&said[0], &["input `second` of a link", &format!("line {line}")]);
}

/// Builds of this repository optimize it also for tests. To see the message: `cargo test -p
/// cuprum-emulator --test messages --config 'profile.dev.package.cuprum-ptx.opt-level = 0'
/// unoptimized`.
#[test]
fn an_unoptimized_build_says_so_once() {
    listen();
    let library = cuprum_emulator::library();
    for _ in 0..2 {
        assert_eq!(library.init(), CUresult::CUDA_SUCCESS);
    }
    let said = heard("built without optimization");
    assert_eq!(said.len(), usize::from(!cuprum_ptx::IS_OPTIMIZED), "{said:?}");
    said.iter().for_each(|said| assert_says(said, &["[profile.dev.package.\"*\"]", "opt-level = 2"]));
}
