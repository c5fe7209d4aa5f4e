// Which calls a capture of another stream refuses (by its mode, on its own thread and on another one), whether that spoils
// the capture, whether the call was made all the same, and what a second try answers: as it is, and in relaxed mode.
// nvcc captures.cpp -lcuda; the record is tests/data/goldens/captures.txt.
#include <cuda.h>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <unistd.h>
#include <sys/wait.h>

static CUcontext context;
static CUstream captured, other;
static CUevent event, unused;
static CUdeviceptr memory;
static void *pinned, *registered, *plain;


static const char *CALLS[] = {"cuEventSynchronize", "cuEventQuery", "cuStreamSynchronize", "cuStreamQuery", "cuCtxSynchronize",
    "cuMemFree", "cuMemFreeHost", "cuMemHostUnregister", "cuMemHostRegister", "cuMemAlloc", "cuMemHostAlloc", "cuMemcpyDtoH",
    "cuMemcpyDtoHAsync(other)", "cuEventRecord(other)", "cuStreamAddCallback(other)", "cuLaunchHostFunc(other)",
    "cuEventDestroy", "cuStreamDestroy", "cuStreamCreate", "cuEventCreate", "cuMemFreeAsync(other)", "cuMemGetInfo"};
static const int COUNT = sizeof CALLS / sizeof *CALLS;

static CUresult made(int call) {
    CUdeviceptr more; void *host; size_t a, b; CUstream stream; CUevent made; static int numbers[1024];
    switch (call) {
    case 0: return cuEventSynchronize(event);
    case 1: return cuEventQuery(event);
    case 2: return cuStreamSynchronize(other);
    case 3: return cuStreamQuery(other);
    case 4: return cuCtxSynchronize();
    case 5: return cuMemFree(memory);
    case 6: return cuMemFreeHost(pinned);
    case 7: return cuMemHostUnregister(registered);
    case 8: return cuMemHostRegister(plain, 4096, 0);
    case 9: return cuMemAlloc(&more, 1024);
    case 10: return cuMemHostAlloc(&host, 1024, 0);
    case 11: return cuMemcpyDtoH(numbers, memory, 4096);
    case 12: return cuMemcpyDtoHAsync(pinned, memory, 4096, other);
    case 13: return cuEventRecord(event, other);
    case 14: return cuStreamAddCallback(other, [](CUstream, CUresult, void *) {}, nullptr, 0);
    case 15: return cuLaunchHostFunc(other, [](void *) {}, nullptr);
    case 16: return cuEventDestroy(unused);
    case 17: return cuStreamDestroy(other);
    case 18: return cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    case 19: return cuEventCreate(&made, 0);
    case 20: return cuMemFreeAsync(memory, other);
    default: return cuMemGetInfo(&a, &b);
    }
}

static void tries(int call) {
    cuCtxPushCurrent(context);
    CUresult first = made(call), second = made(call);
    printf("%d, again %d", first, second);
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    cuThreadExchangeStreamCaptureMode(&mode);
    first = made(call), second = made(call);
    printf(", relaxed %d, again %d", first, second);
    cuThreadExchangeStreamCaptureMode(&mode);
    CUcontext popped; cuCtxPopCurrent(&popped);
}

static void run(CUstreamCaptureMode mode, bool elsewhere, int call) {
    CUdevice device;
    cuInit(0); cuDeviceGet(&device, 0);
    cuDevicePrimaryCtxRetain(&context, device); cuCtxSetCurrent(context);
    cuStreamCreate(&captured, CU_STREAM_NON_BLOCKING); cuStreamCreate(&other, CU_STREAM_NON_BLOCKING);
    cuEventCreate(&event, CU_EVENT_DISABLE_TIMING); cuEventCreate(&unused, 0);
    cuMemAlloc(&memory, 1 << 20); cuMemHostAlloc(&pinned, 4096, 0);
    registered = aligned_alloc(4096, 4096); plain = aligned_alloc(4096, 4096);
    cuMemHostRegister(registered, 4096, 0);
    cuEventRecord(event, other); cuStreamSynchronize(other);
    CUgraph graph = nullptr;
    cuStreamBeginCapture(captured, mode);
    if (elsewhere) std::thread(tries, call).join(); else tries(call);
    printf("; the capture ends with %d\n", cuStreamEndCapture(captured, &graph));
}

int main() {
    const char *MODES[] = {"global", "thread-local", "relaxed"};
    for (int mode = 0; mode < 3; mode++)
        for (int elsewhere = 0; elsewhere < 2; elsewhere++)
            for (int call = 0; call < COUNT; call++) {
                printf("%s, %s thread, %s: ", MODES[mode], elsewhere ? "another" : "its own", CALLS[call]);
                fflush(stdout);
                pid_t child = fork();
                if (child == 0) { alarm(10); run((CUstreamCaptureMode)mode, elsewhere, call); fflush(stdout); _exit(0); }
                int status = 0;
                waitpid(child, &status, 0);
                if (WIFSIGNALED(status)) printf(" ** signal %d\n", WTERMSIG(status));
                fflush(stdout);
            }
}
