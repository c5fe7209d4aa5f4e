// Example `bandwidth` with the calls of C: see `beside_c.sh`.
//
// Prints a line for each size: bytes, and microseconds of one all-reduce, the least of five rounds on member 0.

#include <cuda_runtime.h>
#include <nccl.h>

#include <algorithm>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

constexpr int ROUNDS = 5;

#define CHECK(call)                                                   \
    if (int code = (call)) {                                          \
        std::fprintf(stderr, "%s answered %d\n", #call, code);        \
        std::exit(1);                                                 \
    }

static int calls(size_t bytes) { return bytes < 0x100000 ? 200 : bytes < 0x4000000 ? 50 : 10; }

static void measure(int rank, ncclComm_t comm, std::barrier<> &together, size_t most) {
    CHECK(cudaSetDevice(rank));
    cudaStream_t stream;
    cudaEvent_t start, end;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&end));
    for (size_t bytes = 8; bytes <= most; bytes *= 8) {
        void *numbers, *sums;
        CHECK(cudaMalloc(&numbers, bytes));
        CHECK(cudaMalloc(&sums, bytes));
        CHECK(cudaMemset(numbers, 0, bytes));
        float least = 1e30f;
        for (int round = 0; round <= ROUNDS; ++round) {
            together.arrive_and_wait();
            CHECK(cudaEventRecord(start, stream));
            for (int call = 0; call < calls(bytes); ++call) {
                CHECK(ncclAllReduce(numbers, sums, bytes / 4, ncclFloat32, ncclSum, comm, stream));
            }
            CHECK(cudaEventRecord(end, stream));
            CHECK(cudaStreamSynchronize(stream));
            float milliseconds;
            CHECK(cudaEventElapsedTime(&milliseconds, start, end));
            least = std::min(least, milliseconds * 1000 / calls(bytes));
        }
        if (rank == 0) {
            std::printf("%zu\t%.3f\n", bytes, least);
        }
        CHECK(cudaFree(numbers));
        CHECK(cudaFree(sums));
    }
    CHECK(ncclCommFinalize(comm));
}

int main(int count, char **arguments) {
    size_t most = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : size_t(1) << 30;
    int devices;
    CHECK(cudaGetDeviceCount(&devices));
    std::vector<ncclComm_t> members(devices);
    CHECK(ncclCommInitAll(members.data(), devices, nullptr));
    std::barrier<> together(devices);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < devices; ++rank) {
        threads.emplace_back(measure, rank, members[rank], std::ref(together), most);
    }
    for (auto &thread : threads) {
        thread.join();
    }
}
