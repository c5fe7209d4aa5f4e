/* Device arrays for C and for languages that call C. Generated from src/lib.rs by tests/header.rs: do not edit.

Each function returns ARRAYS_OK or an error code; arrays_last_error returns its message. Any function may be called
on any thread. Nothing has to be freed before the process ends. */

#ifndef CUPRUM_ARRAYS_H
#define CUPRUM_ARRAYS_H

#include <stddef.h>
#include <stdint.h>

// Success.
#define ARRAYS_OK 0

// An argument is invalid: a null pointer, an unknown type, or an array in a place where it is not
// allowed.
#define ARRAYS_INVALID 1

// The array does not exist: it was freed, or never allocated.
#define ARRAYS_NO_ARRAY 2

// The array has another type.
#define ARRAYS_WRONG_TYPE 3

// The array has another length.
#define ARRAYS_WRONG_LENGTH 4

// The driver failed, or there is none.
#define ARRAYS_DEVICE 5

// The process is a fork of one that used the device. Only the parent can use it.
#define ARRAYS_FORKED 6

// An internal error of this library.
#define ARRAYS_BUG 7

// Type of elements: float.
#define ARRAYS_F32 1

// Type of elements: double.
#define ARRAYS_F64 2

// Type of elements: int32_t.
#define ARRAYS_I32 3

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Allocates an array of `len` elements, all zero, and writes its number to `array`. The number is
// never 0.
//
// # Safety
// `array` is null or writable for a number.
int32_t arrays_alloc(int32_t element, size_t len, uint64_t *array);

// Frees an array. A second call returns ARRAYS_NO_ARRAY.
int32_t arrays_free(uint64_t array);

// Writes the number of elements of an array to `len`.
//
// # Safety
// `len` is null or writable for a number.
int32_t arrays_len(uint64_t array, size_t *len);

// Copies `len` elements from the host into an array of exactly that type and length, and waits.
//
// # Safety
// `from` is null, or readable for `len` elements of this type, which no other thread writes
// meanwhile.
int32_t arrays_copy_in(uint64_t array, int32_t element, const void *from, size_t len);

// Copies all elements of an array to the host, where there is room for `len` of this type, and
// waits.
//
// # Safety
// `to` is null, or writable for `len` elements of this type, which no other thread uses meanwhile.
int32_t arrays_copy_out(uint64_t array, int32_t element, void *to, size_t len);

// Adds two arrays of floats into a third one, all of one length, and waits. The third is none of
// the others.
int32_t arrays_add(uint64_t a, uint64_t b, uint64_t sum);

// Adds `len` floats of the host to `len` others on the device, and waits for the sums.
//
// # Safety
// `a` and `b` are null, or readable for `len` floats; `sum` is null, or writable for them. No
// other thread writes them.
int32_t add_arrays(const float *a, const float *b, float *sum, size_t len);

// Writes the names of the device and its driver, cut to `bytes` with a NUL at the end.
//
// # Safety
// `text` is null, or writable for `bytes` bytes.
int32_t arrays_device(char *text, size_t bytes);

// Writes the text of this thread's last error, cut to `bytes` with a NUL at the end, and returns
// the bytes that the whole text needs, which is 1 without an error. With a null pointer nothing is
// written.
//
// # Safety
// `text` is null, or writable for `bytes` bytes.
size_t arrays_last_error(char *text, size_t bytes);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* CUPRUM_ARRAYS_H */
