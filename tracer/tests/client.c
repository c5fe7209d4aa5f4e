// A program that knows nothing of a trace: it opens libcuda.so.1, works with two streams, and ends as it is told.
//
//     client dlsym|query END [COUNT]
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef int R;
typedef void *H;
static void *library;
static R (*query)(const char *, void **, int, uint64_t, int *);

static void *find(const char *exported, const char *base, int version) {
    void *found = NULL;
    int status = 0;
    if (!query) return dlsym(library, exported);
    if (query(base, &found, version, 0, &status)) return NULL;
    return found;
}
#define GET(type, name, base, version) __typeof__(type) name = (type)find(#name, base, version); if (!name) { fprintf(stderr, "no %s\n", #name); exit(9); }
#define OK(call) do { R r = (call); if (r) { fprintf(stderr, "%s: %d\n", #call, r); exit(8); } } while (0)

static const char *code =
    ".version 7.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry twice(.param .u64 p) {\n"
    " .reg .u64 %a; .reg .u32 %v; .reg .u32 %t; .reg .u64 %o;\n"
    " ld.param.u64 %a, [p]; mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 4; add.u64 %a, %a, %o;\n"
    " ld.global.u32 %v, [%a]; add.u32 %v, %v, %v; st.global.u32 [%a], %v; ret;\n}\n";

static void *threads(void *counted) {
    GET(R (*)(int *), cuDriverGetVersion, "cuDriverGetVersion", 2020);
    int version;
    for (long i = 0; i < (long)counted; i++) OK(cuDriverGetVersion(&version));
    return NULL;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

int main(int count, char **words) {
    const char *end = words[2];
    long number = count > 3 ? atol(words[3]) : 0;
    library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) { fprintf(stderr, "%s\n", dlerror()); return 7; }
    if (!strcmp(words[1], "query")) query = dlsym(library, "cuGetProcAddress_v2");
    if (!strcmp(end, "nothing")) return 0;
    GET(R (*)(unsigned), cuInit, "cuInit", 2000);
    GET(R (*)(int *, int), cuDeviceGet, "cuDeviceGet", 2000);
    GET(R (*)(H *, int), cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", 7000);
    GET(R (*)(H), cuCtxSetCurrent, "cuCtxSetCurrent", 4000);
    GET(R (*)(H *, const void *), cuModuleLoadData, "cuModuleLoadData", 2000);
    GET(R (*)(H *, H, const char *), cuModuleGetFunction, "cuModuleGetFunction", 2000);
    GET(R (*)(uint64_t *, size_t), cuMemAlloc_v2, "cuMemAlloc", 3020);
    GET(R (*)(H *, unsigned), cuStreamCreate, "cuStreamCreate", 2000);
    GET(R (*)(uint64_t, const void *, size_t, H), cuMemcpyHtoDAsync_v2, "cuMemcpyHtoDAsync", 3020);
    GET(R (*)(void *, uint64_t, size_t, H), cuMemcpyDtoHAsync_v2, "cuMemcpyDtoHAsync", 3020);
    GET(R (*)(void *, uint64_t, size_t), cuMemcpyDtoH_v2, "cuMemcpyDtoH", 3020);
    GET(R (*)(H, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, H, void **, void **), cuLaunchKernel, "cuLaunchKernel", 4000);
    GET(R (*)(H), cuStreamSynchronize, "cuStreamSynchronize", 2000);
    GET(R (*)(H *, unsigned), cuEventCreate, "cuEventCreate", 2000);
    GET(R (*)(H, H), cuEventRecord, "cuEventRecord", 2000);
    GET(R (*)(H), cuEventSynchronize, "cuEventSynchronize", 2000);

    OK(cuInit(0));
    int device;
    H context, module, kernel, first, second, event;
    OK(cuDeviceGet(&device, 0));
    OK(cuDevicePrimaryCtxRetain(&context, device));
    OK(cuCtxSetCurrent(context));
    OK(cuModuleLoadData(&module, code));
    OK(cuModuleGetFunction(&kernel, module, "twice"));
    OK(cuStreamCreate(&first, 0));
    OK(cuStreamCreate(&second, 1));
    OK(cuEventCreate(&event, 0));
    uint32_t values[32];
    for (int i = 0; i < 32; i++) values[i] = i;
    uint64_t memory;
    OK(cuMemAlloc_v2(&memory, sizeof values));
    void *arguments[] = {&memory};
    OK(cuMemcpyHtoDAsync_v2(memory, values, sizeof values, first));
    OK(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, first, arguments, NULL));
    OK(cuEventRecord(event, first));
    OK(cuEventSynchronize(event));
    OK(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, second, arguments, NULL));
    OK(cuMemcpyDtoHAsync_v2(values, memory, sizeof values, second));
    OK(cuStreamSynchronize(second));
    OK(cuMemcpyDtoH_v2(values, memory, sizeof values));
    for (int i = 0; i < 32; i++) if (values[i] != 4 * i) return 6;
    if (cuDeviceGet(&device, 12345) == 0) return 5;

    if (!strcmp(end, "crash")) *(volatile int *)8 = 1;
    if (!strcmp(end, "abort")) abort();
    if (!strcmp(end, "_exit")) _exit(3);
    if (!strcmp(end, "killed")) kill(getpid(), SIGKILL);
    if (!strcmp(end, "terminated")) { puts("ready"); fflush(stdout); sleep(30); }
    if (!strcmp(end, "fork")) {
        GET(R (*)(int *), cuDriverGetVersion, "cuDriverGetVersion", 2020);
        int version;
        pid_t child = fork();
        for (int i = 0; i < 100; i++) OK(cuDriverGetVersion(&version));
        if (child == 0) _exit(0);
        int status;
        waitpid(child, &status, 0);
        return status != 0;
    }
    if (!strcmp(end, "exec")) {
        char *again[] = {words[0], words[1], "return", NULL};
        if (fork() == 0) execv("/proc/self/exe", again);
        int status;
        wait(&status);
        return status != 0;
    }
    if (!strcmp(end, "threads")) {
        pthread_t all[8];
        for (int i = 0; i < 8; i++) pthread_create(&all[i], NULL, threads, (void *)number);
        for (int i = 0; i < 8; i++) pthread_join(all[i], NULL);
    }
    if (!strcmp(end, "cost")) {
        GET(R (*)(int *), cuDriverGetVersion, "cuDriverGetVersion", 2020);
        int version;
        for (int i = 0; i < 1000; i++) cuDriverGetVersion(&version);
        double start = now();
        for (long i = 0; i < number; i++) cuDriverGetVersion(&version);
        printf("%.1f\n", (now() - start) / number);
        start = now();
        for (long i = 0; i < number; i++) cuMemcpyHtoDAsync_v2(memory, values, 0, NULL);
        printf("%.1f\n", (now() - start) / number);
    }
    return 0;
}
