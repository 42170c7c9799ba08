/// What Swift's C library does not show of threads.
#ifndef CTHREADS_H
#define CTHREADS_H

#include <stddef.h>

/// Names the calling thread, for `top -H` and `perf`: at most 15 bytes (pthread_setname_np(3)).
void cthreads_name(const char *name);

/// Asks the processor for memory that another thread has used and this one will write to soon, without waiting for it.
/// Harmless where there is no such memory.
static inline void cthreads_prefetch(const void *start, size_t length) {
    for (size_t offset = 0; offset < length; offset += 64) __builtin_prefetch((const char *)start + offset, 1);
}

#endif
