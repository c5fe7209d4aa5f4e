//! Calls that wait for queued work: no call waits for more than on two H200s
//! (`tests/data/goldens/waits.txt`), in the mode in which work runs when it is waited for.
//!
//! A separate program, because it installs two devices and this mode.

mod memory;

use core::ptr::null_mut;
use std::collections::BTreeMap;
use std::sync::Once;

use cuprum_emulator::{Mode, Settings};
use cuprum_sys::*;
use cuprum_testing::driver_calls::*;

/// Minimum size of physical memory.
const BYTES: usize = 2 << 20;
const NONBLOCKING: u32 = 1;
const MODULE: &core::ffi::CStr = c".version 7.0 .target sm_52 .address_size 64
    .entry reader(.param .u64 p) {
        .reg .u64 a; .reg .u32 v;
        ld.param.u64 a, [p]; ld.volatile.global.u32 v, [a]; ret; }";

/// The recorded result of a call during a kind of work.
#[derive(Clone)]
struct Golden {
    code: u32,
    /// True if the work had finished when the call returned.
    is_done: bool,
    /// True if the work had failed by then.
    has_failed: bool,
    /// The codes of both contexts afterwards.
    then: [String; 2],
}

/// Returns the rows of the golden, by call and work.
fn goldens() -> BTreeMap<(String, String), Golden> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/goldens/waits.txt");
    let text = std::fs::read_to_string(path).expect("the golden");
    let rows = text.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [call, work, "code", code, _, "ms", state, "then", first, second] = words[..] else {
            return None;
        };
        let (code, then) = (code.parse().expect("a number"), [first.to_owned(), second.to_owned()]);
        let golden = Golden { code, is_done: state == "done", has_failed: state == "failed", then };
        Some(((call.to_owned(), work.to_owned()), golden))
    });
    rows.collect()
}

/// Two contexts on two devices, memory of both, and objects that can be freed during work.
struct Bench {
    contexts: [CUcontext; 2],
    streams: [CUstream; 2],
    source: CUdeviceptr,
    target: CUdeviceptr,
    other: CUdeviceptr,
    locked: *mut core::ffi::c_void,
    array: CUarray,
    levels: CUmipmappedArray,
    modules: [CUmodule; 2],
    library: CUlibrary,
}

fn setup() {
    static SETUP: Once = Once::new();
    SETUP.call_once(|| Settings::default().devices(2).mode(Mode::Deferred).install().unwrap());
}

fn enter(context: CUcontext) {
    ok!(cuCtxSetCurrent(context));
}

impl Bench {
    fn new() -> Self {
        setup();
        let mut contexts = [CUcontext::null(); 2];
        let (mut streams, mut modules) = ([CUstream::null(); 2], [CUmodule::null(); 2]);
        for (device, context) in contexts.iter_mut().enumerate() {
            ok!(cuCtxCreate_v2(context, 0, device as i32));
            streams[device] = stream(NONBLOCKING);
            ok!(cuModuleLoadData(&mut modules[device], MODULE.as_ptr().cast()));
        }
        let target = alloc(BYTES);
        ok!(cuCtxEnablePeerAccess(contexts[0], 0));
        enter(contexts[0]);
        ok!(cuCtxEnablePeerAccess(contexts[1], 0));
        let (mut locked, mut array, mut levels, mut library) =
            (null_mut(), CUarray::null(), CUmipmappedArray::null(), CUlibrary::null());
        ok!(cuMemHostAlloc(&mut locked, BYTES, CU_MEMHOSTALLOC_PORTABLE));
        let format = CUarray_format::CU_AD_FORMAT_UNSIGNED_INT8;
        let line = CUDA_ARRAY_DESCRIPTOR { Width: 64, Height: 0, Format: format, NumChannels: 1 };
        ok!(cuArrayCreate_v2(&mut array, &line));
        let shape = CUDA_ARRAY3D_DESCRIPTOR {
            Width: 64,
            Height: 64,
            Format: format,
            NumChannels: 1,
            ..CUDA_ARRAY3D_DESCRIPTOR::zeroed()
        };
        ok!(cuMipmappedArrayCreate(&mut levels, &shape, 2));
        let code = MODULE.as_ptr().cast();
        ok!(cuLibraryLoadData(&mut library, code, null_mut(), null_mut(), 0, null_mut(), null_mut(), 0));
        let (source, other) = (alloc(BYTES), alloc(BYTES));
        Self { contexts, streams, source, target, other, locked, array, levels, modules, library }
    }

    fn used_by(&self, call: &str) -> CUdeviceptr {
        match call {
            "cuMemFreeHost" => self.locked.addr() as CUdeviceptr,
            _ => self.source,
        }
    }

    /// Returns the kernel of a row: from the module to unload, or any.
    fn reader(&self, call: &str, device: usize) -> CUfunction {
        let (mut kernel, mut function) = (CUkernel::null(), CUfunction::null());
        if call == "cuLibraryUnload" {
            ok!(cuLibraryGetKernel(&mut kernel, self.library, c"reader".as_ptr()));
            ok!(cuKernelGetFunction(&mut function, kernel));
        } else {
            ok!(cuModuleGetFunction(&mut function, self.modules[device], c"reader".as_ptr()));
        }
        function
    }

    /// Queues work of a kind on memory. Returns the event after it. The first context is current.
    fn queue(&self, call: &str, work: &str, memory: CUdeviceptr) -> CUevent {
        let at = device_of(work);
        enter(self.contexts[at]);
        let (stream, [first, second]) = (self.streams[at], self.contexts);
        match work {
            "own" | "peer_kernel" => {
                let (kernel, mut memory, none) = (self.reader(call, at), memory, null_mut());
                let mut arguments = [(&raw mut memory).cast()];
                let arguments = arguments.as_mut_ptr();
                ok!(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, arguments, none));
            }
            "peer_copy" => {
                ok!(cuMemcpyPeerAsync(self.target, second, memory, first, BYTES, stream));
            }
            "dtod_copy" => ok!(cuMemcpyDtoDAsync_v2(self.target, memory, BYTES, stream)),
            "host_copy" => {
                let host = core::ptr::with_exposed_provenance(memory as usize);
                ok!(cuMemcpyHtoDAsync_v2(self.target, host, BYTES, stream));
            }
            _ => panic!("{work}"),
        }
        let done = event(2);
        ok!(cuEventRecord(done, stream));
        enter(first);
        done
    }

    /// Makes the call of a row that frees an object; `None` if the call is not tested here.
    fn call(&self, call: &str, work: &str) -> Option<CUresult> {
        let mut made = 0;
        Some(match call {
            "cuMemFree" => code!(cuMemFree_v2(self.source)),
            "cuMemFree_of_target" => {
                enter(self.contexts[1]);
                let freed = code!(cuMemFree_v2(self.target));
                enter(self.contexts[0]);
                freed
            }
            "cuMemFree_elsewhere" => code!(cuMemFree_v2(self.other)),
            "cuMemFreeHost" => code!(cuMemFreeHost(self.locked)),
            "cuArrayDestroy" => code!(cuArrayDestroy(self.array)),
            "cuMipmappedArrayDestroy" => code!(cuMipmappedArrayDestroy(self.levels)),
            "cuModuleUnload" => code!(cuModuleUnload(self.modules[device_of(work)])),
            "cuLibraryUnload" => code!(cuLibraryUnload(self.library)),
            "cuCtxSynchronize" => code!(cuCtxSynchronize()),
            "cuStreamSynchronize(NULL)" => code!(cuStreamSynchronize(CUstream::null())),
            "cuMemAlloc" => code!(cuMemAlloc_v2(&mut made, BYTES)),
            "cuMemcpyDtoD" => code!(cuMemcpyDtoD_v2(self.other, self.other + 64, 64)),
            "cuCtxDisablePeerAccess" => {
                enter(self.contexts[1]);
                let disabled = code!(cuCtxDisablePeerAccess(self.contexts[0]));
                enter(self.contexts[0]);
                disabled
            }
            "cuCtxDestroy" => code!(cuCtxDestroy_v2(self.contexts[0])),
            _ => return None,
        })
    }

    fn ends(&self) -> [CUresult; 2] {
        let wait = |context| match code!(cuCtxSetCurrent(context)) {
            CUresult::CUDA_SUCCESS => code!(cuCtxSynchronize()),
            is_gone => is_gone,
        };
        let _first = self.contexts.map(wait);
        self.contexts.map(wait)
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        for context in self.contexts {
            let _ = code!(cuCtxDestroy_v2(context));
        }
    }
}

fn device_of(work: &str) -> usize {
    usize::from(work != "own")
}

/// Result of a row: whether the work had finished, and the codes of both contexts at the end.
struct Outcome {
    code: CUresult,
    is_done: bool,
    ends: [CUresult; 2],
}

/// Makes the call of a row during its work; `None` if the call is not tested here.
fn row(call: &str, work: &str) -> Option<Outcome> {
    let (bench, has) = (Bench::new(), device_of(work));
    let memory = memory::memory_for(call, has as i32);
    let address = memory.as_ref().map_or(bench.used_by(call), |memory| memory.address);
    let done = bench.queue(call, work, address);
    let code = match &memory {
        Some(memory) => (memory.end)(),
        None => bench.call(call, work)?,
    };
    enter(bench.contexts[has]);
    let is_done = code!(cuEventQuery(done)) == CUresult::CUDA_SUCCESS;
    Some(Outcome { code, is_done, ends: bench.ends() })
}

/// Rows whose work ends differently than on hardware, with reasons. Their waits are the same.
const ENDS_OTHERWISE: [(&str, &str, &str); 4] = [
    ("cuMemSetAccess_read", "peer_kernel", "pages are not mapped anew under the kernel, which only reads"),
    (
        "cuGraphicsUnmapResources",
        "peer_copy",
        "what no work of its own context uses is freed, as by any free",
    ),
    (
        "cuMemSetAccess_none",
        "peer_copy",
        "memory is there for all devices or none: here the first has no access either",
    ),
    (
        "cuMemPoolDestroy",
        "own",
        "the free is queued on a stream, and its turn comes after that of the kernel",
    ),
];

/// Rows that are not tested, with reasons.
const NOT_TRIED: [(&str, &str); 5] = [
    ("cuDevicePrimaryCtxRelease", "as `cuCtxDestroy`"),
    ("push_copy", "as `peer_copy`, queued by the other context"),
    ("cuMemcpyDtoH", "to memory of the client, which the deferred mode waits for"),
    ("update_", "graphs are copied when they are launched: an update changes no launch in progress"),
    ("beside_capture_", "of a thread that is exempted"),
];

#[test]
fn no_call_waits_for_more_than_hardware_does() {
    let (mut tried, mut running) = (0, 0);
    for ((call, work), golden) in goldens() {
        if NOT_TRIED.iter().any(|(part, _)| call.starts_with(part) || work == *part) {
            continue;
        }
        let case = format!("{call} beside {work}");
        let Outcome { code, is_done, ends } =
            row(&call, &work).unwrap_or_else(|| panic!("{case} has no place"));
        (tried, running) = (tried + 1, running + usize::from(!is_done));
        // A free may report the fault that occurs while it waits.
        assert!(code.0 == golden.code || golden.has_failed, "{case}: {code:?}, not {}", golden.code);
        assert!(golden.is_done || golden.has_failed || !is_done, "{case} waits, and hardware does not");
        // Calls that wait for their context's work on hardware do here: correct programs work.
        assert!(is_done || !golden.is_done || work != "own", "{case} does not wait");
        if is_done || golden.is_done {
            continue;
        }
        // The context of the work has a fault if it has one on hardware.
        let has = device_of(&work);
        let (fault, there) = (ends[has] != CUresult::CUDA_SUCCESS, golden.then[has] != "0");
        let otherwise = ENDS_OTHERWISE.iter().any(|row| (row.0, row.1) == (&*call, &*work));
        assert_eq!(fault != there, otherwise, "{case} ends with {ends:?}, on hardware {:?}", golden.then);
        // Unmapped memory has no context, so its owner is unaffected here.
        if fault && call != "cuMemUnmap" && golden.then.iter().all(|answer| answer == "719") {
            assert_eq!(ends, [CUresult::CUDA_ERROR_LAUNCH_FAILED; 2], "{case}");
        }
    }
    assert!(tried >= 73 && running >= 58, "{tried} rows, {running} of them without a wait");
}

/// A synchronous copy between devices returns immediately. The default stream of either context
/// waits for it, but no free of its target does.
#[test]
fn a_synchronous_copy_between_devices_is_waited_for_by_either_context() {
    for (by, waiting) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let bench = Bench::new();
        let [first, second] = bench.contexts;
        ok!(cuMemsetD8_v2(bench.source, 7, BYTES));
        enter(bench.contexts[by]);
        ok!(cuMemcpyPeer(bench.target, second, bench.source, first, BYTES));
        enter(bench.contexts[waiting]);
        ok!(cuStreamSynchronize(CUstream::null()));
        enter(first);
        ok!(cuMemFree_v2(bench.source));
        enter(second);
        assert_eq!(read::<u8>(bench.target, BYTES), [7; BYTES], "queued in {by}, waited for in {waiting}");
        ok!(cuCtxSynchronize());
    }
    for by in [0, 1] {
        let bench = Bench::new();
        let [first, second] = bench.contexts;
        enter(bench.contexts[by]);
        ok!(cuMemcpyPeer(bench.target, second, bench.source, first, BYTES));
        enter(second);
        ok!(cuMemFree_v2(bench.target));
        assert_eq!(bench.ends(), [CUresult::CUDA_ERROR_LAUNCH_FAILED; 2]);
    }
}
