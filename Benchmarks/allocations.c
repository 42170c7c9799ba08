/* Counts heap allocations from inside a process, for any program that uses the C library's heap.
 *
 *   ALLOCATION_COUNTS=FILE LD_PRELOAD=allocations.so PROGRAM
 *
 * FILE (16 bytes or more, made by the caller) is mapped into the process: two 64-bit counters, calls and bytes
 * asked for. Whoever maps it too reads them at any time, so that a difference over N requests needs no signal and
 * no cooperation. C++'s `operator new` and the Swift runtime end in these functions as well.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "counts.h"

/* glibc's own names: asking dlsym for the originals would itself allocate. */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

struct counts {
    atomic_uint_fast64_t calls, bytes;
};
static struct counts unwatched; /* until the file is mapped, and when there is none */
static struct counts *counts = &unwatched;

static void count(size_t bytes) {
    atomic_fetch_add_explicit(&counts->calls, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&counts->bytes, bytes, memory_order_relaxed);
}

__attribute__((constructor)) static void prepare(void) {
    counts = map_counts("ALLOCATION_COUNTS", sizeof *counts, counts);
}

void *malloc(size_t size) {
    count(size);
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count(number * size);
    return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size) {
    count(size);
    return __libc_realloc(old, size);
}

void *reallocarray(void *old, size_t number, size_t size) {
    size_t total;
    if (__builtin_mul_overflow(number, size, &total)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(old, total);
}

void *memalign(size_t alignment, size_t size) {
    count(size);
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    return memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
    void *memory = memalign(alignment, size);
    if (memory == NULL) return ENOMEM;
    *result = memory;
    return 0;
}
