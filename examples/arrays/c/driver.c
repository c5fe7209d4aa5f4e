/* The CUDA driver API from plain C, linked with libcuda.so.1 alone: NVIDIA's, or the software device. No header of
   NVIDIA's is needed for the few functions here; with <cuda.h> the program is the same.

       cc -std=c11 driver.c -o driver -L FOLDER -l:libcuda.so.1 -Wl,-rpath,FOLDER
       ./driver kernels/vector_add.ptx
*/

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef uint32_t CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;

CUresult cuInit(unsigned);
CUresult cuGetErrorName(CUresult, const char **);
CUresult cuDeviceGet(CUdevice *, int);
CUresult cuDeviceGetName(char *, int, CUdevice);
CUresult cuDevicePrimaryCtxRetain(CUcontext *, CUdevice);
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice);
CUresult cuCtxSetCurrent(CUcontext);
CUresult cuCtxSynchronize(void);
CUresult cuModuleLoadData(CUmodule *, const void *);
CUresult cuModuleGetFunction(CUfunction *, CUmodule, const char *);
CUresult cuModuleUnload(CUmodule);
CUresult cuMemAlloc_v2(CUdeviceptr *, size_t);
CUresult cuMemFree_v2(CUdeviceptr);
CUresult cuMemcpyHtoD_v2(CUdeviceptr, const void *, size_t);
CUresult cuMemcpyDtoH_v2(void *, CUdeviceptr, size_t);
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                        void **, void **);

static void check(CUresult code, const char *call) {
    const char *name = "an unknown error";
    if (code == 0) {
        return;
    }
    cuGetErrorName(code, &name);
    fprintf(stderr, "%s: %s\n", call, name);
    exit(1);
}

#define CHECK(call) check(call, #call)

static char *read_text(const char *path) {
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 16);
    if (!file || !text || fread(text, 1, (1 << 16) - 1, file) == 0) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(1);
    }
    fclose(file);
    return text;
}

int main(int count, char **arguments) {
    enum { N = 1000 };
    float x[N], y[N], sum[N];
    unsigned n = N;
    char name[256];
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction vector_add;
    CUdeviceptr a, b, out;
    char *ptx = read_text(count > 1 ? arguments[1] : "kernels/vector_add.ptx");
    for (int i = 0; i < N; ++i) {
        x[i] = (float)i;
        y[i] = 2.0f * (float)i;
    }

    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDeviceGetName(name, sizeof name, device));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, ptx));
    CHECK(cuModuleGetFunction(&vector_add, module, "vector_add"));
    CHECK(cuMemAlloc_v2(&a, sizeof x));
    CHECK(cuMemAlloc_v2(&b, sizeof y));
    CHECK(cuMemAlloc_v2(&out, sizeof sum));
    CHECK(cuMemcpyHtoD_v2(a, x, sizeof x));
    CHECK(cuMemcpyHtoD_v2(b, y, sizeof y));
    void *parameters[] = {&a, &b, &out, &n};
    CHECK(cuLaunchKernel(vector_add, 4, 1, 1, 256, 1, 1, 0, NULL, parameters, NULL));
    CHECK(cuCtxSynchronize());
    CHECK(cuMemcpyDtoH_v2(sum, out, sizeof sum));
    printf("%s: %g %g\n", name, sum[1], sum[N - 1]);

    CHECK(cuMemFree_v2(a));
    CHECK(cuMemFree_v2(b));
    CHECK(cuMemFree_v2(out));
    CHECK(cuModuleUnload(module));
    CHECK(cuDevicePrimaryCtxRelease_v2(device));
    free(ptx);
    return 0;
}
