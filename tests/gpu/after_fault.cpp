// What tells that copies of host memory are over, when a kernel beside them has faulted?
//
//     after_fault FAULT TELL DIRECTION MEMORY COUNT MIB FAULT_DEVICE COPY_DEVICE      (after_fault.sh builds and runs it)
//
// Queues COUNT copies of MIB MiB between one device buffer and one host buffer on one stream, a kernel that faults on
// another, and waits for the stream of the copies. When the wait answers, it calls TELL, writes a mark into each of
// 4096 places of the host buffer, and looks two seconds later how many marks the device has overwritten: any means that
// the copies were not over when TELL answered. Prints one line of tab-separated values.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

#include <cuda.h>

// The header of CUDA 13 declares only the newest revision.
extern "C" CUresult cuCtxCreate_v2(CUcontext*, unsigned, CUdevice);

using std::string;
using Clock = std::chrono::steady_clock;

static const char* KERNELS = R"(
.version 6.4
.target sm_52
.address_size 64
.visible .entry address() { .reg .u64 a; .reg .u32 v; mov.u64 a, 0; mov.u32 v, 1; st.global.u32 [a], v; ret; }
.visible .entry misaligned(.param .u64 p) { .reg .u64 a; .reg .u32 v; ld.param.u64 a, [p]; add.u64 a, a, 1; mov.u32 v, 1; st.global.u32 [a], v; ret; }
.visible .entry trap_() { trap; ret; }
.visible .entry late() { .reg .u64 a, t, n; .reg .u32 v; .reg .pred p; mov.u64 t, %globaltimer; add.u64 t, t, 60000000;
L: mov.u64 n, %globaltimer; setp.lt.u64 p, n, t; @p bra L; mov.u64 a, 0; mov.u32 v, 1; st.global.u32 [a], v; ret; }
.visible .entry shared_() { .shared .u32 s[4]; .reg .u32 v, b; mov.u32 b, 0x40000000; mov.u32 v, 1; st.volatile.shared.u32 [b], v; ret; }
.visible .entry pc() { .reg .u64 f; mov.u64 f, 0x123456789a0; P: .callprototype ()_ (); call f, (), P; ret; }
)";

static void must(CUresult code, const char* what) {
    if (code != CUDA_SUCCESS) { printf("setup failed: %s %d\n", what, code); exit(3); }
}
#define MUST(call) must(call, #call)

static std::atomic<int> called{-1};
static void CUDA_CB on_stream(CUstream, CUresult status, void*) { called = status; }
static void CUDA_CB on_host(void*) { called = 0; }

static double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }
static int wait_for(std::atomic<int>& value, double seconds) {
    auto start = Clock::now();
    while (value == -1 && since(start) < seconds) std::this_thread::sleep_for(std::chrono::microseconds(100));
    return value;
}

int main(int argc, char** argv) {
    if (argc != 9) return 2;
    string fault = argv[1], tell = argv[2], direction = argv[3], memory = argv[4];
    int count = atoi(argv[5]);
    size_t bytes = size_t(atoi(argv[6])) << 20;
    int fault_device = atoi(argv[7]), copy_device = atoi(argv[8]);
    bool down = direction == "DtoH";
    MUST(cuInit(0));
    CUdevice devices[2];
    CUcontext fault_context, context;
    MUST(cuDeviceGet(&devices[0], fault_device));
    MUST(cuDeviceGet(&devices[1], copy_device));
    MUST(cuDevicePrimaryCtxRetain(&context, devices[1]));
    if (fault_device == copy_device) fault_context = context;
    else MUST(cuDevicePrimaryCtxRetain(&fault_context, devices[0]));
    if (tell == "destroy") { MUST(cuCtxCreate_v2(&context, 0, devices[1])); fault_context = context; }
    if (tell == "fault_in_other_context") MUST(cuCtxCreate_v2(&fault_context, 0, devices[0]));

    // The kernel that faults, ready to go.
    MUST(cuCtxSetCurrent(fault_context));
    CUmodule module;
    CUfunction function;
    CUstream beside;
    CUdeviceptr word;
    MUST(cuModuleLoadData(&module, KERNELS));
    MUST(cuModuleGetFunction(&function, module, fault.c_str()));
    MUST(cuStreamCreate(&beside, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAlloc(&word, 64));

    MUST(cuCtxSetCurrent(context));
    CUdeviceptr device;
    MUST(cuMemAlloc(&device, bytes));
    MUST(cuMemsetD8(device, 0x11, bytes));
    MUST(cuCtxSynchronize());
    char* host = nullptr;
    if (memory == "alloc") MUST(cuMemHostAlloc((void**)&host, bytes, CU_MEMHOSTALLOC_PORTABLE));
    else {
        host = (char*)mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        madvise(host, bytes, MADV_HUGEPAGE);
    }
    memset(host, 0, bytes);
    if (memory == "register") MUST(cuMemHostRegister(host, bytes, CU_MEMHOSTREGISTER_PORTABLE));
    CUstream stream;
    CUevent event;
    uint32_t* flag;
    CUdeviceptr flag_address, one;
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    MUST(cuMemHostAlloc((void**)&flag, 4096, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
    *(volatile uint32_t*)flag = 0;
    MUST(cuMemHostGetDevicePointer(&flag_address, flag, 0));
    MUST(cuMemAlloc(&one, 64));
    MUST(cuMemsetD32(one, 1, 16));
    MUST(cuCtxSynchronize());

    const size_t places = 4096, stride = bytes / places;
    auto written = [&] {
        size_t n = 0;
        for (size_t i = 0; i < places; ++i) n += ((volatile char*)host)[i * stride + 7] == 0x11;
        return n;
    };
    auto launch = [&] {
        cuCtxSetCurrent(fault_context);
        void* arguments[] = {&word};
        CUresult code = cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, beside, arguments, nullptr);
        cuCtxSetCurrent(context);
        return code;
    };
    CUresult waited = CUDA_SUCCESS, queued = CUDA_SUCCESS;
    // Behind: the kernel, which faults late, comes before the copies in the same stream.
    bool behind = tell.find("behind") != string::npos, synchronous = tell.rfind("copy", 0) == 0;
    bool late = (synchronous || memory == "pageable") && !behind;
    if (behind) {
        CUstream before = synchronous ? nullptr : stream;
        void* arguments[] = {&word};
        MUST(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, before, arguments, nullptr));
    }
    auto start = Clock::now();
    std::thread other;
    if (late) {
        other = std::thread([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
            cuCtxSetCurrent(context);
            launch();
        });
    }
    if (synchronous) {
        waited = down ? cuMemcpyDtoH(host, device, bytes) : cuMemcpyHtoD(device, host, bytes);
    } else {
        for (int i = 0; i < count && queued == CUDA_SUCCESS; ++i)
            queued = down ? cuMemcpyDtoHAsync(host, device, bytes, stream) : cuMemcpyHtoDAsync(device, host, bytes, stream);
        if (tell == "event") cuEventRecord(event, stream);
        if (tell == "callback") MUST(cuStreamAddCallback(stream, on_stream, nullptr, 0));
        if (tell == "host_function") MUST(cuLaunchHostFunc(stream, on_host, nullptr));
        if (tell == "write_value") MUST(cuStreamWriteValue32(stream, flag_address, 1, 0));
        if (tell == "flag_copy") MUST(cuMemcpyDtoHAsync(flag, one, 4, stream));
        if (!late && !behind) launch();
        waited = cuStreamSynchronize(stream);
    }
    double answered = since(start);
    size_t at_answer = down ? written() : 0;

    int told = -1;
    auto tell_start = Clock::now();
    if (tell == "context") told = cuCtxSynchronize();
    else if (tell == "again") for (int i = 0; i < 1000; ++i) told = cuStreamSynchronize(stream);
    else if (tell == "query") do told = cuStreamQuery(stream); while (told == CUDA_ERROR_NOT_READY);
    else if (tell == "event") told = cuEventSynchronize(event);
    else if (tell == "callback" || tell == "host_function") told = wait_for(called, 5);
    else if (tell == "write_value" || tell == "flag_copy") {
        while (*(volatile uint32_t*)flag == 0 && since(tell_start) < 5) std::this_thread::yield();
        told = *(volatile uint32_t*)flag == 1 ? 0 : -2;
    }
    else if (tell == "destroy") told = cuCtxDestroy(context);
    else if (tell == "reset") told = cuDevicePrimaryCtxReset(devices[1]);
    else if (tell == "release") told = cuDevicePrimaryCtxRelease(devices[1]);
    else if (tell == "unregister") told = cuMemHostUnregister(host);
    else if (tell == "free_host") told = cuMemFreeHost(flag);
    else if (tell == "free") told = cuMemFree(device);
    else if (tell == "stream_destroy") told = cuStreamDestroy(stream);
    else if (tell == "beside") { cuCtxSetCurrent(fault_context); told = cuStreamSynchronize(beside); }
    else if (tell == "attribute") {
        unsigned type = 77;
        told = cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)host);
        printf("memory type %u, ", type);
        char* own = (char*)malloc(64);
        int unpinned = cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)own);
        printf("of pageable memory %d; ", unpinned);
    }
    else if (tell == "retain") { CUcontext c; told = cuDevicePrimaryCtxRetain(&c, devices[1]); }
    else if (tell == "create") { CUcontext c; told = cuCtxCreate_v2(&c, 0, devices[1]); if (told == 0) cuCtxDestroy(c); }
    double told_after = since(tell_start);

    size_t at_tell = down ? written() : 0;
    for (size_t i = 0; i < places; ++i) ((volatile char*)host)[i * stride + 7] = 0x77;
    std::this_thread::sleep_for(std::chrono::seconds(2));
    size_t after = down ? written() : 0;
    if (other.joinable()) other.join();
    printf("%s\t%s\t%s\t%s\t%dx%zu\t%d>%d\tqueued %d\tsynchronize %d after %.3f s, %zu written\t"
           "tell %d after %.3f s, %zu written\tlater %zu written\n",
           fault.c_str(), tell.c_str(), direction.c_str(), memory.c_str(), count, bytes >> 20, fault_device, copy_device,
           queued, waited, answered, at_answer, told, told_after, at_tell, after);
    fflush(stdout);
    _exit(0);
}
