/* What all kernels share: exported functions, error codes, checks of what comes in, and the hashing of small keys.

   A kernel is called through ctypes (kernels/calling.py) and knows nothing of Python; the interpreter's lock is not
   held meanwhile. Every array comes as a pointer and its length, every exported function returns what it counted or
   one of the error codes, and no index is used before it was checked against a length. */

#ifndef BILLBOARDS_KERNEL_H
#define BILLBOARDS_KERNEL_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

#define OUT_OF_MEMORY (-1)
#define MALFORMED (-2)

#ifndef SOURCE_DIGEST
#define SOURCE_DIGEST "unknown"
#endif

/* The loader compares this with the sources beside the library. */
EXPORT const char *source_digest(void);
EXPORT const char *source_digest(void) { return SOURCE_DIGEST; }

/* Offsets cut an array of `total` elements into consecutive parts: they begin at 0, never fall, and end at `total`. */
static inline int offsets_are_good(const int64_t *offsets, int64_t length, int64_t total) {
    if (length < 1 || offsets[0] != 0 || offsets[length - 1] != total) return 0;
    for (int64_t k = 1; k < length; k++)
        if (offsets[k] < offsets[k - 1]) return 0;
    return 1;
}

static inline int range_is_good(int64_t start, int64_t stop, int64_t count) {
    return 0 <= start && start <= stop && stop <= count;
}

/* Every index lies in 0..count-1. */
static inline int indices_are_good(const int32_t *indices, int64_t length, int64_t count) {
    for (int64_t k = 0; k < length; k++)
        if (indices[k] < 0 || indices[k] >= count) return 0;
    return 1;
}

/* White space as str.split() and str.isspace() see it. */
static inline int is_space(uint32_t c) {
    if (c <= 0x20) return c == 0x20 || (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x1f);
    if (c < 0x85) return 0;
    return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
           c == 0x202f || c == 0x205f || c == 0x3000;
}

/* Spreads the bits of a key over a table; keys themselves are always compared, so a collision costs only time. */
static inline uint64_t mixed(uint64_t key) {
    key *= UINT64_C(0x9e3779b97f4a7c15);
    return key ^ (key >> 29);
}

/* The smallest power of two that is at least `wanted` (and at least 16). */
static inline int64_t table_size(int64_t wanted) {
    int64_t size = 16;
    while (size < wanted) size *= 2;
    return size;
}

#endif
