/* The driver API from plain C, which the others are compared with. Answers measure.py as the others do.

       cc -std=c11 -O2 -I TOOLKIT/include driver.c -o driver -l:libcuda.so.1
       ./driver empty.ptx saxpy.ptx
*/

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ELEMENTS = 1 << 18, COPIED_BYTES = 4 << 10, ALLOCATED_BYTES = 1 << 20, KERNELS = 20, WARM_UP = 4 };

static CUfunction empty, saxpy;
static CUstream stream;
static CUdeviceptr x, y, bytes;
static CUevent start, end;
static CUgraphExec graph;
static char host[COPIED_BYTES];
static float host_x[ELEMENTS], host_y[ELEMENTS];

static void check(CUresult code, const char *call) {
    const char *name = "an unknown error";
    if (code != CUDA_SUCCESS) {
        cuGetErrorName(code, &name);
        fprintf(stderr, "%s: %s\n", call, name);
        exit(1);
    }
}

#define CHECK(call) check(call, #call)

static void launch(void) { CHECK(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL)); }

static void launch_arguments(void) {
    unsigned n = 32;
    float alpha = 2;
    void *arguments[] = {&n, &alpha, &x, &y};
    CHECK(cuLaunchKernel(saxpy, 1, 1, 1, 32, 1, 1, 0, stream, arguments, NULL));
}

static void launch_wait(void) {
    launch();
    CHECK(cuStreamSynchronize(stream));
}

static void to_device(void) { CHECK(cuMemcpyHtoD(bytes, host, COPIED_BYTES)); }

static void to_host(void) { CHECK(cuMemcpyDtoH(host, bytes, COPIED_BYTES)); }

static void alloc(void) {
    CUdeviceptr address;
    CHECK(cuMemAlloc(&address, ALLOCATED_BYTES));
    CHECK(cuMemFree(address));
}

static void alloc_ordered(void) {
    CUdeviceptr address;
    CHECK(cuMemAllocAsync(&address, ALLOCATED_BYTES, stream));
    CHECK(cuMemFreeAsync(address, stream));
}

static void event(void) {
    float milliseconds;
    CHECK(cuEventRecord(start, stream));
    CHECK(cuEventRecord(end, stream));
    CHECK(cuEventSynchronize(end));
    CHECK(cuEventElapsedTime(&milliseconds, start, end));
}

static void launch_graph(void) { CHECK(cuGraphLaunch(graph, stream)); }

static void whole_saxpy(void) {
    unsigned n = ELEMENTS;
    float alpha = 2;
    CUdeviceptr there_x, there_y;
    void *arguments[] = {&n, &alpha, &there_x, &there_y};
    CHECK(cuMemAlloc(&there_x, sizeof host_x));
    CHECK(cuMemAlloc(&there_y, sizeof host_y));
    CHECK(cuMemcpyHtoD(there_x, host_x, sizeof host_x));
    CHECK(cuMemcpyHtoD(there_y, host_y, sizeof host_y));
    CHECK(cuLaunchKernel(saxpy, ELEMENTS / 256, 1, 1, 256, 1, 1, 0, NULL, arguments, NULL));
    CHECK(cuMemcpyDtoH(host_y, there_y, sizeof host_y));
    CHECK(cuMemFree(there_x));
    CHECK(cuMemFree(there_y));
}

static const struct {
    const char *name;
    void (*once)(void);
} OPERATIONS[] = {
    {"launch", launch}, {"launch_arguments", launch_arguments}, {"launch_wait", launch_wait}, {"to_device", to_device},
    {"to_host", to_host}, {"alloc", alloc}, {"alloc_ordered", alloc_ordered}, {"event", event},
    {"graph", launch_graph}, {"saxpy", whole_saxpy},
};

static CUfunction kernel(const char *path, const char *name) {
    static char text[1 << 16];
    CUmodule module;
    CUfunction function;
    FILE *file = fopen(path, "rb");
    memset(text, 0, sizeof text);
    if (!file || fread(text, 1, sizeof text - 1, file) == 0) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(1);
    }
    fclose(file);
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleGetFunction(&function, module, name));
    return function;
}

static void set_up(char **paths) {
    CUdevice device;
    CUcontext context;
    CUgraph captured;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    empty = kernel(paths[0], "empty");
    saxpy = kernel(paths[1], "saxpy");
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAlloc(&x, 32 * sizeof(float)));
    CHECK(cuMemAlloc(&y, 32 * sizeof(float)));
    CHECK(cuMemsetD32(x, 0, 32));
    CHECK(cuMemsetD32(y, 0, 32));
    CHECK(cuMemAlloc(&bytes, COPIED_BYTES));
    CHECK(cuMemsetD8(bytes, 0, COPIED_BYTES));
    CHECK(cuEventCreate(&start, CU_EVENT_DEFAULT));
    CHECK(cuEventCreate(&end, CU_EVENT_DEFAULT));
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    for (int i = 0; i < KERNELS; ++i) launch();
    CHECK(cuStreamEndCapture(stream, &captured));
    CHECK(cuGraphInstantiateWithFlags(&graph, captured, 0));
    for (int i = 0; i < ELEMENTS; ++i) host_x[i] = host_y[i] = 1;
    whole_saxpy();
    for (int i = 0; i < ELEMENTS; ++i) {
        if (host_y[i] != 3) {
            fprintf(stderr, "element %d is %f\n", i, host_y[i]);
            exit(1);
        }
    }
}

static double nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e9 + now.tv_nsec;
}

/* Nanoseconds of one time. What was queued is waited for outside of the time. */
static double timed(void (*once)(void), int times) {
    double began, time;
    for (int i = 0; i < WARM_UP; ++i) once();
    CHECK(cuStreamSynchronize(stream));
    began = nanoseconds();
    for (int i = 0; i < times; ++i) once();
    time = nanoseconds() - began;
    CHECK(cuStreamSynchronize(stream));
    return time / times;
}

int main(int count, char **arguments) {
    char line[256], operation[64];
    int times;
    if (count != 3) {
        fprintf(stderr, "usage: %s EMPTY.ptx SAXPY.ptx\n", arguments[0]);
        return 1;
    }
    set_up(arguments + 1);
    printf("C, cuda.h %d.%d\n", CUDA_VERSION / 1000, CUDA_VERSION % 1000 / 10);
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        size_t found, all = sizeof OPERATIONS / sizeof *OPERATIONS;
        if (sscanf(line, "%63s %d", operation, &times) != 2) return 1;
        for (found = 0; found < all && strcmp(OPERATIONS[found].name, operation); ++found) {
        }
        if (found == all) return 1;
        printf("%.1f\n", timed(OPERATIONS[found].once, times));
        fflush(stdout);
    }
    return 0;
}
