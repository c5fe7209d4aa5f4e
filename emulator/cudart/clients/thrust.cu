// Thrust's sort, scan and reduction against the C++ library's. Prints "right" if they agree.
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>

#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>

int main() {
    std::mt19937 random(7);
    thrust::host_vector<int> numbers(5000);
    for (int &number : numbers) number = (int)(random() % 1000);
    thrust::device_vector<int> device = numbers;
    int sum = thrust::reduce(device.begin(), device.end());
    int most = thrust::reduce(device.begin(), device.end(), 0, thrust::maximum<int>());
    thrust::device_vector<int> sums(device.size());
    thrust::inclusive_scan(device.begin(), device.end(), sums.begin());
    thrust::sort(device.begin(), device.end());
    thrust::host_vector<int> sorted = device, scanned = sums;

    std::vector<int> expected(numbers.size());
    std::partial_sum(numbers.begin(), numbers.end(), expected.begin());
    bool right = std::equal(expected.begin(), expected.end(), scanned.begin());
    right &= sum == expected.back() && most == *std::max_element(numbers.begin(), numbers.end());
    std::sort(numbers.begin(), numbers.end());
    right &= std::equal(numbers.begin(), numbers.end(), sorted.begin());
    printf("%s, %s\n", right ? "right" : "WRONG", cudaGetErrorName(cudaGetLastError()));
    return !right;
}
