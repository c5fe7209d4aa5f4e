// What calls of the driver answer inside of its callbacks, and whether they come back: from cuLaunchHostFunc,
// cuStreamAddCallback, a host node of a graph and the destructor of a user object (run by cuGraphDestroy of its last
// graph, by cuUserObjectRelease, and by the end of a replay of an executable that was destroyed before).
// Each case runs in a child with 10 seconds of time. nvcc callbacks.cpp -lcuda; the record is tests/data/goldens/callbacks.txt.
#include <cuda.h>
#include <cstdio>
#include <cstdlib>
#include <csignal>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

static CUcontext context;
static CUstream stream, other;
static CUdeviceptr memory;
static CUevent event;
static int which;
static volatile int done;
static void *pinned;

static const char *CALLS[] = {"cuMemFree", "cuMemAlloc", "cuCtxPushCurrent", "cuCtxGetCurrent", "cuEventQuery",
    "cuEventSynchronize", "cuStreamSynchronize(own)", "cuStreamSynchronize(other)", "cuCtxSynchronize", "cuEventDestroy",
    "cuMemFreeHost", "cuStreamDestroy(other)", "cuMemFreeAsync(other)", "cuDeviceGetCount", "cuDriverGetVersion", "cuCtxDestroy"};
static const int COUNT = sizeof CALLS / sizeof *CALLS;

static CUresult made(int call) {
    CUcontext got; CUdeviceptr more; int number;
    switch (call) {
    case 0: return cuMemFree(memory);
    case 1: return cuMemAlloc(&more, 1024);
    case 2: return cuCtxPushCurrent(context);
    case 3: return cuCtxGetCurrent(&got);
    case 4: return cuEventQuery(event);
    case 5: return cuEventSynchronize(event);
    case 6: return cuStreamSynchronize(stream);
    case 7: return cuStreamSynchronize(other);
    case 8: return cuCtxSynchronize();
    case 9: return cuEventDestroy(event);
    case 10: return cuMemFreeHost(pinned);
    case 11: return cuStreamDestroy(other);
    case 12: return cuMemFreeAsync(memory, other);
    case 13: return cuDeviceGetCount(&number);
    case 14: return cuDriverGetVersion(&number);
    default: return cuCtxDestroy(context);
    }
}

static void tell() {
    CUresult answer = made(which);
    const char *name = "?";
    cuGetErrorName(answer, &name);
    printf("%s; ", name);
    fflush(stdout);
    done = 1;
}
static void CUDA_CB function(void *) { tell(); }
static void CUDA_CB callback(CUstream, CUresult status, void *) { printf("status %d, ", status); tell(); }

static void check(CUresult result, const char *what) {
    if (result != CUDA_SUCCESS) { printf("%s answers %d; ", what, result); fflush(stdout); }
}
#define DO(call) check(call, #call)

static void wait() {
    for (int i = 0; i < 300 && !done; i++) usleep(10000);
    printf(done ? "came back; " : "never called; ");
    fflush(stdout);
}

static void run(int way) {
    CUdevice device;
    DO(cuInit(0)); DO(cuDeviceGet(&device, 0));
#if CUDA_VERSION >= 13000
    DO(cuCtxCreate(&context, nullptr, 0, device));
#else
    DO(cuCtxCreate(&context, 0, device));
#endif
    DO(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING)); DO(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    DO(cuMemAlloc(&memory, 1 << 20)); DO(cuMemAllocHost(&pinned, 4096)); DO(cuEventCreate(&event, 0));
    DO(cuEventRecord(event, other));
    CUuserObject object; CUgraph graph; CUgraphExec exec; CUgraphNode node;
    CUDA_HOST_NODE_PARAMS host = {}; host.fn = function;
    CUDA_MEMSET_NODE_PARAMS set = {}; set.dst = memory; set.elementSize = 1; set.width = 1 << 20; set.height = 1;
    switch (way) {
    case 0: DO(cuLaunchHostFunc(stream, function, nullptr)); break;
    case 1: DO(cuStreamAddCallback(stream, callback, nullptr, 0)); break;
    case 2:
        DO(cuGraphCreate(&graph, 0)); DO(cuGraphAddHostNode(&node, graph, nullptr, 0, &host));
        DO(cuGraphInstantiate(&exec, graph, 0)); DO(cuGraphLaunch(exec, stream));
        break;
    case 3:
        DO(cuUserObjectCreate(&object, &which, function, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
        DO(cuUserObjectRelease(object, 1));
        break;
    case 4:
        DO(cuUserObjectCreate(&object, &which, function, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
        DO(cuGraphCreate(&graph, 0)); DO(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
        DO(cuGraphDestroy(graph));
        break;
    default:
        DO(cuUserObjectCreate(&object, &which, function, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
        DO(cuGraphCreate(&graph, 0)); DO(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
        for (int i = 0; i < 50; i++) DO(cuGraphAddMemsetNode(&node, graph, nullptr, 0, &set, context));
        DO(cuGraphInstantiate(&exec, graph, 0)); DO(cuGraphDestroy(graph));
        DO(cuGraphLaunch(exec, stream)); DO(cuGraphExecDestroy(exec));
    }
    wait();
    CUresult after = cuStreamSynchronize(stream);
    printf("then cuStreamSynchronize %d", after);
    if (which != 15 && which != 2) { after = cuCtxSynchronize(); printf(", cuCtxSynchronize %d", after); }
    fflush(stdout);
}

int main() {
    const char *WAYS[] = {"cuLaunchHostFunc", "cuStreamAddCallback", "host node", "destructor by cuUserObjectRelease",
        "destructor by cuGraphDestroy", "destructor after a replay"};
    for (int way = 0; way < 6; way++) {
        for (which = 0; which < COUNT; which++) {
            printf("%s: %s: ", WAYS[way], CALLS[which]);
            fflush(stdout);
            pid_t child = fork();
            if (child == 0) { alarm(10); run(way); fflush(stdout); _exit(0); }
            int status = 0;
            waitpid(child, &status, 0);
            if (WIFSIGNALED(status)) printf(" ** signal %d%s", WTERMSIG(status), WTERMSIG(status) == SIGALRM ? ": it hangs" : "");
            printf("\n");
            fflush(stdout);
        }
    }
}
