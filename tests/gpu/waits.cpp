// Finds the calls that free, close, unmap, revoke or update and wait for queued work: work of the calling thread's
// context, and work that a context of another device has queued on the same memory.
//
//     waits CASE WORK        (waits.sh builds it and runs every case in a process of its own)
//
// Copies between devices (`sync_*`) name the call that copies, the context that is current, and the wait or free after it.
//
// WORK is `own` (a kernel of the current context that reads the memory for 300 ms), `peer_kernel` (the same kernel on
// another device, through peer access), `peer_copy` (copies out of the memory, queued by the other device's context for
// some 300 ms) or `host_copy` (copies of page-locked memory, queued by the other device's context).
// Prints one line: case, work, the call's code, milliseconds until it returned, whether the work was done by then, and the
// answers of both contexts to a wait afterwards.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <functional>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <cuda.h>
#include <vulkan/vulkan.h>

extern "C" CUresult cuCtxCreate_v2(CUcontext*, unsigned, CUdevice);

using std::string;
using Clock = std::chrono::steady_clock;

static const char* KERNELS = R"(
.version 6.4
.target sm_52
.address_size 64
.visible .entry reader(.param .u64 p, .param .u64 ns) {
 .reg .u64 a, t, n; .reg .u32 v; .reg .pred q;
 ld.param.u64 a, [p]; ld.param.u64 n, [ns];
 mov.u64 t, %globaltimer; add.u64 t, t, n;
L: ld.volatile.global.u32 v, [a]; mov.u64 n, %globaltimer; setp.lt.u64 q, n, t; @q bra L; ret; }
)";

static void must(CUresult code, const char* call) {
    if (code != CUDA_SUCCESS) { printf("set-up failed: %s %d\n", call, code); exit(3); }
}
#define MUST(call) must(call, #call)
static double since(Clock::time_point start) { return std::chrono::duration<double, std::milli>(Clock::now() - start).count(); }

static CUdevice devices[2];
static CUcontext contexts[2];
static CUstream streams[2], beside[2];
static CUfunction readers[2];
static CUmodule modules[2];
static int gpus;
static const size_t MIB = 1 << 20, LARGE = 2048 * MIB;

static void current(int which) { MUST(cuCtxSetCurrent(contexts[which])); }
static void set_up(int which) {
    MUST(cuDevicePrimaryCtxRetain(&contexts[which], devices[which]));
    current(which);
    MUST(cuStreamCreate(&streams[which], CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&beside[which], CU_STREAM_NON_BLOCKING));
    MUST(cuModuleLoadData(&modules[which], KERNELS));
    MUST(cuModuleGetFunction(&readers[which], modules[which], "reader"));
}
static void launch(int which, CUdeviceptr memory, uint64_t ms, CUfunction function = nullptr) {
    uint64_t ns = ms * 1000000;
    void* arguments[] = {&memory, &ns};
    MUST(cuLaunchKernel(function ? function : readers[which], 1, 1, 1, 1, 1, 1, 0, streams[which], arguments, nullptr));
}
// Memory of device 0, and memory of device 1 that takes copies of it.
struct Memory { CUdeviceptr address = 0; size_t bytes = 0; };
static CUdeviceptr target;

static void queue_copies(size_t bytes, std::function<CUresult(CUstream)> copy) {
    (void)bytes;
    current(1);
    MUST(copy(streams[1]));
    MUST(cuStreamSynchronize(streams[1]));
    auto start = Clock::now();
    MUST(copy(streams[1]));
    MUST(cuStreamSynchronize(streams[1]));
    double one = since(start);
    int count = int(300 / one) + 2;
    if (count > 400) count = 400;
    for (int at = 0; at < count; ++at) MUST(copy(streams[1]));
}
// Queues work on `memory` and says which device has it.
static int queue(const string& work, CUdeviceptr memory, size_t bytes) {
    if (work == "own") { current(0); launch(0, memory, 300); return 0; }
    if (work == "peer_kernel") { current(1); launch(1, memory, 300); return 1; }
    if (work == "peer_copy") {
        queue_copies(bytes, [=](CUstream s) { return cuMemcpyPeerAsync(target, contexts[1], memory, contexts[0], bytes, s); });
        return 1;
    }
    if (work == "push_copy") {
        // Queued by the context of the source.
        current(0);
        for (int at = 0; at < 50; ++at) MUST(cuMemcpyPeerAsync(target, contexts[1], memory, contexts[0], bytes, streams[0]));
        return 0;
    }
    if (work == "dtod_copy") {
        queue_copies(bytes, [=](CUstream s) { return cuMemcpyDtoDAsync(target, memory, bytes, s); });
        return 1;
    }
    if (work == "host_copy") {
        queue_copies(bytes, [=](CUstream s) { return cuMemcpyHtoDAsync(target, (void*)memory, bytes, s); });
        return 1;
    }
    printf("no such work\n");
    exit(2);
}
static void report(const string& name, const string& work, int has, CUresult code, double ms, CUresult query) {
    CUresult after[2] = {CUDA_SUCCESS, CUDA_SUCCESS};
    (void)has;
    for (int which = 0; which < gpus; ++which) {
        cuCtxSetCurrent(contexts[which]);
        after[which] = cuCtxSynchronize();
    }
    printf("%-28s %-12s code %3d  %8.1f ms  %-8s  then %d %d\n", name.c_str(), work.c_str(), code, ms,
        query == CUDA_SUCCESS ? "done" : query == CUDA_ERROR_NOT_READY ? "running" : "failed", after[0], after[1]);
    fflush(stdout);
}
static void measure(const string& name, const string& work, int has, std::function<CUresult()> call) {
    current(0);
    auto start = Clock::now();
    CUresult code = call();
    double ms = since(start);
    CUresult query = cuStreamQuery(streams[has]);
    report(name, work, has, code, ms, query);
}

// Virtual memory, mapped for both devices.
struct Virtual { CUmemGenericAllocationHandle handle; CUdeviceptr at; size_t bytes; };
static void allow(const Virtual& v, int which, CUmemAccess_flags flags) {
    CUmemAccessDesc access{};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.location.id = devices[which];
    access.flags = flags;
    MUST(cuMemSetAccess(v.at, v.bytes, &access, 1));
}
static CUmemAllocationProp on_device_0(bool shared) {
    CUmemAllocationProp prop{};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.location.id = devices[0];
    if (shared) prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    return prop;
}
static Virtual virtual_memory(size_t bytes, bool shared = false) {
    Virtual v{};
    v.bytes = bytes;
    auto prop = on_device_0(shared);
    MUST(cuMemCreate(&v.handle, bytes, &prop, 0));
    MUST(cuMemAddressReserve(&v.at, bytes, 0, 0, 0));
    MUST(cuMemMap(v.at, bytes, 0, v.handle, 0));
    for (int which = 0; which < gpus; ++which) allow(v, which, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    return v;
}

// Buffers of OpenGL, by EGL on the first device.
static unsigned opengl_buffer(size_t bytes) {
    void* egl = dlopen("libEGL.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (!egl) { printf("set-up failed: no EGL\n"); exit(3); }
    auto address = (void* (*)(const char*))dlsym(egl, "eglGetProcAddress");
    auto query = (unsigned (*)(int, void**, int*))address("eglQueryDevicesEXT");
    auto display = (void* (*)(unsigned, void*, const int*))address("eglGetPlatformDisplayEXT");
    auto initialize = (unsigned (*)(void*, int*, int*))dlsym(egl, "eglInitialize");
    auto bind = (unsigned (*)(unsigned))dlsym(egl, "eglBindAPI");
    auto choose = (unsigned (*)(void*, const int*, void**, int, int*))dlsym(egl, "eglChooseConfig");
    auto create = (void* (*)(void*, void*, void*, const int*))dlsym(egl, "eglCreateContext");
    auto make = (unsigned (*)(void*, void*, void*, void*))dlsym(egl, "eglMakeCurrent");
    void* found[16];
    int count = 0, major, minor, configs;
    if (!query || !query(16, found, &count) || !count) { printf("set-up failed: no EGL device\n"); exit(3); }
    void* screen = display(0x313F, found[0], nullptr);
    int wanted[] = {0x3033, 0x0001, 0x3040, 0x0008, 0x3038};
    void* config = nullptr;
    if (!initialize(screen, &major, &minor) || !bind(0x30A2) || !choose(screen, wanted, &config, 1, &configs)) {
        printf("set-up failed: EGL\n");
        exit(3);
    }
    void* context = create(screen, config, nullptr, nullptr);
    if (!make(screen, nullptr, nullptr, context)) { printf("set-up failed: eglMakeCurrent\n"); exit(3); }
    auto gen = (void (*)(int, unsigned*))address("glGenBuffers");
    auto bind_buffer = (void (*)(unsigned, unsigned))address("glBindBuffer");
    auto data = (void (*)(unsigned, long, const void*, unsigned))address("glBufferData");
    unsigned name = 0;
    gen(1, &name);
    bind_buffer(0x8892, name);
    data(0x8892, long(bytes), nullptr, 0x88E8);
    return name;
}
extern "C" CUresult cuGraphicsGLRegisterBuffer(CUgraphicsResource*, unsigned, unsigned);

// Memory of Vulkan on device 0, exported as a file.
static int vulkan_memory(size_t bytes) {
    CUuuid wanted;
    MUST(cuDeviceGetUuid(&wanted, devices[0]));
    void* library = dlopen("libvulkan.so.1", RTLD_NOW);
    if (!library) { printf("set-up failed: no Vulkan\n"); exit(3); }
    auto get = (PFN_vkGetInstanceProcAddr)dlsym(library, "vkGetInstanceProcAddr");
    VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
    application.apiVersion = VK_API_VERSION_1_1;
    VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    info.pApplicationInfo = &application;
    VkInstance instance;
    if (((PFN_vkCreateInstance)get(nullptr, "vkCreateInstance"))(&info, nullptr, &instance)) { printf("set-up failed: vkCreateInstance\n"); exit(3); }
    uint32_t count = 16;
    VkPhysicalDevice found[16], physical = nullptr;
    ((PFN_vkEnumeratePhysicalDevices)get(instance, "vkEnumeratePhysicalDevices"))(instance, &count, found);
    for (uint32_t at = 0; at < count; ++at) {
        VkPhysicalDeviceIDProperties id{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
        VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
        properties.pNext = &id;
        ((PFN_vkGetPhysicalDeviceProperties2)get(instance, "vkGetPhysicalDeviceProperties2"))(found[at], &properties);
        if (!memcmp(id.deviceUUID, wanted.bytes, 16)) physical = found[at];
    }
    if (!physical) { printf("set-up failed: no Vulkan device\n"); exit(3); }
    float priority = 1;
    VkDeviceQueueCreateInfo queue{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    const char* extension = "VK_KHR_external_memory_fd";
    VkDeviceCreateInfo create{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
    create.queueCreateInfoCount = 1;
    create.pQueueCreateInfos = &queue;
    create.enabledExtensionCount = 1;
    create.ppEnabledExtensionNames = &extension;
    VkDevice device;
    if (((PFN_vkCreateDevice)get(instance, "vkCreateDevice"))(physical, &create, nullptr, &device)) { printf("set-up failed: vkCreateDevice\n"); exit(3); }
    VkPhysicalDeviceMemoryProperties memories;
    ((PFN_vkGetPhysicalDeviceMemoryProperties)get(instance, "vkGetPhysicalDeviceMemoryProperties"))(physical, &memories);
    VkExportMemoryAllocateInfo exported{VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO};
    exported.handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    allocate.pNext = &exported;
    allocate.allocationSize = bytes;
    for (uint32_t at = 0; at < memories.memoryTypeCount; ++at)
        if (memories.memoryTypes[at].propertyFlags == VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) { allocate.memoryTypeIndex = at; break; }
    VkDeviceMemory memory;
    if (((PFN_vkAllocateMemory)get(instance, "vkAllocateMemory"))(device, &allocate, nullptr, &memory)) { printf("set-up failed: vkAllocateMemory\n"); exit(3); }
    VkMemoryGetFdInfoKHR wanted_file{VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR};
    wanted_file.memory = memory;
    wanted_file.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    int file = -1;
    if (((PFN_vkGetMemoryFdKHR)get(instance, "vkGetMemoryFdKHR"))(device, &wanted_file, &file)) { printf("set-up failed: vkGetMemoryFdKHR\n"); exit(3); }
    return file;
}

static CUresult inside[4];
static volatile int called;

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    string name = argv[1], work = argv[2];
    // The exporting process of the case of IPC, before CUDA starts in this one.
    int to_parent[2], to_child[2];
    pid_t child = 0;
    if (name == "cuIpcCloseMemHandle") {
        if (pipe(to_parent) || pipe(to_child)) return 3;
        child = fork();
        if (!child) {
            CUdevice device;
            CUcontext context;
            CUdeviceptr memory;
            CUipcMemHandle handle;
            MUST(cuInit(0));
            MUST(cuDeviceGet(&device, 0));
            MUST(cuDevicePrimaryCtxRetain(&context, device));
            MUST(cuCtxSetCurrent(context));
            MUST(cuMemAlloc(&memory, LARGE));
            MUST(cuIpcGetMemHandle(&handle, memory));
            char end;
            // Without it the end of the parent would not be seen.
            close(to_child[1]);
            if (write(to_parent[1], &handle, sizeof handle) < 0 || read(to_child[0], &end, 1) < 0) return 3;
            _exit(0);
        }
    }
    MUST(cuInit(0));
    MUST(cuDeviceGetCount(&gpus));
    gpus = gpus > 1 ? 2 : 1;
    for (int which = 0; which < gpus; ++which) {
        MUST(cuDeviceGet(&devices[which], which));
        set_up(which);
    }
    if (gpus == 2) {
        current(1);
        MUST(cuCtxEnablePeerAccess(contexts[0], 0));
        MUST(cuMemAlloc(&target, LARGE));
        current(0);
        MUST(cuCtxEnablePeerAccess(contexts[1], 0));
    } else if (work != "own" && work != "copies_to_host") {
        printf("%-28s %-12s needs two devices\n", name.c_str(), work.c_str());
        return 0;
    }
    current(0);

    if (name == "cuMemFree") {
        CUdeviceptr memory;
        MUST(cuMemAlloc(&memory, LARGE));
        int has = queue(work, memory, LARGE);
        measure(name, work, has, [&] { return cuMemFree(memory); });
    } else if (name.rfind("beside_capture_", 0) == 0) {
        // Other memory of the context, freed by a thread that is exempt from the capture of another stream.
        CUdeviceptr memory, other;
        MUST(cuMemAlloc(&memory, LARGE));
        MUST(cuMemAlloc(&other, 1));
        void* host;
        MUST(cuMemHostAlloc(&host, 1024 * MIB, 0));
        if (work == "own") queue(work, memory, LARGE);
        else for (int at = 0; at < 20; ++at) MUST(cuMemcpyDtoHAsync(host, memory, 1024 * MIB, streams[0]));
        MUST(cuStreamBeginCapture(beside[0], CU_STREAM_CAPTURE_MODE_GLOBAL));
        CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
        MUST(cuThreadExchangeStreamCaptureMode(&mode));
        current(0);
        auto start = Clock::now();
        CUresult code = name == "beside_capture_wait" ? cuStreamSynchronize(streams[0]) : cuMemFree(other);
        double ms = since(start);
        CUresult query = cuStreamQuery(streams[0]);
        CUstreamCaptureStatus status;
        MUST(cuStreamIsCapturing(beside[0], &status));
        CUgraph graph;
        CUresult ended = cuStreamEndCapture(beside[0], &graph);
        printf("%-28s %-12s code %3d  %8.1f ms  %-8s  capture %d, ended %d\n", name.c_str(), work.c_str(), code, ms,
            query == CUDA_SUCCESS ? "done" : query == CUDA_ERROR_NOT_READY ? "running" : "failed", status, ended);
        start = Clock::now();
        for (int at = 0; at < 100000; ++at) cuThreadExchangeStreamCaptureMode(&mode);
        if (name == "beside_capture_wait")
            printf("%-28s %-12s %.0f ns\n", "cuThreadExchangeStreamCaptureMode", "", since(start) * 10);
    } else if (name == "cuMemFree_of_target") {
        // The memory that the other context writes, freed in its own context, which has queued the work.
        CUdeviceptr memory;
        MUST(cuMemAlloc(&memory, LARGE));
        int has = queue(work, memory, LARGE);
        current(1);
        auto start = Clock::now();
        CUresult code = cuMemFree(target);
        double ms = since(start);
        report(name, work, has, code, ms, cuStreamQuery(streams[has]));
    } else if (name == "cuMemFree_elsewhere" || name == "cuCtxSynchronize" || name == "cuStreamSynchronize(NULL)"
        || name == "cuMemAlloc" || name == "cuMemcpyDtoH" || name == "cuMemcpyDtoD") {
        // Calls that may cover the other context's copies: a free of other memory of the owner's context, waits, other calls.
        CUdeviceptr memory, other;
        MUST(cuMemAlloc(&memory, LARGE));
        MUST(cuMemAlloc(&other, 2 * MIB));
        int has = queue(work, memory, LARGE);
        static char room[4096];
        measure(name, work, has, [&] {
            if (name == "cuMemFree_elsewhere") return cuMemFree(other);
            if (name == "cuCtxSynchronize") return cuCtxSynchronize();
            if (name == "cuMemAlloc") return cuMemAlloc(&other, 2 * MIB);
            if (name == "cuMemcpyDtoH") return cuMemcpyDtoH(room, memory, sizeof room);
            if (name == "cuMemcpyDtoD") return cuMemcpyDtoD(other, memory, 4096);
            return cuStreamSynchronize(nullptr);
        });
    } else if (name == "cuMemFreeHost" || name == "cuMemHostUnregister") {
        void* host;
        size_t bytes = 1024 * MIB;
        if (name == "cuMemFreeHost") MUST(cuMemHostAlloc(&host, bytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
        else {
            host = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
            MUST(cuMemHostRegister(host, bytes, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP));
        }
        int has = queue(work, (CUdeviceptr)host, bytes);
        measure(name, work, has, [&] { return name == "cuMemFreeHost" ? cuMemFreeHost(host) : cuMemHostUnregister(host); });
    } else if (name == "cuArrayDestroy" || name == "cuMipmappedArrayDestroy") {
        CUarray array;
        CUmipmappedArray levels = nullptr;
        size_t width = 16384, height = 16384;
        CUDA_ARRAY3D_DESCRIPTOR shape{};
        shape.Width = width; shape.Height = height; shape.Format = CU_AD_FORMAT_UNSIGNED_INT32; shape.NumChannels = 1;
        if (name == "cuArrayDestroy") MUST(cuArray3DCreate(&array, &shape));
        else { MUST(cuMipmappedArrayCreate(&levels, &shape, 2)); MUST(cuMipmappedArrayGetLevel(&array, levels, 0)); }
        int has = 0;
        if (work == "own") {
            CUdeviceptr memory;
            MUST(cuMemAlloc(&memory, width * height * 4));
            launch(0, memory, 300);
            CUDA_MEMCPY2D copy{};
            copy.srcMemoryType = CU_MEMORYTYPE_DEVICE; copy.srcDevice = memory; copy.srcPitch = width * 4;
            copy.dstMemoryType = CU_MEMORYTYPE_ARRAY; copy.dstArray = array;
            copy.WidthInBytes = width * 4; copy.Height = height;
            MUST(cuMemcpy2DAsync(&copy, streams[0]));
        } else {
            CUDA_MEMCPY3D_PEER copy{};
            copy.srcMemoryType = CU_MEMORYTYPE_ARRAY; copy.srcArray = array; copy.srcContext = contexts[0];
            copy.dstMemoryType = CU_MEMORYTYPE_DEVICE; copy.dstDevice = target; copy.dstContext = contexts[1];
            copy.dstPitch = width * 4; copy.dstHeight = height;
            copy.WidthInBytes = width * 4; copy.Height = height; copy.Depth = 1;
            queue_copies(0, [&](CUstream s) { return cuMemcpy3DPeerAsync(&copy, s); });
            has = 1;
        }
        measure(name, work, has, [&] { return levels ? cuMipmappedArrayDestroy(levels) : cuArrayDestroy(array); });
    } else if (name == "cuMemUnmap" || name == "cuMemSetAccess_none" || name == "cuMemSetAccess_read" || name == "cuMemRelease") {
        Virtual v = virtual_memory(LARGE);
        int has = queue(work, v.at, v.bytes);
        measure(name, work, has, [&] {
            if (name == "cuMemUnmap") return cuMemUnmap(v.at, v.bytes);
            if (name == "cuMemRelease") return cuMemRelease(v.handle);
            CUmemAccessDesc access{};
            access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
            access.location.id = devices[has];
            access.flags = name == "cuMemSetAccess_none" ? CU_MEM_ACCESS_FLAGS_PROT_NONE : CU_MEM_ACCESS_FLAGS_PROT_READ;
            return cuMemSetAccess(v.at, v.bytes, &access, 1);
        });
    } else if (name == "cuCtxDisablePeerAccess") {
        CUdeviceptr memory;
        MUST(cuMemAlloc(&memory, LARGE));
        int has = queue(work, memory, LARGE);
        current(1);
        auto start = Clock::now();
        CUresult code = cuCtxDisablePeerAccess(contexts[0]);
        double ms = since(start);
        report(name, work, has, code, ms, cuStreamQuery(streams[has]));
    } else if (name == "cuMemFreeAsync" || name == "cuMemFreeAsync_trim" || name == "cuMemPoolDestroy" || name == "cuMemFree_of_pool") {
        CUmemoryPool pool;
        CUmemPoolProps prop{};
        prop.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        prop.location.id = devices[0];
        MUST(cuMemPoolCreate(&pool, &prop));
        CUmemAccessDesc access{};
        access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        if (gpus == 2) { access.location.id = devices[1]; MUST(cuMemPoolSetAccess(pool, &access, 1)); }
        CUdeviceptr memory;
        MUST(cuMemAllocFromPoolAsync(&memory, LARGE, pool, beside[0]));
        MUST(cuStreamSynchronize(beside[0]));
        int has = queue(work, memory, LARGE);
        measure(name, work, has, [&] {
            if (name == "cuMemFree_of_pool") return cuMemFree(memory);
            CUresult code = cuMemFreeAsync(memory, beside[0]);
            if (name == "cuMemFreeAsync" || code) return code;
            if (name == "cuMemPoolDestroy") return cuMemPoolDestroy(pool);
            code = cuStreamSynchronize(beside[0]);
            return code ? code : cuMemPoolTrimTo(pool, 0);
        });
    } else if (name == "cuIpcCloseMemHandle") {
        CUipcMemHandle handle;
        CUdeviceptr memory;
        if (read(to_parent[0], &handle, sizeof handle) != sizeof handle) return 3;
        MUST(cuIpcOpenMemHandle(&memory, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
        int has = queue(work, memory, LARGE);
        measure(name, work, has, [&] { return cuIpcCloseMemHandle(memory); });
        if (write(to_child[1], "x", 1) < 0) return 3;
        waitpid(child, nullptr, 0);
    } else if (name == "cuMemFree_of_external" || name == "cuDestroyExternalMemory") {
        int file = vulkan_memory(LARGE);
        CUDA_EXTERNAL_MEMORY_HANDLE_DESC external{};
        external.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
        external.handle.fd = file;
        external.size = LARGE;
        CUexternalMemory imported;
        MUST(cuImportExternalMemory(&imported, &external));
        CUDA_EXTERNAL_MEMORY_BUFFER_DESC part{};
        part.size = LARGE;
        CUdeviceptr memory;
        MUST(cuExternalMemoryGetMappedBuffer(&memory, imported, &part));
        int has = queue(work, memory, LARGE);
        measure(name, work, has, [&] {
            return name == "cuMemFree_of_external" ? cuMemFree(memory) : cuDestroyExternalMemory(imported);
        });
    } else if (name == "cuGraphicsUnregisterResource" || name == "cuGraphicsUnmapResources" || name == "unmap_and_unregister") {
        size_t bytes = 512 * MIB, mapped = 0;
        unsigned buffer = opengl_buffer(bytes);
        CUgraphicsResource resource;
        CUdeviceptr memory;
        MUST(cuGraphicsGLRegisterBuffer(&resource, buffer, 0));
        MUST(cuGraphicsMapResources(1, &resource, beside[0]));
        MUST(cuGraphicsResourceGetMappedPointer(&memory, &mapped, resource));
        int has = queue(work, memory, mapped);
        measure(name, work, has, [&] {
            if (name == "cuGraphicsUnregisterResource") return cuGraphicsUnregisterResource(resource);
            CUresult code = cuGraphicsUnmapResources(1, &resource, beside[0]);
            return code || name == "cuGraphicsUnmapResources" ? code : cuGraphicsUnregisterResource(resource);
        });
    } else if (name == "cuModuleUnload" || name == "cuLibraryUnload") {
        CUdeviceptr memory;
        MUST(cuMemAlloc(&memory, 2 * MIB));
        int has = work == "own" ? 0 : 1;
        if (name == "cuModuleUnload") {
            current(has);
            launch(has, memory, 300);
            measure(name, work, has, [&] { return cuModuleUnload(modules[has]); });
        } else {
            CUlibrary library;
            CUkernel kernel;
            CUfunction function;
            MUST(cuLibraryLoadData(&library, KERNELS, nullptr, nullptr, 0, nullptr, nullptr, 0));
            MUST(cuLibraryGetKernel(&kernel, library, "reader"));
            current(has);
            MUST(cuKernelGetFunction(&function, kernel));
            launch(has, memory, 300, function);
            launch(has, memory, 300, function);
            measure(name, work, has, [&] { return cuLibraryUnload(library); });
        }
    } else if (name == "cuMemFree_of_managed") {
        CUdeviceptr memory;
        MUST(cuMemAllocManaged(&memory, 4 * MIB, CU_MEM_ATTACH_GLOBAL));
        memset((void*)memory, 1, 4 * MIB);
        int has = queue(work, memory, 4 * MIB);
        measure(name, work, has, [&] { return cuMemFree(memory); });
    } else if (name == "cuCtxDestroy" || name == "cuDevicePrimaryCtxRelease") {
        // The owner's context ends while another device's context copies out of its memory.
        CUcontext made = contexts[0];
        if (name == "cuCtxDestroy") {
            MUST(cuCtxCreate_v2(&made, 0, devices[0]));
            if (gpus == 2) { MUST(cuCtxEnablePeerAccess(contexts[1], 0)); }
        }
        CUdeviceptr memory;
        MUST(cuMemAlloc(&memory, LARGE));
        if (name == "cuCtxDestroy" && gpus == 2) { current(1); MUST(cuCtxEnablePeerAccess(made, 0)); }
        if (work == "peer_copy")
            queue_copies(LARGE, [=](CUstream s) { return cuMemcpyPeerAsync(target, contexts[1], memory, made, LARGE, s); });
        else { current(1); launch(1, memory, 300); }
        MUST(cuCtxSetCurrent(made));
        auto start = Clock::now();
        CUresult code = name == "cuCtxDestroy" ? cuCtxDestroy(made) : cuDevicePrimaryCtxRelease(devices[0]);
        double ms = since(start);
        CUresult query = cuStreamQuery(streams[1]);
        cuCtxSetCurrent(contexts[1]);
        printf("%-28s %-12s code %3d  %8.1f ms  %-8s  then - %d\n", name.c_str(), work.c_str(), code, ms,
            query == 0 ? "done" : query == CUDA_ERROR_NOT_READY ? "running" : "failed", cuCtxSynchronize());
    } else if (name.rfind("copy_", 0) == 0) {
        // Synchronous copies between devices: WORK is the context that is current (0: the source's, 1: the target's).
        int which = work == "by_target";
        size_t bytes = 4 * LARGE;
        CUdeviceptr from, to;
        current(0);
        MUST(cuMemAlloc(&from, bytes));
        MUST(cuMemsetD32(from, 7, bytes / 4));
        MUST(cuCtxSynchronize());
        current(1);
        MUST(cuMemAlloc(&to, bytes));
        MUST(cuMemsetD32(to, 1, bytes / 4));
        MUST(cuCtxSynchronize());
        if (name.find("_without") != string::npos) {
            current(1); MUST(cuCtxDisablePeerAccess(contexts[0]));
            current(0); MUST(cuCtxDisablePeerAccess(contexts[1]));
        }
        CUDA_MEMCPY3D_PEER rows{};
        rows.srcMemoryType = rows.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        rows.srcDevice = from; rows.srcContext = contexts[0]; rows.srcPitch = 65536;
        rows.dstDevice = to; rows.dstContext = contexts[1]; rows.dstPitch = 65536;
        rows.WidthInBytes = 65536; rows.Height = bytes / 65536; rows.Depth = 1;
        CUDA_MEMCPY2D unified{};
        unified.srcMemoryType = unified.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
        unified.srcDevice = from; unified.srcPitch = 65536; unified.dstDevice = to; unified.dstPitch = 65536;
        unified.WidthInBytes = 65536; unified.Height = bytes / 65536;
        current(which);
        auto start = Clock::now();
        CUresult code;
        if (name.rfind("copy_peer", 0) == 0) code = cuMemcpyPeer(to, contexts[1], from, contexts[0], bytes);
        else if (name.rfind("copy_dtod", 0) == 0) code = cuMemcpyDtoD(to, from, bytes);
        else if (name.rfind("copy_any", 0) == 0) code = cuMemcpy(to, from, bytes);
        else if (name.rfind("copy_rows", 0) == 0) code = cuMemcpy3DPeer(&rows);
        else code = cuMemcpy2D(&unified);
        double returned = since(start);
        current(0);
        CUresult source = cuStreamQuery(nullptr);
        current(1);
        CUresult target_is = cuStreamQuery(nullptr);
        // The wait of the context that was not current comes first.
        current(1 - which);
        CUresult other = cuCtxSynchronize();
        double others = since(start);
        current(which);
        CUresult own = cuStreamSynchronize(nullptr);
        double owns = since(start);
        uint32_t last = 0;
        current(1);
        MUST(cuMemcpyDtoH(&last, to + bytes - 4, 4));
        printf("%-28s %-12s code %3d  back after %.3f ms; stream 0 of source %d, of target %d; wait of the other context %d at %.1f ms,"
               " of the current one's stream 0 %d at %.1f ms; last element %u\n",
            name.c_str(), work.c_str(), code, returned, source, target_is, other, others, own, owns, last);
    } else if (name.rfind("sync_", 0) == 0) {
        // A synchronous copy between the devices, then one call, whose time tells whether it waits.
        int which = name.find("by_target") != string::npos;
        size_t bytes = 4 * LARGE;
        CUdeviceptr from, to;
        current(0); MUST(cuMemAlloc(&from, bytes)); MUST(cuMemsetD32(from, 7, bytes / 4)); MUST(cuCtxSynchronize());
        current(1); MUST(cuMemAlloc(&to, bytes)); MUST(cuMemsetD32(to, 1, bytes / 4)); MUST(cuCtxSynchronize());
        current(which);
        if (name.find("dtod") != string::npos) MUST(cuMemcpyDtoD(to, from, bytes));
        else MUST(cuMemcpyPeer(to, contexts[1], from, contexts[0], bytes));
        auto start = Clock::now();
        CUresult code = CUDA_SUCCESS;
        if (work == "free_source") { current(0); code = cuMemFree(from); }
        else if (work == "free_target") { current(1); code = cuMemFree(to); }
        else if (work == "null_of_source") { current(0); code = cuStreamSynchronize(nullptr); }
        else if (work == "null_of_target") { current(1); code = cuStreamSynchronize(nullptr); }
        else if (work == "context_of_source") { current(0); code = cuCtxSynchronize(); }
        else if (work == "context_of_target") { current(1); code = cuCtxSynchronize(); }
        else if (work == "event_of_source" || work == "event_of_target") {
            current(work == "event_of_target");
            CUevent event;
            MUST(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
            MUST(cuEventRecord(event, nullptr));
            code = cuEventSynchronize(event);
        }
        double ms = since(start);
        current(0);
        CUresult source = cuStreamQuery(nullptr);
        cuCtxSetCurrent(contexts[1]);
        CUresult target_is = cuStreamQuery(nullptr), last = cuCtxSynchronize();
        uint32_t value = 0;
        if (work != "free_target" && !last) cuMemcpyDtoH(&value, to + bytes - 4, 4);
        printf("%-28s %-18s code %3d  %8.3f ms  stream 0 of source %d, of target %d, then %d, last element %u\n", name.c_str(),
            work.c_str(), code, ms, source, target_is, last, value);
    } else if (name.rfind("update_", 0) == 0) {
        // An executable graph is changed while it runs.
        CUdeviceptr memory, other;
        MUST(cuMemAlloc(&memory, 64 * MIB));
        MUST(cuMemAlloc(&other, 64 * MIB));
        CUgraph graph;
        CUgraphExec exec;
        CUgraphNode node;
        MUST(cuGraphCreate(&graph, 0));
        uint64_t ns = 300000000;
        void* arguments[] = {&memory, &ns};
        void* others[] = {&other, &ns};
        CUDA_KERNEL_NODE_PARAMS params{};
        params.func = readers[0];
        params.gridDimX = params.gridDimY = params.gridDimZ = params.blockDimX = params.blockDimY = params.blockDimZ = 1;
        params.kernelParams = arguments;
        CUgraph into = graph;
        if (name.find("_body") != string::npos) {
            CUgraphConditionalHandle condition;
            MUST(cuGraphConditionalHandleCreate(&condition, graph, contexts[0], 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
            CUgraphNodeParams conditional{};
            conditional.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
            conditional.conditional.handle = condition;
            conditional.conditional.type = CU_GRAPH_COND_TYPE_IF;
            conditional.conditional.size = 1;
            conditional.conditional.ctx = contexts[0];
            CUgraphNode holder;
            MUST(cuGraphAddNode(&holder, graph, nullptr, nullptr, 0, &conditional));
            into = conditional.conditional.phGraph_out[0];
        }
        MUST(cuGraphAddKernelNode(&node, into, nullptr, 0, &params));
        MUST(cuGraphInstantiate(&exec, graph, 0));
        if (name.find("_disabled") != string::npos) MUST(cuGraphNodeSetEnabled(exec, node, 0));
        MUST(cuGraphLaunch(exec, streams[0]));
        if (name.find("_disabled") != string::npos) launch(0, memory, 300);
        params.kernelParams = others;
        measure(name, work, 0, [&] {
            if (name.rfind("update_params", 0) == 0) return cuGraphExecKernelNodeSetParams(exec, node, &params);
            if (name.rfind("update_enabled", 0) == 0) return cuGraphNodeSetEnabled(exec, node, 0);
            if (name.rfind("update_removed", 0) == 0) return cuGraphDestroyNode(node);
            MUST(cuGraphKernelNodeSetParams(node, &params));
            CUgraphExecUpdateResultInfo info{};
            return cuGraphExecUpdate(exec, graph, &info);
        });
    } else if (name == "release_in_callback") {
        CUstream stream = streams[0];
        MUST(cuLaunchHostFunc(stream, [](void*) {
            inside[0] = cuDevicePrimaryCtxRelease(devices[0]);
            CUcontext again;
            inside[1] = cuDevicePrimaryCtxRetain(&again, devices[0]);
            inside[2] = cuDevicePrimaryCtxReset(devices[0]);
            unsigned flags; int active;
            inside[3] = cuDevicePrimaryCtxGetState(devices[0], &flags, &active);
            called = 1;
        }, nullptr));
        for (int at = 0; at < 500 && !called; ++at) std::this_thread::sleep_for(std::chrono::milliseconds(10));
        printf("%-28s %-12s called %d: release %d, retain %d, reset %d, state %d\n", name.c_str(), work.c_str(), called,
            inside[0], inside[1], inside[2], inside[3]);
        fflush(stdout);
        _exit(0);
    } else {
        printf("no such case: %s\n", name.c_str());
        return 2;
    }
    fflush(stdout);
    _exit(0);
}
