#ifndef CMHD_VECTOR_H
#define CMHD_VECTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/// Sixteen bytes that the processor compares together, by extensions of GCC and Clang that exist for every processor. A
/// comparison sets all bits of the bytes for which it holds.
typedef uint8_t bytes16 __attribute__((vector_size(16)));
typedef uint64_t words2 __attribute__((vector_size(16)));

static inline bytes16 sixteen_bytes(const void *text) {
    bytes16 bytes;
    memcpy(&bytes, text, sizeof bytes);
    return bytes;
}

static inline bool has_no_bit(bytes16 bytes) {
    words2 words = (words2)bytes;
    return (words[0] | words[1]) == 0;
}

static inline bool has_all_bits(bytes16 bytes) {
    words2 words = (words2)bytes;
    return (words[0] & words[1]) == UINT64_MAX;
}

#endif
