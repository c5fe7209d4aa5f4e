//! Cost of an object with many live objects of its kind: no more than with few.

use core::ffi::c_void;
use core::ptr::null_mut;
use std::time::Duration;

use cuprum_sys::*;
use cuprum_testing::clock::Start;
use cuprum_testing::driver_calls::*;
use cuprum_testing::processes::in_child;

/// Calls a driver function that must succeed, from a given table.
macro_rules! quick {
    ($table:ident.$name:ident($($arg:expr),* $(,)?)) => {
        // SAFETY: the arguments are outputs and objects of the test.
        assert_eq!(unsafe { ($table.$name)($($arg),*) }, CUresult::CUDA_SUCCESS)
    };
}

/// Creates and uses an object, and ends it unless it must stay.
type Cycle = fn(&'static Fns, bool);

const GRANULE: usize = 2 << 20;

fn describe(table: &Fns, address: CUdeviceptr) {
    let mut kind = 0u32;
    let attribute = CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    quick!(table.cuPointerGetAttribute((&raw mut kind).cast(), attribute, address));
    let (mut base, mut bytes) = (0, 0);
    quick!(table.cuMemGetAddressRange_v2(&mut base, &mut bytes, address));
    assert_eq!(base, address);
}

fn array_of(table: &Fns) -> CUarray {
    let format = CUarray_format::CU_AD_FORMAT_FLOAT;
    let description = CUDA_ARRAY_DESCRIPTOR { Width: 16, Height: 1, Format: format, NumChannels: 1 };
    let mut array = CUarray::null();
    quick!(table.cuArrayCreate_v2(&mut array, &description));
    array
}

fn resource(array: CUarray) -> CUDA_RESOURCE_DESC {
    let mut resource = CUDA_RESOURCE_DESC::zeroed();
    resource.resType = CUresourcetype::CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    resource
}

const KINDS: &[(&str, usize, Cycle)] = &[
    ("device memory", 20_000, |table, stays| {
        let mut address = 0;
        quick!(table.cuMemAlloc_v2(&mut address, 512));
        describe(table, address);
        quick!(table.cuMemsetD8_v2(address, 1, 512));
        if !stays {
            quick!(table.cuMemFree_v2(address));
        }
    }),
    ("page-locked memory", 5_000, |table, stays| {
        let (mut host, mut address) = (null_mut(), 0);
        quick!(table.cuMemHostAlloc(&mut host, 64, 0));
        quick!(table.cuMemHostGetDevicePointer_v2(&mut address, host, 0));
        if !stays {
            quick!(table.cuMemFreeHost(host));
        }
    }),
    ("registered memory", 5_000, |table, stays| {
        let host = Box::leak(vec![0u8; 4096].into_boxed_slice());
        let place = host.as_mut_ptr().cast::<c_void>();
        quick!(table.cuMemHostRegister_v2(place, host.len(), 0));
        if !stays {
            quick!(table.cuMemHostUnregister(place));
        }
    }),
    ("managed memory", 5_000, |table, stays| {
        let mut address = 0;
        quick!(table.cuMemAllocManaged(&mut address, 64, CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL.0));
        describe(table, address);
        if !stays {
            quick!(table.cuMemFree_v2(address));
        }
    }),
    ("memory of a pool", 20_000, |table, stays| {
        let (mut address, stream) = (0, CUstream::null());
        quick!(table.cuMemAllocAsync(&mut address, 512, stream));
        describe(table, address);
        if !stays {
            quick!(table.cuMemFreeAsync(address, stream));
        }
    }),
    ("pools", 2_000, |table, stays| {
        let props = CUmemPoolProps {
            allocType: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
            location: CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: 0 },
            ..CUmemPoolProps::zeroed()
        };
        let (mut pool, mut address) = (CUmemoryPool::null(), 0);
        quick!(table.cuMemPoolCreate(&mut pool, &props));
        quick!(table.cuMemAllocFromPoolAsync(&mut address, 64, pool, CUstream::null()));
        quick!(table.cuMemPoolTrimTo(pool, 0));
        if !stays {
            quick!(table.cuMemFreeAsync(address, CUstream::null()));
            quick!(table.cuMemPoolDestroy(pool));
        }
    }),
    ("mapped memory", 2_000, |table, stays| {
        let location = CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: 0 };
        let mut props = CUmemAllocationProp::zeroed();
        (props.type_, props.location) = (CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED, location);
        let flags = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        let access = CUmemAccessDesc { location, flags };
        let (mut address, mut handle) = (0, 0);
        quick!(table.cuMemAddressReserve(&mut address, GRANULE, 0, 0, 0));
        quick!(table.cuMemCreate(&mut handle, GRANULE, &props, 0));
        quick!(table.cuMemMap(address, GRANULE, 0, handle, 0));
        quick!(table.cuMemSetAccess(address, GRANULE, &access, 1));
        if !stays {
            quick!(table.cuMemUnmap(address, GRANULE));
            quick!(table.cuMemRelease(handle));
            quick!(table.cuMemAddressFree(address, GRANULE));
        }
    }),
    ("arrays with textures and surfaces", 5_000, |table, stays| {
        let array = array_of(table);
        let (mut texture, mut surface) = (0, 0);
        let (resource, how) = (resource(array), CUDA_TEXTURE_DESC::zeroed());
        quick!(table.cuTexObjectCreate(&mut texture, &resource, &how, core::ptr::null()));
        quick!(table.cuSurfObjectCreate(&mut surface, &resource));
        if !stays {
            quick!(table.cuTexObjectDestroy(texture));
            quick!(table.cuSurfObjectDestroy(surface));
            quick!(table.cuArrayDestroy(array));
        }
    }),
    ("streams and events", 20_000, |table, stays| {
        let (mut stream, mut event) = (CUstream::null(), CUevent::null());
        quick!(table.cuStreamCreate(&mut stream, 0));
        quick!(table.cuEventCreate(&mut event, 0));
        quick!(table.cuEventRecord(event, stream));
        quick!(table.cuStreamWaitEvent(CUstream::null(), event, 0));
        quick!(table.cuStreamSynchronize(stream));
        if !stays {
            quick!(table.cuEventDestroy_v2(event));
            quick!(table.cuStreamDestroy_v2(stream));
        }
    }),
    ("captures in progress", 5_000, |table, stays| {
        let (mut stream, mut graph) = (CUstream::null(), CUgraph::null());
        quick!(table.cuStreamCreate(&mut stream, 1));
        quick!(table.cuStreamBeginCapture_v2(stream, CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED));
        if !stays {
            quick!(table.cuStreamEndCapture(stream, &mut graph));
            quick!(table.cuGraphDestroy(graph));
            quick!(table.cuStreamDestroy_v2(stream));
        }
    }),
    ("graphs", 5_000, |table, stays| {
        let (mut graph, mut node, mut exec) = (CUgraph::null(), CUgraphNode::null(), CUgraphExec::null());
        quick!(table.cuGraphCreate(&mut graph, 0));
        quick!(table.cuGraphAddEmptyNode(&mut node, graph, null_mut(), 0));
        quick!(table.cuGraphInstantiateWithFlags(&mut exec, graph, 0));
        quick!(table.cuGraphLaunch(exec, CUstream::null()));
        if !stays {
            quick!(table.cuGraphExecDestroy(exec));
            quick!(table.cuGraphDestroy(graph));
        }
    }),
    ("modules", 2_000, |table, stays| {
        let text = c".version 7.8\n.target sm_75\n.address_size 64\n.visible .global .u32 v;\n.visible .entry k() { ret; }\n";
        let (mut module, mut function) = (CUmodule::null(), CUfunction::null());
        let (mut address, mut bytes) = (0, 0);
        quick!(table.cuModuleLoadData(&mut module, text.as_ptr().cast()));
        quick!(table.cuModuleGetFunction(&mut function, module, c"k".as_ptr()));
        quick!(table.cuModuleGetGlobal_v2(&mut address, &mut bytes, module, c"v".as_ptr()));
        quick!(table.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, CUstream::null(), null_mut(), null_mut()));
        if !stays {
            quick!(table.cuModuleUnload(module));
        }
    }),
    ("libraries", 2_000, |table, stays| {
        let text = c".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n";
        let (mut library, mut kernel) = (CUlibrary::null(), CUkernel::null());
        quick!(table.cuLibraryLoadData(
            &mut library,
            text.as_ptr().cast(),
            null_mut(),
            null_mut(),
            0,
            null_mut(),
            null_mut(),
            0
        ));
        quick!(table.cuLibraryGetKernel(&mut kernel, library, c"k".as_ptr()));
        let mut function = CUfunction::null();
        quick!(table.cuKernelGetFunction(&mut function, kernel));
        quick!(table.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, CUstream::null(), null_mut(), null_mut()));
        if !stays {
            quick!(table.cuLibraryUnload(library));
        }
    }),
    ("contexts", 1_000, |table, stays| {
        let mut context = CUcontext::null();
        quick!(table.cuCtxCreate_v2(&mut context, 0, 0));
        let mut address = 0;
        quick!(table.cuMemAlloc_v2(&mut address, 64));
        quick!(table.cuCtxPopCurrent_v2(&mut context));
        if !stays {
            quick!(table.cuCtxDestroy_v2(context));
        }
    }),
];

fn time(table: &'static Fns, cycle: Cycle) -> Duration {
    let once = || {
        let start = Start::now();
        (0..300).for_each(|_| cycle(table, false));
        start.elapsed()
    };
    (0..3).map(|_| once()).min().unwrap_or_default()
}

fn check(mode: &str, test: &str) {
    for &(name, many, cycle) in KINDS {
        in_child(test, &[("CUPRUM_EMULATOR_MODE", mode), ("KIND", name)], || {
            let _context = TestContext::new();
            let table = fns();
            let few = time(table, cycle);
            (0..many).for_each(|_| cycle(table, true));
            let more = time(table, cycle);
            println!("{mode}, {name}: 300 in {few:?}, among {many} in {more:?}");
            assert!(more <= 8 * few.max(Duration::from_millis(2)), "{mode}, {name}: {few:?}, {more:?}");
        });
    }
}

#[test]
fn of_all_kinds_in_the_eager_mode() {
    check("eager", "objects::of_all_kinds_in_the_eager_mode");
}

#[test]
fn of_all_kinds_in_the_deferred_mode() {
    check("deferred", "objects::of_all_kinds_in_the_deferred_mode");
}
