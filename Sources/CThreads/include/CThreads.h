/// What Swift does not offer of threads, and of the memory that they share.
#ifndef CTHREADS_H
#define CTHREADS_H

#include <stddef.h>

/// Names the calling thread, for `top -H` and `perf`: at most 15 bytes (pthread_setname_np(3)).
void cthreads_name(const char *name);

/// Fetches memory that the calling thread will soon write to and that another processor has used, without waiting for
/// it. It need not exist.
static inline void cthreads_prefetch_for_writing(const void *start, size_t length) {
    for (size_t offset = 0; offset < length; offset += 64) __builtin_prefetch((const char *)start + offset, 1);
}

#endif
