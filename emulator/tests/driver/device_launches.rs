//! Kernels that launch kernels, copy and fill through the device runtime library. The answers and
//! orders here were recorded on an H200 with CUDA 13.0 and driver 580, on 2026-11-28.

use core::ffi::{CStr, c_void};
use core::fmt::Write as _;
use core::ptr::null_mut;

use cuprum_sys::*;
use cuprum_testing::driver_calls::*;

use super::link::archive;

const DECLARATIONS: &str = ".version 8.0\n.target sm_90\n.address_size 64
.extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 k, .param .align 4 .b8 g[12], .param .align 4 .b8 t[12], .param .b32 s);
.extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 b, .param .b64 s);
.extern .func (.param .b64 r) __cudaCDP2GetParameterBuffer(.param .b64 a, .param .b64 n);
.extern .func (.param .b32 r) __cudaCDP2LaunchDevice(.param .b64 k, .param .b64 b, .param .align 4 .b8 g[12], .param .align 4 .b8 t[12], .param .b32 s, .param .b64 stream);
.extern .func (.param .b32 r) __cudaCDP2GetLastError();
.extern .func (.param .b32 r) __cudaCDP2PeekAtLastError();
.extern .func (.param .b32 r) __cudaCDP2GetDevice(.param .b64 d);
.extern .func (.param .b32 r) __cudaCDP2GetDeviceCount(.param .b64 d);
.extern .func (.param .b32 r) __cudaCDP2DeviceGetAttribute(.param .b64 v, .param .b32 a, .param .b32 d);
.extern .func (.param .b32 r) __cudaCDP2DeviceGetLimit(.param .b64 v, .param .b32 l);
.extern .func (.param .b32 r) __cudaCDP2StreamCreateWithFlags(.param .b64 s, .param .b32 f);
.extern .func (.param .b32 r) __cudaCDP2StreamDestroy(.param .b64 s);
.extern .func (.param .b32 r) __cudaCDP2StreamWaitEvent(.param .b64 s, .param .b64 e, .param .b32 f);
.extern .func (.param .b32 r) __cudaCDP2EventCreateWithFlags(.param .b64 e, .param .b32 f);
.extern .func (.param .b32 r) __cudaCDP2EventRecord(.param .b64 e, .param .b64 s);
.extern .func (.param .b32 r) __cudaCDP2EventDestroy(.param .b64 e);
.extern .func (.param .b32 r) __cudaCDP2MemcpyAsync(.param .b64 t, .param .b64 f, .param .b64 n, .param .b32 k, .param .b64 s);
.extern .func (.param .b32 r) __cudaCDP2Memcpy2DAsync(.param .b64 t, .param .b64 q, .param .b64 f, .param .b64 p, .param .b64 w, .param .b64 h, .param .b32 k, .param .b64 s);
.extern .func (.param .b32 r) __cudaCDP2MemsetAsync(.param .b64 t, .param .b32 v, .param .b64 n, .param .b64 s);
.extern .func (.param .b32 r) __cudaCDP2Malloc(.param .b64 p, .param .b64 n);
.extern .func (.param .b32 r) __cudaCDP2Free(.param .b64 p);
.extern .func (.param .b64 r) __cudaCDP2GetErrorName(.param .b32 e);
.extern .func (.param .b32 r) __cudaCDP2OccupancyMaxActiveBlocksPerMultiprocessor(.param .b64 n, .param .b64 k, .param .b32 t, .param .b64 s);
";

/// Appends a number to a list, whose first word is its length.
const APPEND: &str = "
.visible .entry append(.param .u64 list, .param .u32 value)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd0, [list];
    ld.param.u32 %r0, [value];
    atom.add.u32 %r1, [%rd0], 1;
    mad.wide.u32 %rd1, %r1, 4, %rd0;
    st.u32 [%rd1+4], %r0;
    ret;
}
.visible .entry broken(.param .u64 list, .param .u32 value)
{
    .reg .b64 %rd;
    mov.u64 %rd, 16;
    st.u32 [%rd], 1;
    ret;
}
";

const DEFAULT: u64 = 0;
const TAIL: u64 = 3;
const WITHOUT_ORDER: u64 = 4;

/// The text of a kernel with the parameters of `append`. Each step uses names of its own.
struct Kernel {
    text: String,
    steps: usize,
}

impl Kernel {
    fn new(name: &str) -> Self {
        let text = format!(
            ".visible .entry {name}(.param .u64 list, .param .u32 value)\n{{
            .reg .pred %p;\n.reg .b32 %n, %c;\n.reg .b64 %list, %b, %x;
            .local .align 8 .b8 place[16];
            ld.param.u64 %list, [list];\nld.param.u32 %n, [value];\n"
        );
        Self { text, steps: 0 }
    }

    /// Launches a kernel with the list and a value: a number or a register.
    fn launch(mut self, kernel: &str, [grid, block]: [u32; 2], stream: u64, value: &str) -> Self {
        let at = self.steps;
        self.steps += 1;
        let sides = |name: &str, x: u32| {
            format!("st.param.b32 [{name}], {x};\nst.param.b32 [{name}+4], 1;\nst.param.b32 [{name}+8], 1;\n")
        };
        write!(
            self.text,
            "{{\n.param .b64 k;\n.param .align 4 .b8 g[12];\n.param .align 4 .b8 t[12];\n.param .b32 s;
            .param .b64 buffer;\nmov.u64 %b, {kernel};\nst.param.b64 [k], %b;\nst.param.b32 [s], 0;\n{}{}
            call (buffer), __cudaCDP2GetParameterBufferV2, (k, g, t, s);\nld.param.b64 %b, [buffer];\n}}
            setp.eq.u64 %p, %b, 0;\n@%p bra NONE{at};
            st.u64 [%b], %list;\nmov.u32 %c, {value};\nst.u32 [%b+8], %c;
            {{\n.param .b64 buffer;\n.param .b64 stream;\n.param .b32 code;
            st.param.b64 [buffer], %b;\nst.param.b64 [stream], {stream};
            call (code), __cudaCDP2LaunchDeviceV2, (buffer, stream);\n}}\nNONE{at}:\n",
            sides("g", grid),
            sides("t", block),
        )
        .unwrap();
        self
    }

    /// Calls a function, and appends its code, and the word that it stored at `place`. Arguments
    /// are registers, numbers, and `place`, each with its bits.
    fn call(mut self, function: &str, arguments: &[(u32, &str)]) -> Self {
        self.text += "{\n.param .b32 code;\nst.local.u32 [place], 77;\n";
        for (index, (bits, argument)) in arguments.iter().enumerate() {
            let value = if *argument == "place" {
                self.text += "mov.u64 %x, place;\ncvta.local.u64 %x, %x;\n";
                "%x"
            } else {
                argument
            };
            write!(self.text, ".param .b{bits} a{index};\nst.param.b{bits} [a{index}], {value};\n").unwrap();
        }
        let names: Vec<_> = (0..arguments.len()).map(|index| format!("a{index}")).collect();
        write!(
            self.text,
            "call (code), __cudaCDP2{function}, ({});\nld.param.b32 %c, [code];\n}}\n",
            names.join(", ")
        )
        .unwrap();
        self.append("%c").and("ld.local.u32 %c, [place];\n").append("%c")
    }

    fn append(self, register: &str) -> Self {
        self.and(&format!(
            "atom.add.u32 %n, [%list], 1;\nmad.wide.u32 %b, %n, 4, %list;\nst.u32 [%b+4], {register};\n"
        ))
    }

    fn and(mut self, text: &str) -> Self {
        self.text += text;
        self
    }

    fn end(self) -> String {
        self.text + "ret;\n}\n"
    }
}

/// Links kernels with the device runtime library, or without it.
fn link(kernels: &[String], library: bool) -> Result<CUmodule, CUresult> {
    let mut link = CUlinkState::null();
    ok!(cuLinkCreate_v2(0, null_mut(), null_mut(), &mut link));
    let add = |kind, bytes: &[u8]| {
        let data = bytes.as_ptr().cast_mut().cast();
        ok!(cuLinkAddData_v2(link, kind, data, bytes.len(), c"x".as_ptr(), 0, null_mut(), null_mut()));
    };
    let text = format!("{DECLARATIONS}{APPEND}{}\0", kernels.concat());
    add(CUjitInputType::CU_JIT_INPUT_PTX, text.as_bytes());
    if library {
        add(CUjitInputType::CU_JIT_INPUT_LIBRARY, &archive("cuda_device_runtime.o/"));
    }
    let (mut image, mut size, mut module) = (NULL, 0, CUmodule::null());
    let completed = code!(cuLinkComplete(link, &mut image, &mut size));
    if completed == CUresult::CUDA_SUCCESS {
        ok!(cuModuleLoadData(&mut module, image));
    }
    ok!(cuLinkDestroy(link));
    if completed == CUresult::CUDA_SUCCESS { Ok(module) } else { Err(completed) }
}

/// A module with a list that its kernels append to.
struct Program {
    module: CUmodule,
    list: CUdeviceptr,
}

const LIST: usize = 4096;

impl Program {
    fn new(kernels: &[String]) -> Self {
        let list = alloc(4 * LIST);
        ok!(cuMemsetD32_v2(list, 0, LIST));
        Self { module: link(kernels, true).unwrap(), list }
    }

    fn launch(&self, kernel: &CStr, grid: u32, stream: CUstream, value: u32) -> CUresult {
        let mut function = CUfunction::null();
        ok!(cuModuleGetFunction(&mut function, self.module, kernel.as_ptr()));
        let (mut list, mut value) = (self.list, value);
        let mut params: [*mut c_void; 2] = [(&raw mut list).cast(), (&raw mut value).cast()];
        code!(cuLaunchKernel(function, grid, 1, 1, 1, 1, 1, 0, stream, params.as_mut_ptr(), null_mut()))
    }

    /// Returns the list after all work, and empties it.
    fn take(&self) -> Vec<u32> {
        ok!(cuCtxSynchronize());
        let mut list: Vec<u32> = read(self.list, LIST);
        ok!(cuMemsetD32_v2(self.list, 0, LIST));
        let count = list[0] as usize;
        list.drain(..1);
        list.truncate(count);
        list
    }

    /// Launches one thread in the default stream. Returns the list.
    fn run(&self, kernel: &CStr) -> Vec<u32> {
        assert_eq!(self.launch(kernel, 1, CUstream::null(), 1), CUresult::CUDA_SUCCESS);
        self.take()
    }
}

/// Launches itself twice, once for its end, and writes numbers between.
fn tails() -> String {
    Kernel::new("tails")
        .and(".reg .b32 %next, %ten, %eleven;\n.reg .pred %last;\n")
        .and("add.u32 %next, %n, 1;\nmul.lo.u32 %ten, %n, 10;\nadd.u32 %eleven, %ten, 1;\n")
        .launch("append", [1, 1], TAIL, "%ten")
        .and("setp.ge.u32 %last, %n, 3;\n@%last bra LAST;\n")
        .launch("tails", [1, 1], TAIL, "%next")
        .launch("tails", [1, 1], DEFAULT, "%next")
        .and("LAST:\n")
        .launch("append", [1, 1], DEFAULT, "%eleven")
        .end()
}

const ORDER_OF_TAILS: [u32; 14] = [31, 30, 21, 20, 31, 30, 11, 10, 31, 30, 21, 20, 31, 30];

#[test]
fn work_for_the_end_follows_all_other_work_of_its_kernel() {
    let _context = TestContext::new();
    let program = Program::new(&[tails()]);
    assert_eq!(program.run(c"tails"), ORDER_OF_TAILS);
    assert_eq!(program.run(c"append"), [1]);
}

#[test]
fn a_launch_may_state_its_shape_after_its_parameters() {
    let _context = TestContext::new();
    let step =
        "{\n.param .b64 a;\n.param .b64 n;\n.param .b64 buffer;\nst.param.b64 [a], 64;\nst.param.b64 [n], 12;
        call (buffer), __cudaCDP2GetParameterBuffer, (a, n);\nld.param.b64 %b, [buffer];\n}
        st.u64 [%b], %list;\nmov.u32 %c, VALUE;\nst.u32 [%b+8], %c;
        {\n.param .b64 k;\n.param .b64 b;\n.param .align 4 .b8 g[12];\n.param .align 4 .b8 t[12];
        .param .b32 s;\n.param .b64 stream;\n.param .b32 code;
        mov.u64 %x, append;\nst.param.b64 [k], %x;\nst.param.b64 [b], %b;
        st.param.b32 [g], 1;\nst.param.b32 [g+4], 2;\nst.param.b32 [g+8], 1;
        st.param.b32 [t], THREADS;\nst.param.b32 [t+4], 1;\nst.param.b32 [t+8], 1;
        st.param.b32 [s], 0;\nst.param.b64 [stream], STREAM;
        call (code), __cudaCDP2LaunchDevice, (k, b, g, t, s, stream);\nld.param.b32 %c, [code];\n}\n";
    let kernel = [("21", "1", "3"), ("22", "1", "0"), ("23", "2000", "0")]
        .into_iter()
        .fold(Kernel::new("parent"), |kernel, (value, threads, stream)| {
            let step = step.replace("VALUE", value).replace("THREADS", threads).replace("STREAM", stream);
            kernel.and(&step).append("%c")
        })
        .end();
    // The three codes, and two blocks of each of the first two launches.
    assert_eq!(Program::new(&[kernel]).run(c"parent"), [0, 0, 9, 22, 22, 21, 21]);
}

#[test]
fn a_graph_repeats_the_launches_of_its_kernels() {
    let _context = TestContext::new();
    let (program, stream) = (Program::new(&[tails()]), stream(1));
    let (mut graph, mut exec) = (CUgraph::null(), CUgraphExec::null());
    ok!(cuStreamBeginCapture_v2(stream, CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_eq!(program.launch(c"tails", 1, stream, 1), CUresult::CUDA_SUCCESS);
    ok!(cuStreamEndCapture(stream, &mut graph));
    ok!(cuGraphInstantiateWithFlags(&mut exec, graph, 0));
    for _ in 0..2 {
        ok!(cuGraphLaunch(exec, stream));
        assert_eq!(program.take(), ORDER_OF_TAILS);
    }
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn refused_launches_leave_an_error_for_their_thread() {
    let _context = TestContext::new();
    let ask = |kernel: Kernel| {
        kernel.call("PeekAtLastError", &[]).call("GetLastError", &[]).call("GetLastError", &[])
    };
    let shapes = [[1, 2048], [0, 32], [1, 0], [1, 1]];
    let kernels: Vec<_> = shapes
        .iter()
        .enumerate()
        .map(|(index, shape)| {
            ask(Kernel::new(&format!("shape{index}")).launch("append", *shape, WITHOUT_ORDER, "5")).end()
        })
        .chain([ask(Kernel::new("stream").launch("append", [1, 1], 0x999, "5")).end()])
        .collect();
    let program = Program::new(&kernels);
    for kernel in [c"shape0", c"shape1", c"shape2"] {
        assert_eq!(program.run(kernel), [9, 77, 9, 77, 0, 77], "{kernel:?}");
    }
    assert_eq!(program.run(c"shape3"), [0, 77, 0, 77, 0, 77, 5]);
    assert_eq!(program.run(c"stream"), [1, 77, 1, 77, 0, 77]);
}

#[test]
fn the_limit_of_waiting_launches_holds() {
    let _context = TestContext::new();
    let kernel = Kernel::new("many").launch("append", [1, 1], DEFAULT, "7").call("GetLastError", &[]).end();
    let program = Program::new(&[kernel]);
    let limit = CUlimit::CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT;
    for (asked, most) in [(1, 32), (40, 40)] {
        ok!(cuCtxSetLimit(limit, asked));
        let mut set = 0;
        ok!(cuCtxGetLimit(&mut set, limit));
        assert_eq!(set, most);
        assert_eq!(program.launch(c"many", 100, CUstream::null(), 0), CUresult::CUDA_SUCCESS);
        let list = program.take();
        let count = |value| list.iter().filter(|&&entry| entry == value).count();
        assert_eq!([count(0), count(7), count(69)], [most, most, 100 - most], "limit {asked}");
    }
}

/// A function, its arguments, and its code.
type Question = (&'static str, &'static [(u32, &'static str)], u32);

#[test]
fn streams_and_events_are_checked() {
    let _context = TestContext::new();
    let calls: [Question; 13] = [
        ("StreamCreateWithFlags", &[(64, "place"), (32, "1")], 0),
        ("StreamCreateWithFlags", &[(64, "place"), (32, "0")], 0),
        ("StreamCreateWithFlags", &[(64, "place"), (32, "77")], 1),
        ("StreamDestroy", &[(64, "0x999")], 1),
        ("StreamDestroy", &[(64, "0")], 1),
        ("EventCreateWithFlags", &[(64, "place"), (32, "2")], 0),
        ("EventCreateWithFlags", &[(64, "place"), (32, "0")], 1),
        ("EventRecord", &[(64, "0"), (64, "0")], 1),
        ("EventDestroy", &[(64, "0")], 1),
        ("StreamWaitEvent", &[(64, "0"), (64, "0"), (32, "0")], 1),
        ("DeviceGetAttribute", &[(64, "place"), (32, "9999"), (32, "0")], 1),
        ("DeviceGetAttribute", &[(64, "place"), (32, "10"), (32, "5")], 101),
        ("DeviceGetLimit", &[(64, "place"), (32, "99")], 1),
    ];
    let kernel =
        calls.iter().fold(Kernel::new("ask"), |kernel, (name, arguments, _)| kernel.call(name, arguments));
    let list = Program::new(&[kernel.end()]).run(c"ask");
    for (answer, (name, arguments, expected)) in list.chunks_exact(2).zip(calls) {
        assert_eq!(answer[0], expected, "{name} {arguments:?}");
        // A result is stored, except by a call that fails.
        let stores = expected == 0 && arguments[0].1 == "place";
        assert_eq!(answer[1] != 77, stores, "{name} {arguments:?}");
    }
    assert_eq!(list.len(), 2 * calls.len());
}

#[test]
fn questions_about_the_device_are_answered() {
    let _context = TestContext::new();
    let kernel = Kernel::new("ask")
        .call("GetDevice", &[(64, "place")])
        .call("GetDeviceCount", &[(64, "place")])
        .call("DeviceGetAttribute", &[(64, "place"), (32, "10"), (32, "0")])
        .call("DeviceGetLimit", &[(64, "place"), (32, "4")])
        .and(".reg .b64 %kernel;\nmov.u64 %kernel, append;\n")
        .call(
            "OccupancyMaxActiveBlocksPerMultiprocessor",
            &[(64, "place"), (64, "%kernel"), (32, "256"), (64, "0")],
        )
        .end();
    let list = Program::new(&[kernel]).run(c"ask");
    assert_eq!(list, [0, 0, 0, 1, 0, 32, 0, 2048, 0, 8]);
}

#[test]
fn copies_and_fills_follow_the_launches_before_them() {
    let _context = TestContext::new();
    let kernel = Kernel::new("mix")
        .and(".reg .b64 %to, %end;\nadd.u64 %to, %list, 1024;\nadd.u64 %end, %list, 2048;\n")
        .call("MemsetAsync", &[(64, "%to"), (32, "0x111"), (64, "8"), (64, "0")])
        .launch("append", [1, 1], DEFAULT, "5")
        .call("MemcpyAsync", &[(64, "%end"), (64, "%list"), (64, "16"), (32, "3"), (64, "0")])
        .launch("append", [1, 1], DEFAULT, "6")
        .call("MemcpyAsync", &[(64, "%end"), (64, "%list"), (64, "16"), (32, "1"), (64, "0")])
        .call("MemcpyAsync", &[(64, "16"), (64, "%list"), (64, "16"), (32, "4"), (64, "0")])
        .call("MemsetAsync", &[(64, "16"), (32, "1"), (64, "0"), (64, "0")])
        .and("add.u64 %end, %end, 64;\n")
        .call(
            "Memcpy2DAsync",
            &[(64, "%end"), (64, "6"), (64, "%to"), (64, "4"), (64, "2"), (64, "2"), (32, "3"), (64, "0")],
        )
        .call(
            "Memcpy2DAsync",
            &[(64, "%end"), (64, "1"), (64, "%to"), (64, "4"), (64, "2"), (64, "2"), (32, "3"), (64, "0")],
        )
        .end();
    let program = Program::new(&[kernel]);
    assert_eq!(program.launch(c"mix", 1, CUstream::null(), 1), CUresult::CUDA_SUCCESS);
    ok!(cuCtxSynchronize());
    let words: Vec<u32> = read(program.list, LIST);
    let codes: Vec<_> = words[1..15].iter().step_by(2).copied().collect();
    assert_eq!(codes, [0, 0, 21, 1, 0, 0, 12]);
    assert_eq!((words[0], &words[15..17]), (16, &[5, 6][..]));
    assert_eq!(words[256..259], [0x1111_1111, 0x1111_1111, 0]);
    // Fourteen codes and the first of two launches.
    assert_eq!(words[512..516], [15, 0, 77, 0]);
    assert_eq!(words[528..531], [0x1111, 0x1111_0000, 0]);
}

#[test]
fn memory_is_allocated_from_the_heap_of_kernels() {
    let _context = TestContext::new();
    let kernel = Kernel::new("heap")
        .call("Malloc", &[(64, "place"), (64, "64")])
        .call("Malloc", &[(64, "place"), (64, "0x10000000000")])
        .call("GetLastError", &[])
        .call("Free", &[(64, "0")])
        .end();
    let list = Program::new(&[kernel]).run(c"heap");
    assert_ne!(list[1], 77);
    assert_eq!([list[0], list[2], list[3], list[4], list[6]], [0, 2, 0, 2, 0]);
}

#[test]
fn errors_have_names() {
    let _context = TestContext::new();
    let name = "{\n.param .b32 e;\n.param .b64 r;\nst.param.b32 [e], NUMBER;
        call (r), __cudaCDP2GetErrorName, (e);\nld.param.b64 %x, [r];\n}\nld.u8 %c, [%x+9];\n";
    let kernel = [9, 69, 12345]
        .into_iter()
        .fold(Kernel::new("names"), |kernel, number| {
            kernel.and(&name.replace("NUMBER", &number.to_string())).append("%c")
        })
        .end();
    let list = Program::new(&[kernel]).run(c"names");
    // The first letter after the prefix of the two, and of "unrecognized error code" as many.
    assert_eq!(list, [b'I', b'L', b'z'].map(u32::from));
}

#[test]
fn a_fault_of_a_launched_kernel_ends_the_work() {
    let _context = TestContext::new();
    let kernel = Kernel::new("parent")
        .launch("append", [1, 1], DEFAULT, "1")
        .launch("broken", [1, 1], DEFAULT, "2")
        .launch("append", [1, 1], DEFAULT, "3")
        .end();
    let program = Program::new(&[kernel]);
    assert_eq!(program.launch(c"parent", 1, CUstream::null(), 1), CUresult::CUDA_SUCCESS);
    assert_eq!(code!(cuCtxSynchronize()), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
}

#[test]
fn launches_need_the_library() {
    let _context = TestContext::new();
    assert_eq!(link(&[tails()], false).map(drop), Err(CUresult::CUDA_ERROR_INVALID_SOURCE));
}
