/* Adds arrays on the device from plain C, and makes the usual mistakes, which are answered and end nothing.

       cargo build --release -p cuprum-arrays
       cc -std=c11 -I examples/arrays/include examples/arrays/c/arrays.c -o arrays target/release/libarrays.so \
           -Wl,-rpath,$PWD/target/release
       ./arrays
*/

#include "arrays.h"

#include <stdio.h>
#include <stdlib.h>

static void check(int32_t code) {
    char text[512];
    if (code == ARRAYS_OK) {
        return;
    }
    arrays_last_error(text, sizeof text);
    fprintf(stderr, "error %d: %s\n", (int)code, text);
    exit(1);
}

static void refused(const char *what, int32_t code) {
    char text[512];
    arrays_last_error(text, sizeof text);
    printf("%s: %d, %s\n", what, (int)code, text);
}

int main(void) {
    enum { N = 1000 };
    float x[N], y[N], sum[N];
    uint64_t a, b, c;
    for (int i = 0; i < N; ++i) {
        x[i] = (float)i;
        y[i] = 2.0f * (float)i;
    }

    /* In one call. */
    check(add_arrays(x, y, sum, N));
    printf("%g %g\n", sum[1], sum[N - 1]);

    /* With arrays that stay on the device. */
    check(arrays_alloc(ARRAYS_F32, N, &a));
    check(arrays_alloc(ARRAYS_F32, N, &b));
    check(arrays_alloc(ARRAYS_F32, N, &c));
    check(arrays_copy_in(a, ARRAYS_F32, x, N));
    check(arrays_copy_in(b, ARRAYS_F32, y, N));
    check(arrays_add(a, b, c));
    check(arrays_add(c, b, a));
    check(arrays_copy_out(a, ARRAYS_F32, sum, N));
    printf("%g %g\n", sum[1], sum[N - 1]);

    check(arrays_free(b));
    refused("freed twice", arrays_free(b));
    refused("used after it was freed", arrays_add(a, b, c));
    refused("too short", arrays_copy_out(a, ARRAYS_F32, sum, N - 1));
    refused("of another type", arrays_copy_out(a, ARRAYS_F64, sum, N / 2));
    /* The others are not freed, and need not be. */
    return 0;
}
