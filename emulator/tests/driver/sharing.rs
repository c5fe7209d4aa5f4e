//! Memory, pools and events shared by two processes: the test, and this program started again.

use crate::peer::{Peer, bytes, hex, is_peer, serve};
use cuprum_sys::*;
use cuprum_testing::driver_calls::*;

const INVALID_VALUE: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const NOT_READY: CUresult = CUresult::CUDA_ERROR_NOT_READY;
const FILE: CUmemAllocationHandleType = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
const LAZY: u32 = CUipcMem_flags::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS.0;
const SHARED_EVENT: u32 = CUevent_flags::CU_EVENT_INTERPROCESS.0 | CUevent_flags::CU_EVENT_DISABLE_TIMING.0;

fn other() -> Peer {
    Peer::start("sharing::the_other_process")
}

/// Opens a descriptor of the process that started this one.
fn descriptor_of_parent(number: &str) -> i32 {
    use std::os::fd::IntoRawFd;
    let path = format!("/proc/{}/fd/{number}", std::os::unix::process::parent_id());
    std::fs::File::options().read(true).write(true).open(path).unwrap().into_raw_fd()
}

fn as_pointer(descriptor: i32) -> *mut core::ffi::c_void {
    core::ptr::without_provenance_mut(descriptor as usize)
}

fn props(types: CUmemAllocationHandleType) -> CUmemAllocationProp {
    CUmemAllocationProp {
        type_: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        requestedHandleTypes: types,
        location: CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: 0 },
        ..CUmemAllocationProp::zeroed()
    }
}

/// Maps physical memory with read and write access for the device.
fn map(physical: u64, bytes: usize) -> u64 {
    let mut address = 0;
    ok!(cuMemAddressReserve(&mut address, bytes, 0, 0, 0));
    ok!(cuMemMap(address, bytes, 0, physical, 0));
    let access = CUmemAccessDesc {
        location: CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: 0 },
        flags: CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
    };
    ok!(cuMemSetAccess(address, bytes, &access, 1));
    address
}

/// Imports physical memory by a descriptor of the other process, and maps it.
fn import_physical(descriptor: &str, bytes: usize) -> u64 {
    let mut physical = 0;
    let descriptor = as_pointer(descriptor_of_parent(descriptor));
    ok!(cuMemImportFromShareableHandle(&mut physical, descriptor, FILE));
    map(physical, bytes)
}

fn open_memory(handle: &str) -> String {
    let mut address = 0;
    let handle = CUipcMemHandle { reserved: bytes(handle) };
    let code = code!(cuIpcOpenMemHandle_v2(&mut address, handle, LAZY));
    format!("{} {address}", code.0)
}

/// The body of the other process. When run as a test, it does nothing.
#[test]
fn the_other_process() {
    if !is_peer() {
        return;
    }
    let _context = TestContext::new();
    let stream = stream(1);
    let (mut events, mut pools) = (Vec::new(), Vec::new());
    serve(|words| {
        let number = |index: usize| words[index].parse::<u64>().unwrap();
        let event = |events: &[CUevent]| events[number(1) as usize];
        match words[0] {
            "open" => open_memory(words[1]),
            "close" => code!(cuIpcCloseMemHandle(number(1))).0.to_string(),
            "free" => code!(cuMemFree_v2(number(1))).0.to_string(),
            "free_async" => code!(cuMemFreeAsync(number(1), stream)).0.to_string(),
            "read" => read::<u32>(number(1), 1)[0].to_string(),
            "write" => {
                write(number(1), &[number(2) as u32]);
                "done".to_owned()
            }
            "event" => {
                let mut event = CUevent::null();
                let handle = CUipcEventHandle { reserved: bytes(words[1]) };
                let code = code!(cuIpcOpenEventHandle(&mut event, handle));
                events.push(event);
                format!("{} {}", code.0, events.len() - 1)
            }
            "query" => code!(cuEventQuery(event(&events))).0.to_string(),
            "record" => code!(cuEventRecord(event(&events), stream)).0.to_string(),
            "synchronize" => code!(cuEventSynchronize(event(&events))).0.to_string(),
            "wait" => code!(cuStreamWaitEvent(stream, event(&events), 0)).0.to_string(),
            "stream" => code!(cuStreamQuery(stream)).0.to_string(),
            "physical" => import_physical(words[1], number(2) as usize).to_string(),
            "pool" => {
                let mut pool = CUmemoryPool::null();
                let descriptor = as_pointer(descriptor_of_parent(words[1]));
                let code = code!(cuMemPoolImportFromShareableHandle(&mut pool, descriptor, FILE, 0));
                pools.push(pool);
                code.0.to_string()
            }
            "pointer" => {
                let mut address = 0;
                let mut data = CUmemPoolPtrExportData { reserved: bytes(words[1]) };
                let code = code!(cuMemPoolImportPointer(&mut address, pools[0], &mut data));
                format!("{} {address}", code.0)
            }
            "allocate" => {
                let mut address = 0;
                code!(cuMemAllocFromPoolAsync(&mut address, 1024, pools[0], stream)).0.to_string()
            }
            other => panic!("{other}?"),
        }
    });
}

fn handle_of(address: u64) -> String {
    let mut handle = CUipcMemHandle { reserved: [0; 64] };
    ok!(cuIpcGetMemHandle(&mut handle, address));
    hex(handle.reserved)
}

fn address(answer: &str) -> u64 {
    answer.strip_prefix("0 ").unwrap_or_else(|| panic!("{answer}")).parse().unwrap()
}

#[test]
fn two_processes_have_the_same_bytes() {
    let _context = TestContext::new();
    let mut peer = other();
    for size in [64, 5000, 4 << 20] {
        let memory = alloc(size);
        write(memory, &[7u32]);
        let opened = address(&peer.ask(&format!("open {}", handle_of(memory))));
        assert_eq!(peer.ask(&format!("read {opened}")), "7");
        peer.ask(&format!("write {opened} 8"));
        assert_eq!(read::<u32>(memory, 1), [8]);
        write(memory, &[9u32]);
        assert_eq!(peer.ask(&format!("read {opened}")), "9");
        assert_eq!(peer.ask(&format!("free {opened}")), "1", "it is not the other's to free");
        assert_eq!(peer.ask(&format!("close {opened}")), "0");
        assert_eq!(peer.ask(&format!("close {opened}")), "1");
        ok!(cuMemFree_v2(memory));
    }
}

#[test]
fn what_is_open_gets_the_same_address_and_is_closed_as_often() {
    let _context = TestContext::new();
    let (mut peer, memory) = (other(), alloc(4096));
    let handle = handle_of(memory);
    assert_eq!(handle, handle_of(memory + 100), "of the allocation, not of the address");
    let first = address(&peer.ask(&format!("open {handle}")));
    assert_eq!(address(&peer.ask(&format!("open {handle}"))), first);
    assert_eq!(peer.ask(&format!("close {first}")), "0");
    write(memory, &[11u32]);
    assert_eq!(peer.ask(&format!("read {first}")), "11");
    assert_eq!(peer.ask(&format!("close {}", first + 4)), "1");
    assert_eq!(peer.ask(&format!("close {first}")), "0");
    assert_eq!(peer.ask(&format!("close {first}")), "1");
    ok!(cuMemFree_v2(memory));
}

#[test]
fn what_was_freed_cannot_be_opened_and_what_is_open_stays() {
    let _context = TestContext::new();
    let (mut peer, memory) = (other(), alloc(1 << 20));
    write(memory, &[12u32]);
    let handle = handle_of(memory);
    let opened = address(&peer.ask(&format!("open {handle}")));
    ok!(cuMemFree_v2(memory));
    assert_eq!(peer.ask(&format!("read {opened}")), "12");
    let other = alloc(1 << 20);
    assert_eq!(read::<u32>(other, 1), [0]);
    assert_eq!(peer.ask(&format!("read {opened}")), "12");
    assert_eq!(
        address(&peer.ask(&format!("open {handle}"))),
        opened,
        "open here, whatever became of it there"
    );
    assert_eq!(peer.ask(&format!("close {opened}")), "0");
    assert_eq!(peer.ask(&format!("close {opened}")), "0");
    assert_eq!(peer.ask(&format!("open {handle}")), "1 0");
    ok!(cuMemFree_v2(other));
}

#[test]
fn a_process_that_is_killed_leaves_nothing() {
    let _context = TestContext::new();
    let mut handle = String::new();
    let memory = alloc(1 << 20);
    {
        let mut peer = other();
        handle.push_str(&handle_of(memory));
        address(&peer.ask(&format!("open {handle}")));
        peer.kill();
    }
    write(memory, &[13u32]);
    ok!(cuMemFree_v2(memory));
}

#[test]
fn handles_of_this_process_and_of_nothing_are_refused() {
    let _context = TestContext::new();
    let memory = alloc(4096);
    let mut handle = CUipcMemHandle { reserved: [0; 64] };
    let mut opened = 0;
    assert_eq!(code!(cuIpcOpenMemHandle_v2(&mut opened, handle, LAZY)), INVALID_VALUE);
    assert_eq!(code!(cuIpcGetMemHandle(core::ptr::null_mut(), memory)), INVALID_VALUE);
    assert_eq!(code!(cuIpcGetMemHandle(&mut handle, 16)), INVALID_VALUE);
    ok!(cuIpcGetMemHandle(&mut handle, memory));
    let own = CUresult::CUDA_ERROR_INVALID_CONTEXT;
    assert_eq!(code!(cuIpcOpenMemHandle_v2(&mut opened, handle, LAZY)), own);
    assert_eq!(code!(cuIpcCloseMemHandle(memory)), INVALID_VALUE);
    for broken in 0..64 {
        let mut handle = handle;
        handle.reserved[broken] ^= 0x55;
        assert_ne!(code!(cuIpcOpenMemHandle_v2(&mut opened, handle, LAZY)), CUresult::CUDA_SUCCESS);
    }
    let mut managed = 0;
    ok!(cuMemAllocManaged(&mut managed, 4096, 1));
    assert_eq!(code!(cuIpcGetMemHandle(&mut handle, managed)), INVALID_VALUE);
    ok!(cuMemFree_v2(managed));
    ok!(cuMemFree_v2(memory));
}

/// `/proc` has a folder for each thread, too.
#[test]
fn a_handle_with_the_number_of_a_thread_of_this_process_is_its_own() {
    let _context = TestContext::new();
    let memory = alloc(4096);
    let (mut handle, mut opened) = (CUipcMemHandle { reserved: [0; 64] }, 0);
    ok!(cuIpcGetMemHandle(&mut handle, memory));
    let this = std::fs::read_link("/proc/thread-self").unwrap();
    let thread: u32 = this.file_name().unwrap().to_str().unwrap().parse().unwrap();
    assert_eq!(handle.reserved[8..12], std::process::id().to_le_bytes());
    assert_ne!(thread, std::process::id(), "a test has its own thread");
    handle.reserved[8..12].copy_from_slice(&thread.to_le_bytes());
    let own = CUresult::CUDA_ERROR_INVALID_CONTEXT;
    assert_eq!(code!(cuIpcOpenMemHandle_v2(&mut opened, handle, LAZY)), own);
    ok!(cuMemFree_v2(memory));
}

#[test]
fn an_event_of_another_process_is_reached_when_its_stream_gets_there() {
    let _context = TestContext::new();
    let (mut peer, stream, flag) = (other(), stream(1), alloc(4));
    let mut event = CUevent::null();
    let interprocess = CUevent_flags::CU_EVENT_INTERPROCESS.0;
    assert_eq!(code!(cuEventCreate(&mut event, interprocess)), INVALID_VALUE);
    ok!(cuEventCreate(&mut event, SHARED_EVENT));
    let mut handle = CUipcEventHandle { reserved: [0; 64] };
    ok!(cuIpcGetEventHandle(&mut handle, event));
    assert_eq!(peer.ask(&format!("event {}", hex(handle.reserved))), "0 0");
    assert_eq!(peer.ask("query 0"), "0", "never recorded");
    write(flag, &[0u32]);
    ok!(cuStreamWaitValue32_v2(stream, flag, 1, 1));
    ok!(cuEventRecord(event, stream));
    assert_eq!(code!(cuEventQuery(event)), NOT_READY);
    assert_eq!(peer.ask("query 0"), NOT_READY.0.to_string());
    assert_eq!(peer.ask("wait 0"), "0");
    assert_eq!(peer.ask("stream 0"), NOT_READY.0.to_string());
    peer.say("synchronize 0");
    write(flag, &[1u32]);
    assert_eq!(peer.answer("synchronize"), "0");
    assert_eq!(peer.ask("query 0"), "0");
    assert_eq!(peer.ask("record 0"), "0");
    ok!(cuEventSynchronize(event));
    ok!(cuEventDestroy_v2(event));
    assert_eq!(peer.ask("query 0"), "0", "the other's handle stays");
    let mut plain = CUevent::null();
    ok!(cuEventCreate(&mut plain, CUevent_flags::CU_EVENT_DISABLE_TIMING.0));
    assert_eq!(code!(cuIpcGetEventHandle(&mut handle, plain)), CUresult::CUDA_ERROR_INVALID_HANDLE);
    let mut opened = CUevent::null();
    let own = CUresult::CUDA_ERROR_INVALID_CONTEXT;
    assert_eq!(code!(cuIpcOpenEventHandle(&mut opened, handle)), own);
    handle.reserved = [0; 64];
    let unmapped = CUresult::CUDA_ERROR_MAP_FAILED;
    assert_eq!(code!(cuIpcOpenEventHandle(&mut opened, handle)), unmapped);
    ok!(cuEventDestroy_v2(plain));
    ok!(cuStreamDestroy_v2(stream));
    ok!(cuMemFree_v2(flag));
}

#[test]
fn physical_memory_travels_by_descriptor() {
    const BYTES: usize = 2 << 20;
    let _context = TestContext::new();
    let mut peer = other();
    let (mut physical, mut private, mut descriptor) = (0, 0, -1);
    let none = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE;
    ok!(cuMemCreate(&mut private, BYTES, &props(none), 0));
    let to = (&raw mut descriptor).cast();
    assert_eq!(code!(cuMemExportToShareableHandle(to, private, FILE, 0)), INVALID_VALUE);
    ok!(cuMemCreate(&mut physical, BYTES, &props(FILE), 0));
    ok!(cuMemExportToShareableHandle((&raw mut descriptor).cast(), physical, FILE, 0));
    let here = map(physical, BYTES);
    write(here, &[21u32]);
    let there: u64 = peer.ask(&format!("physical {descriptor} {BYTES}")).parse().unwrap();
    assert_eq!(peer.ask(&format!("read {there}")), "21");
    peer.ask(&format!("write {there} 22"));
    assert_eq!(read::<u32>(here, 1), [22]);
    let mut again = 0;
    ok!(cuMemImportFromShareableHandle(&mut again, as_pointer(descriptor), FILE));
    let second = map(again, BYTES);
    assert_eq!(read::<u32>(second, 1), [22]);
    let mut wrong = 0;
    for refused in [-1, 0, 1, 99_999] {
        let code = code!(cuMemImportFromShareableHandle(&mut wrong, as_pointer(refused), FILE));
        assert_eq!(code, CUresult::CUDA_ERROR_UNKNOWN, "{refused}");
    }
    for address in [here, second] {
        ok!(cuMemUnmap(address, BYTES));
        ok!(cuMemAddressFree(address, BYTES));
    }
    for handle in [physical, private, again] {
        ok!(cuMemRelease(handle));
    }
    assert_eq!(peer.ask(&format!("read {there}")), "22", "it lives as long as one process has it");
}

#[test]
fn a_pool_travels_by_descriptor_and_its_allocations_by_64_bytes() {
    let _context = TestContext::new();
    let (mut peer, stream) = (other(), stream(1));
    let wanted = CUmemPoolProps {
        allocType: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        handleTypes: FILE,
        location: CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: 0 },
        ..CUmemPoolProps::zeroed()
    };
    let (mut pool, mut descriptor, mut memory) = (CUmemoryPool::null(), -1, 0);
    ok!(cuMemPoolCreate(&mut pool, &wanted));
    ok!(cuMemPoolExportToShareableHandle((&raw mut descriptor).cast(), pool, FILE, 0));
    ok!(cuMemAllocFromPoolAsync(&mut memory, 1000, pool, stream));
    ok!(cuStreamSynchronize(stream));
    write(memory, &[31u32]);
    let mut data = CUmemPoolPtrExportData { reserved: [0; 64] };
    ok!(cuMemPoolExportPointer(&mut data, memory));
    assert_eq!(peer.ask(&format!("pool {descriptor}")), "0");
    let there = address(&peer.ask(&format!("pointer {}", hex(data.reserved))));
    assert_eq!(address(&peer.ask(&format!("pointer {}", hex(data.reserved)))), there);
    assert_eq!(peer.ask(&format!("pointer {}", hex([0; 64]))), "1 0");
    assert_eq!(peer.ask(&format!("read {there}")), "31");
    peer.ask(&format!("write {there} 32"));
    assert_eq!(read::<u32>(memory, 1), [32]);
    assert_eq!(peer.ask("allocate 0"), "1", "only the process that made the pool allocates");
    assert_eq!(peer.ask(&format!("close {there}")), "1");
    assert_eq!(peer.ask(&format!("free_async {there}")), "0");
    assert_eq!(peer.ask(&format!("free {there}")), "1");
    let private = alloc(64);
    assert_eq!(code!(cuMemPoolExportPointer(&mut data, private)), INVALID_VALUE);
    ok!(cuMemFree_v2(private));
    ok!(cuMemFreeAsync(memory, stream));
    ok!(cuStreamSynchronize(stream));
    ok!(cuMemPoolDestroy(pool));
    ok!(cuStreamDestroy_v2(stream));
}
