/// Asks the processor for memory that will be written to soon, without waiting for it: Swift has no words for that.
#ifndef CPREFETCH_H
#define CPREFETCH_H

#include <stddef.h>

/// Starts to fetch `length` bytes from `start` on. Harmless where there is no such memory, and no guarantee.
static inline void cprefetch_for_writing(const void *start, size_t length) {
    // What every processor that Debian runs on moves at once is 64 bytes, or a multiple of them.
    for (size_t offset = 0; offset < length; offset += 64) __builtin_prefetch((const char *)start + offset, 1);
}

#endif
