// What a forked child finds at host addresses that the driver has made: page-locked memory (plain, portable, mapped,
// write-combined), memory of its own allocator that is registered, managed memory. Each case in children of its own, which
// read, then write; the parent then looks whether it sees the write, and whether a copy of the device still arrives.
// nvcc forks.cpp -lcuda; the record is tests/data/goldens/forks.txt.
#include <cuda.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void check(CUresult result, const char *what) {
    if (result != CUDA_SUCCESS) { printf("%s answers %d; ", what, result); fflush(stdout); }
}
#define DO(call) check(call, #call)

static const char *child(volatile int *at, bool write) {
    static char text[64];
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(10);
        int value = *at;
        if (write) *at = 77;
        _exit(write ? *at == 77 : value == 5);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    if (WIFSIGNALED(status)) snprintf(text, sizeof text, "signal %d", WTERMSIG(status));
    else snprintf(text, sizeof text, WEXITSTATUS(status) ? "as expected" : "something else");
    return text;
}

int main() {
    CUdevice device; CUcontext context; CUdeviceptr memory;
    DO(cuInit(0)); DO(cuDeviceGet(&device, 0)); DO(cuDevicePrimaryCtxRetain(&context, device)); DO(cuCtxSetCurrent(context));
    DO(cuMemAlloc(&memory, 1 << 20));
    DO(cuMemsetD32(memory, 9, 1 << 18));
    const char *NAMES[] = {"cuMemHostAlloc 0", "cuMemHostAlloc portable", "cuMemHostAlloc mapped", "cuMemHostAlloc write-combined",
        "cuMemAllocHost", "registered malloc", "registered mmap", "cuMemAllocManaged"};
    for (int kind = 0; kind < 8; kind++) {
        const size_t SIZES[] = {4096, 1 << 20, 64 << 20};
        for (size_t bytes : SIZES) {
            void *at = nullptr;
            if (kind < 4) {
                unsigned flags[] = {0, CU_MEMHOSTALLOC_PORTABLE, CU_MEMHOSTALLOC_DEVICEMAP, CU_MEMHOSTALLOC_WRITECOMBINED};
                DO(cuMemHostAlloc(&at, bytes, flags[kind]));
            } else if (kind == 4) {
                DO(cuMemAllocHost(&at, bytes));
            } else if (kind == 5) {
                at = malloc(bytes); memset(at, 0, bytes); DO(cuMemHostRegister(at, bytes, 0));
            } else if (kind == 6) {
                at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                memset(at, 0, bytes); DO(cuMemHostRegister(at, bytes, 0));
            } else {
                CUdeviceptr managed = 0; DO(cuMemAllocManaged(&managed, bytes, CU_MEM_ATTACH_GLOBAL)); at = (void *)managed;
                DO(cuCtxSynchronize());
            }
            if (!at) { printf("%s, %zu bytes: none\n", NAMES[kind], bytes); continue; }
            volatile int *value = (volatile int *)at;
            *value = 5;
            printf("%s, %zu bytes: the child reads: %s", NAMES[kind], bytes, child(value, false));
            printf("; writes: %s", child(value, true));
            printf("; then the parent reads %d", *value);
            CUresult copied = kind == 7 ? CUDA_SUCCESS : cuMemcpyDtoH(at, memory, 4096);
            printf(", copies with %d and reads %d\n", copied, *value);
            fflush(stdout);
        }
    }
}
