// Kernels that launch kernels. Prints the answers of the device runtime, group by group. Each question is asked in a
// process of its own, since some could end the context:
//
//   device_launches             prints the number of questions, and the orders of work
//   device_launches QUESTION    asks one
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void add(int *p, int v) { atomicAdd(p, v); }
__global__ void use_shared(int *p) { extern __shared__ int s[]; s[threadIdx.x] = 1; *p = s[threadIdx.x]; }
__global__ __launch_bounds__(64) void small(int *p) { *p = 7; }
__global__ void broken(int *) { *(volatile int *)0x10 = 1; }
__global__ void append(int *list, int v) {
    if (threadIdx.x == 0) list[atomicAdd(list, 1) + 1] = v;
}

// A question: its statements, which may set R, and write to o[4] and on.
#define QUESTIONS \
    Q(add<<<1, 2048>>>(o + 500, 1)) \
    Q(add<<<0, 32>>>(o + 500, 1)) \
    Q(add<<<1, 0>>>(o + 500, 1)) \
    Q(use_shared<<<1, 32, 49152>>>(o + 501)) \
    Q(use_shared<<<1, 32, 49153>>>(o + 501)) \
    Q(small<<<1, 65>>>(o + 502)) \
    Q(add<<<dim3(1, 65536), 1>>>(o + 500, 1)) \
    Q(add<<<1, 32, 0, (cudaStream_t)0x12345>>>(o + 500, 1)) \
    Q(add<<<1, 32, 0, (cudaStream_t)1>>>(o + 500, 1)) \
    Q(add<<<1, 32, 0, (cudaStream_t)2>>>(o + 500, 1)) \
    Q(add<<<1, 32, 0, cudaStreamTailLaunch>>>(o + 500, 1)) \
    Q(add<<<1, 32, 0, cudaStreamFireAndForget>>>(o + 500, 1)) \
    Q(cudaStream_t s = 0; R = cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking); o[4] = s != 0; \
      add<<<1, 32, 0, s>>>(o + 500, 1); o[5] = cudaGetLastError(); o[6] = cudaStreamDestroy(s)) \
    Q(cudaStream_t s = 0; R = cudaStreamCreateWithFlags(&s, cudaStreamDefault); o[4] = s != 0) \
    Q(cudaStream_t s = 0; R = cudaStreamCreateWithFlags(&s, 77); o[4] = s != 0) \
    Q(R = cudaStreamDestroy((cudaStream_t)0x999)) \
    Q(R = cudaStreamDestroy(0)) \
    Q(R = cudaStreamDestroy((cudaStream_t)4)) \
    Q(cudaEvent_t e = 0; R = cudaEventCreateWithFlags(&e, cudaEventDisableTiming); o[4] = e != 0; \
      o[5] = cudaEventRecord(e, 0); o[6] = cudaStreamWaitEvent(0, e, 0); o[7] = cudaEventDestroy(e)) \
    Q(cudaEvent_t e = 0; R = cudaEventCreateWithFlags(&e, cudaEventDefault)) \
    Q(cudaEvent_t e = 0; R = cudaEventCreateWithFlags(&e, cudaEventDisableTiming | cudaEventBlockingSync)) \
    Q(cudaEvent_t e = 0; R = cudaEventCreateWithFlags(&e, cudaEventDisableTiming); \
      o[4] = cudaStreamWaitEvent(0, e, 0); o[5] = cudaStreamWaitEvent(cudaStreamTailLaunch, e, 0); \
      o[6] = cudaEventRecord(e, cudaStreamTailLaunch); o[7] = cudaEventRecord(e, cudaStreamFireAndForget)) \
    Q(R = cudaEventRecord(0, 0)) \
    Q(R = cudaEventDestroy(0)) \
    Q(R = cudaStreamWaitEvent(0, 0, 0)) \
    Q(int d = -1; R = cudaGetDevice(&d); o[4] = d) \
    Q(int d = -1; R = cudaGetDeviceCount(&d); o[4] = d) \
    Q(int d = -1; R = cudaRuntimeGetVersion(&d); o[4] = d) \
    Q(int a = -1; R = cudaDeviceGetAttribute(&a, cudaDevAttrWarpSize, 0); o[4] = a; \
      o[5] = cudaDeviceGetAttribute(&a, cudaDevAttrMaxThreadsPerBlock, 0); o[6] = a) \
    Q(int a = -1; R = cudaDeviceGetAttribute(&a, (cudaDeviceAttr)9999, 0); o[4] = a) \
    Q(int a = -1; R = cudaDeviceGetAttribute(&a, cudaDevAttrWarpSize, 5); o[4] = a) \
    Q(size_t l = 0; R = cudaDeviceGetLimit(&l, cudaLimitMallocHeapSize); o[4] = (int)l; \
      o[5] = cudaDeviceGetLimit(&l, cudaLimitDevRuntimePendingLaunchCount); o[6] = (int)l; \
      o[7] = cudaDeviceGetLimit(&l, cudaLimitStackSize); o[8] = (int)l) \
    Q(size_t l = 0; R = cudaDeviceGetLimit(&l, (cudaLimit)99)) \
    Q(void *m = 0; R = cudaMalloc(&m, 64); o[4] = m != 0; o[5] = cudaFree(m)) \
    Q(void *m = 0; R = cudaMalloc(&m, (size_t)1 << 40); o[4] = m != 0; o[5] = cudaFree(0)) \
    Q(int n = -1; R = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, add, 256, 0); o[4] = n) \
    Q(int own[4] = {1, 2, 3, 4}; R = cudaMemcpyAsync(o + 510, own, 16, cudaMemcpyDeviceToDevice, 0)) \
    Q(R = cudaMemcpyAsync(o + 510, o + 400, 16, cudaMemcpyHostToDevice, 0)) \
    Q(o[400] = 5; R = cudaMemcpyAsync(o + 510, o + 400, 16, cudaMemcpyDefault, 0)) \
    Q(o[400] = 5; R = cudaMemcpyAsync(o + 510, o + 400, 16, cudaMemcpyDeviceToDevice, 0)) \
    Q(o[400] = 5; R = cudaMemcpyAsync(o + 510, o + 400, 16, (cudaMemcpyKind)9, 0)) \
    Q(o[400] = 5; o[402] = 6; \
      R = cudaMemcpy2DAsync(o + 510, 12, o + 400, 8, 4, 2, cudaMemcpyDeviceToDevice, cudaStreamFireAndForget)) \
    Q(R = cudaMemcpy2DAsync(o + 510, 4, o + 400, 8, 8, 2, cudaMemcpyDeviceToDevice, 0)) \
    Q(R = cudaMemset2DAsync(o + 510, 0, 1, 8, 2, 0)) \
    Q(R = cudaMemset2DAsync(o + 510, 8, 1, 0, 2, 0)) \
    Q(R = cudaMemsetAsync((void *)0x10, 1, 0, 0)) \
    Q(R = cudaMemsetAsync((void *)0x10, 1, 8, 0)) \
    Q(o[510] = -1; o[514] = -1; R = cudaMemsetAsync(o + 510, 0, 16, 0)) \
    Q(const char *t[] = {cudaGetErrorString(cudaErrorInvalidValue), cudaGetErrorName(cudaErrorInvalidValue), \
                         cudaGetErrorString(cudaErrorLaunchPendingCountExceeded), \
                         cudaGetErrorString((cudaError_t)54321)}; \
      printf("%s, %s, %s, %s\n", t[0], t[1], t[2], t[3]))

__global__ void ask(int *o, int question) {
    int R = -7, number = 0;
#define Q(...) \
    if (question == number++) { \
        __VA_ARGS__; \
    }
    QUESTIONS
#undef Q
    o[0] = R;
    o[1] = cudaPeekAtLastError();
    o[2] = cudaGetLastError();
    o[3] = cudaGetLastError();
}
#define Q(...) +1
static const int count = 0 QUESTIONS;

__global__ void order(int *list) {
    append<<<1, 32, 0, cudaStreamTailLaunch>>>(list, 100);
    append<<<1, 32>>>(list, 1);
    append<<<1, 32>>>(list, 2);
    append<<<1, 32, 0, cudaStreamTailLaunch>>>(list, 101);
    append<<<1, 32>>>(list, 3);
}
__global__ void chain(int *list, int n) {
    append<<<1, 32>>>(list, n);
    if (n) chain<<<1, 1, 0, cudaStreamTailLaunch>>>(list, n - 1);
}
__global__ void tree(int *p, int n) {
    atomicAdd(p, 1);
    if (n) tree<<<1, 1>>>(p, n - 1), tree<<<1, 1>>>(p, n - 1);
}
__global__ void tails(int *list, int n) {
    append<<<1, 32, 0, cudaStreamTailLaunch>>>(list, 10 * n);
    if (n < 3) {
        tails<<<1, 1, 0, cudaStreamTailLaunch>>>(list, n + 1);
        tails<<<1, 1>>>(list, n + 1);
    }
    append<<<1, 32>>>(list, 10 * n + 1);
}
__global__ void mixed(int *o) {
    add<<<1, 1>>>(o, 3);
    cudaMemcpyAsync(o + 4, o, 16, cudaMemcpyDeviceToDevice, 0);
    add<<<1, 1>>>(o, 3);
}
__device__ cudaStream_t common;
__global__ void share(int *o) {
    if (blockIdx.x == 0) {
        cudaStreamCreateWithFlags(&common, cudaStreamNonBlocking);
        __threadfence();
        atomicExch(o, 1);
    } else {
        while (atomicAdd(o, 0) == 0) {}
        add<<<1, 1, 0, common>>>(o + 1, 1);
        o[2] = cudaGetLastError();
    }
}
__global__ void errors_of_threads(int *o) {
    add<<<1, 2048>>>(o, 1);
    if (threadIdx.x == 3) o[1] = cudaGetLastError();
    __syncwarp();
    o[2 + threadIdx.x] = cudaGetLastError();
}
__global__ void many(int *o) {
    add<<<1, 1>>>(o, 1);
    int error = cudaGetLastError();
    atomicAdd(error ? o + 1 : o + 2, 1);
    if (error) o[3] = error;
}
__global__ void faulty(int *p) {
    broken<<<1, 1>>>(p);
    add<<<1, 1>>>(p, 1);
}

static int host[1024];
static int *o;

static void show(const char *name, int words) {
    int launched = cudaGetLastError(), waited = cudaDeviceSynchronize();
    cudaMemcpy(host, o, sizeof host, cudaMemcpyDeviceToHost);
    printf("%s: %d %d =", name, launched, waited);
    for (int i = 0; i < words; i++) printf(" %d", host[i]);
    cudaMemset(o, 0, sizeof host);
}

int main(int arguments, char **argument) {
    cudaMalloc(&o, sizeof host);
    cudaMemset(o, 0, sizeof host);
    if (arguments > 1) {
        ask<<<1, 1>>>(o, atoi(argument[1]));
        show(argument[1], 9);
        for (int i = 500; i < 520; i++)
            if (host[i]) printf(" [%d] %d", i, host[i]);
        puts("");
        return 0;
    }
    printf("%d\n", count);
    order<<<1, 1>>>(o), show("order", 6), puts("");
    chain<<<1, 1>>>(o, 20), show("chain", 22), puts("");
    tree<<<1, 1>>>(o, 8), show("tree", 1), puts("");
    tails<<<1, 1>>>(o, 1), show("tails", 15), puts("");
    mixed<<<1, 1>>>(o), show("mixed", 5), puts("");
    share<<<2, 1>>>(o), show("share", 3), puts("");
    errors_of_threads<<<1, 5>>>(o), show("errors of threads", 7), puts("");
    many<<<100, 64>>>(o), show("many", 4), puts("");
    cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 100);
    many<<<100, 64>>>(o), show("many, with another limit", 4), puts("");
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    order<<<1, 1, 0, stream>>>(o);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphLaunch(executable, stream), show("graph", 6), puts("");
    faulty<<<1, 1>>>(o), show("fault", 0), puts("");
}
