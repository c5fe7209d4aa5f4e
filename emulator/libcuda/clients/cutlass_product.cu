// A matrix product by CUTLASS for compute capability 9.0: one warp group copies tiles of tensors to both blocks of a
// cluster, two others multiply them by `wgmma`, and results are copied as tiles, too. The kernel is loaded from PTX
// (the argument) and launched through the driver, with the parameters that CUTLASS computes on the host.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <cuda.h>

#include "cutlass/cutlass.h"
#include "cute/tensor.hpp"
#include "cutlass/epilogue/collective/collective_builder.hpp"
#include "cutlass/gemm/collective/collective_builder.hpp"
#include "cutlass/gemm/kernel/gemm_universal.hpp"
#include "cutlass/util/packed_stride.hpp"
#include "cutlass/device_kernel.h"

using namespace cute;

using Half = cutlass::half_t;
using RowMajor = cutlass::layout::RowMajor;
using ColumnMajor = cutlass::layout::ColumnMajor;
using Block = Shape<_128, _128, _64>;
using Cluster = Shape<_2, _1, _1>;

using Epilogue = cutlass::epilogue::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Block, Cluster, cutlass::epilogue::collective::EpilogueTileAuto,
    float, float, float, RowMajor, 4, float, RowMajor, 4,
    cutlass::epilogue::TmaWarpSpecializedCooperative>::CollectiveOp;
using Mainloop = cutlass::gemm::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Half, RowMajor, 8, Half, ORDER, 8, float, Block, Cluster,
    cutlass::gemm::collective::StageCountAutoCarveout<int(sizeof(typename Epilogue::SharedStorage))>,
    cutlass::gemm::KernelTmaWarpSpecializedCooperative>::CollectiveOp;
using Kernel = cutlass::gemm::kernel::GemmUniversal<Shape<int, int, int, int>, Mainloop, Epilogue>;

template __global__ void cutlass::device_kernel<Kernel>(CUTLASS_GRID_CONSTANT typename Kernel::Params const);

#define MUST(call) do { CUresult code_ = (call); if (code_) { printf("%s: %d\n", #call, code_); return 1; } } while (0)

int main(int, char** arguments) {
    MUST(cuInit(0));
    CUcontext context;
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
    std::ifstream file(arguments[1]);
    std::stringstream text;
    text << file.rdbuf();
    std::string ptx = text.str(), name = ptx.substr(ptx.find(".entry ") + 7);
    name = name.substr(0, name.find('('));
    CUmodule module;
    CUfunction function;
    MUST(cuModuleLoadData(&module, ptx.c_str()));
    MUST(cuModuleGetFunction(&function, module, name.c_str()));

    const int M = 256 + 64, N = 192, K = 328;
    std::vector<Half> a(M * K), b(K * N);
    std::vector<float> c(M * N), d(M * N), wanted(M * N);
    unsigned random = 1;
    auto next = [&] { return int((random = random * 1664525 + 1013904223) >> 24) % 9 - 4; };
    for (Half& x : a) x = Half(next());
    for (Half& x : b) x = Half(next());
    for (float& x : c) x = float(next());
    bool by_row = std::is_same_v<ORDER, RowMajor>;
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            float sum = 0;
            for (int k = 0; k < K; k++) sum += float(a[m * K + k]) * float(by_row ? b[k * N + n] : b[n * K + k]);
            wanted[m * N + n] = 2 * sum + c[m * N + n];
        }
    CUdeviceptr da, db, dc, dd, work;
    MUST(cuMemAlloc(&da, a.size() * 2));
    MUST(cuMemAlloc(&db, b.size() * 2));
    MUST(cuMemAlloc(&dc, c.size() * 4));
    MUST(cuMemAlloc(&dd, d.size() * 4));
    MUST(cuMemAlloc(&work, 1 << 20));
    MUST(cuMemcpyHtoD(da, a.data(), a.size() * 2));
    MUST(cuMemcpyHtoD(db, b.data(), b.size() * 2));
    MUST(cuMemcpyHtoD(dc, c.data(), c.size() * 4));

    cutlass::KernelHardwareInfo hardware;
    hardware.device_id = 0;
    hardware.sm_count = 4;
    hardware.max_active_clusters = 2;
    typename Kernel::Arguments wishes{
        cutlass::gemm::GemmUniversalMode::kGemm, {M, N, K, 1},
        {(Half*)da, cutlass::make_cute_packed_stride(Kernel::StrideA{}, {M, K, 1}),
         (Half*)db, cutlass::make_cute_packed_stride(Kernel::StrideB{}, {N, K, 1})},
        {{2.0f, 1.0f}, (float*)dc, cutlass::make_cute_packed_stride(Kernel::StrideC{}, {M, N, 1}),
         (float*)dd, cutlass::make_cute_packed_stride(Kernel::StrideD{}, {M, N, 1})},
        hardware};
    typename Kernel::Params params = Kernel::to_underlying_arguments(wishes, (void*)work);
    dim3 grid = Kernel::get_grid_shape(params), block = Kernel::get_block_shape();
    printf("grid %u %u %u, block %u, %d bytes of shared memory\n", grid.x, grid.y, grid.z, block.x, int(Kernel::SharedStorageSize));

    MUST(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, Kernel::SharedStorageSize));
    CUlaunchAttribute attribute;
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim.x = size<0>(Cluster{});
    attribute.value.clusterDim.y = size<1>(Cluster{});
    attribute.value.clusterDim.z = 1;
    CUlaunchConfig config{grid.x, grid.y, grid.z, block.x, 1, 1, Kernel::SharedStorageSize, nullptr, &attribute, 1};
    void* values[] = {&params};
    MUST(cuLaunchKernelEx(&config, function, values, nullptr));
    MUST(cuCtxSynchronize());
    MUST(cuMemcpyDtoH(d.data(), dd, d.size() * 4));
    int wrong = 0;
    for (int i = 0; i < M * N; i++) wrong += d[i] != wanted[i];
    printf("%d of %d are wrong; %g, %g wanted\n", wrong, M * N, d[1000], wanted[1000]);
    return wrong != 0;
}
