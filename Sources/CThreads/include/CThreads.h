/// What Swift does not offer of threads, and of the memory that they share.
#ifndef CTHREADS_H
#define CTHREADS_H

#include <stddef.h>
#include <stdint.h>

/// Names the calling thread, for `top -H` and `perf`: at most 15 bytes (pthread_setname_np(3)).
void cthreads_name(const char *name);

/// Sets for how many nanoseconds, from 100,000 to 100,000,000, the calling thread runs before others that want its
/// processor (sched_setattr(2)). From Linux 6.12 on a thread that wakes takes the processor at once from one with
/// longer slices; before, it has no effect. Where the kernel does not allow it, all stays as it is. Threads that the
/// calling one starts have the usual slice.
void cthreads_set_slice(uint64_t slice);

/// Fetches memory that the calling thread will soon write to and that another processor has used, without waiting for
/// it. It need not exist.
static inline void cthreads_prefetch_for_writing(const void *start, size_t length) {
    for (size_t offset = 0; offset < length; offset += 64) __builtin_prefetch((const char *)start + offset, 1);
}

#endif
