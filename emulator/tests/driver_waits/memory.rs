//! The kinds of memory that are freed during work, and the calls that free them.

use std::io::{BufRead, BufReader, Lines, Read};
use std::process::{Child, ChildStdout, Command, Stdio};

use cuprum_emulator::memory::ExternalMemory;
use cuprum_emulator::opengl::StandIn;
use cuprum_sys::*;

use super::{BYTES, NONBLOCKING};
use cuprum_testing::driver_calls::*;

const READ: CUmemAccess_flags = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READ;
const ALL: CUmemAccess_flags = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
const NONE: CUmemAccess_flags = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE;

/// Memory of the first device that work uses, and the call that frees it.
pub(super) struct Memory {
    pub(super) address: CUdeviceptr,
    /// The call of the row.
    pub(super) end: Box<dyn Fn() -> CUresult>,
    /// Keeps these values alive until the work has finished.
    _kept: Box<dyn core::any::Any>,
}

impl Memory {
    fn new(address: CUdeviceptr, end: impl Fn() -> CUresult + 'static) -> Option<Self> {
        Some(Self { address, end: Box::new(end), _kept: Box::new(()) })
    }

    fn keeping(self, kept: impl core::any::Any) -> Self {
        Self { _kept: Box::new(kept), ..self }
    }
}

/// Returns memory for a row's call, or `None` if not tested here. `has` is the device of the work.
pub(super) fn memory_for(call: &str, has: i32) -> Option<Memory> {
    match call {
        "cuMemUnmap" | "cuMemRelease" | "cuMemSetAccess_none" | "cuMemSetAccess_read" => mapped(call, has),
        "cuMemFreeAsync" | "cuMemFreeAsync_trim" | "cuMemFree_of_pool" | "cuMemPoolDestroy" => pooled(call),
        "cuMemFree_of_external" | "cuDestroyExternalMemory" => external(call),
        "cuGraphicsUnmapResources" | "cuGraphicsUnregisterResource" | "unmap_and_unregister" => opengl(call),
        "cuIpcCloseMemHandle" => opened(),
        "cuMemFree_of_managed" => {
            let mut address = 0;
            ok!(cuMemAllocManaged(&mut address, BYTES, CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL.0));
            Memory::new(address, move || code!(cuMemFree_v2(address)))
        }
        "cuMemHostUnregister" => {
            let mut host = vec![0u64; BYTES / 8];
            let pointer = host.as_mut_ptr().cast();
            ok!(cuMemHostRegister_v2(
                pointer,
                BYTES,
                CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP
            ));
            let mut address = 0;
            ok!(cuMemHostGetDevicePointer_v2(&mut address, pointer, 0));
            let memory = Memory::new(address, move || code!(cuMemHostUnregister(pointer)));
            memory.map(|memory| memory.keeping(host))
        }
        _ => None,
    }
}

fn access(device: i32, flags: CUmemAccess_flags) -> CUmemAccessDesc {
    let location = CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: device };
    CUmemAccessDesc { location, flags }
}

fn mapped(call: &str, has: i32) -> Option<Memory> {
    let props = CUmemAllocationProp {
        type_: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        location: access(0, ALL).location,
        ..CUmemAllocationProp::zeroed()
    };
    let (mut handle, mut at) = (0, 0);
    ok!(cuMemCreate(&mut handle, BYTES, &props, 0));
    ok!(cuMemAddressReserve(&mut at, BYTES, 0, 0, 0));
    ok!(cuMemMap(at, BYTES, 0, handle, 0));
    // Only the device of the work, because the software device has one access for all devices.
    ok!(cuMemSetAccess(at, BYTES, &access(has, ALL), 1));
    match call {
        "cuMemUnmap" => Memory::new(at, move || code!(cuMemUnmap(at, BYTES))),
        "cuMemRelease" => Memory::new(at, move || code!(cuMemRelease(handle))),
        "cuMemSetAccess_none" => {
            Memory::new(at, move || code!(cuMemSetAccess(at, BYTES, &access(has, NONE), 1)))
        }
        _ => Memory::new(at, move || code!(cuMemSetAccess(at, BYTES, &access(has, READ), 1))),
    }
}

fn pooled(call: &str) -> Option<Memory> {
    let props = CUmemPoolProps {
        allocType: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        location: access(0, ALL).location,
        ..CUmemPoolProps::zeroed()
    };
    let (mut pool, mut address, beside) = (CUmemoryPool::null(), 0, stream(NONBLOCKING));
    ok!(cuMemPoolCreate(&mut pool, &props));
    ok!(cuMemPoolSetAccess(pool, &access(1, ALL), 1));
    ok!(cuMemAllocFromPoolAsync(&mut address, BYTES, pool, beside));
    ok!(cuStreamSynchronize(beside));
    let free = move || code!(cuMemFreeAsync(address, beside));
    match call {
        "cuMemFree_of_pool" => Memory::new(address, move || code!(cuMemFree_v2(address))),
        "cuMemFreeAsync" => Memory::new(address, free),
        "cuMemPoolDestroy" => Memory::new(address, move || {
            assert_eq!(free(), CUresult::CUDA_SUCCESS);
            code!(cuMemPoolDestroy(pool))
        }),
        _ => Memory::new(address, move || {
            assert_eq!(free(), CUresult::CUDA_SUCCESS);
            ok!(cuStreamSynchronize(beside));
            code!(cuMemPoolTrimTo(pool, 0))
        }),
    }
}

fn external(call: &str) -> Option<Memory> {
    let other = ExternalMemory::new(BYTES as u64).unwrap();
    let mut desc = CUDA_EXTERNAL_MEMORY_HANDLE_DESC::zeroed();
    desc.type_ = CUexternalMemoryHandleType::CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    desc.handle.fd = other.descriptor().unwrap();
    desc.size = BYTES as u64;
    let (mut imported, mut address) = (CUexternalMemory::null(), 0);
    ok!(cuImportExternalMemory(&mut imported, &desc));
    let mut part = CUDA_EXTERNAL_MEMORY_BUFFER_DESC::zeroed();
    part.size = BYTES as u64;
    ok!(cuExternalMemoryGetMappedBuffer(&mut address, imported, &part));
    let memory = match call {
        "cuMemFree_of_external" => Memory::new(address, move || code!(cuMemFree_v2(address))),
        _ => Memory::new(address, move || code!(cuDestroyExternalMemory(imported))),
    };
    memory.map(|memory| memory.keeping(other))
}

fn opengl(call: &str) -> Option<Memory> {
    let gl = StandIn::make_current();
    let (mut resource, mut address, mut bytes, beside) =
        (CUgraphicsResource::null(), 0, 0, stream(NONBLOCKING));
    ok!(cuGraphicsGLRegisterBuffer(&mut resource, gl.buffer(&vec![0; BYTES]), 0));
    ok!(cuGraphicsMapResources(1, &mut resource, beside));
    ok!(cuGraphicsResourceGetMappedPointer_v2(&mut address, &mut bytes, resource));
    let unmap = move || code!(cuGraphicsUnmapResources(1, &mut { resource }, beside));
    let memory = match call {
        "cuGraphicsUnmapResources" => Memory::new(address, unmap),
        "cuGraphicsUnregisterResource" => {
            Memory::new(address, move || code!(cuGraphicsUnregisterResource(resource)))
        }
        _ => Memory::new(address, move || {
            assert_eq!(unmap(), CUresult::CUDA_SUCCESS);
            code!(cuGraphicsUnregisterResource(resource))
        }),
    };
    memory.map(|memory| memory.keeping(gl))
}

/// Set in the process that exports memory.
const EXPORTER: &str = "CUPRUM_TEST_EXPORTER";

/// The other process, and the rest of its output. It ends with its input.
struct Exporter(Child, Lines<BufReader<ChildStdout>>);

impl Drop for Exporter {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ended = self.0.wait();
    }
}

fn opened() -> Option<Memory> {
    let mut other = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "memory::the_exporting_process", "--nocapture"])
        .env(EXPORTER, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(other.stdout.take().unwrap()).lines();
    let mut exporter = Exporter(other, lines);
    let said = exporter.1.find_map(|line| Some(line.unwrap().split_once("handle ")?.1.to_owned()));
    let handle = said.expect("a handle");
    let handle: Vec<u8> = handle.split(' ').map(|byte| byte.parse().unwrap()).collect();
    let handle = CUipcMemHandle { reserved: handle.try_into().unwrap() };
    let mut address = 0;
    ok!(cuIpcOpenMemHandle_v2(&mut address, handle, CUipcMem_flags::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS.0));
    let memory = Memory::new(address, move || code!(cuIpcCloseMemHandle(address)));
    memory.map(|memory| memory.keeping(exporter))
}

/// When run as a test, it does nothing.
#[test]
fn the_exporting_process() {
    if std::env::var_os(EXPORTER).is_none() {
        return;
    }
    let _context = TestContext::new();
    let (memory, mut handle) = (alloc(BYTES), CUipcMemHandle { reserved: [0; 64] });
    ok!(cuIpcGetMemHandle(&mut handle, memory));
    let bytes: Vec<String> = handle.reserved.iter().map(ToString::to_string).collect();
    println!("handle {}", bytes.join(" "));
    let _until_it_ends = std::io::stdin().read_to_end(&mut Vec::new());
}
