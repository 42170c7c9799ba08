/* Counts from inside a process what it asks of its files' disk.
 *
 *   DISK_COUNTS=FILE LD_PRELOAD=disk.so PROGRAM
 *
 * FILE (32 bytes or more, made by the caller) is mapped into the process: four 64-bit counters, syncs, nanoseconds that
 * they took, bytes written at a place in a file, and reads at a place in a file. Sockets and logs are written and read
 * otherwise. Whoever maps it too reads them at any time.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock.h"
#include "counts.h"

struct counts {
    atomic_uint_fast64_t syncs, nanoseconds, written, reads;
};
static struct counts unwatched; /* until the file is mapped, and when there is none */
static struct counts *counts = &unwatched;

static int (*next_fdatasync)(int);
static int (*next_fsync)(int);
static ssize_t (*next_pwrite64)(int, const void *, size_t, off64_t);
static ssize_t (*next_pread64)(int, void *, size_t, off64_t);

__attribute__((constructor)) static void prepare(void) {
    *(void **)&next_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
    *(void **)&next_fsync = dlsym(RTLD_NEXT, "fsync");
    *(void **)&next_pwrite64 = dlsym(RTLD_NEXT, "pwrite64");
    *(void **)&next_pread64 = dlsym(RTLD_NEXT, "pread64");
    counts = map_counts("DISK_COUNTS", sizeof *counts, counts);
}

static int timed(int (*sync)(int), int file) {
    uint64_t start = now();
    int result = sync(file);
    atomic_fetch_add_explicit(&counts->nanoseconds, now() - start, memory_order_relaxed);
    atomic_fetch_add_explicit(&counts->syncs, 1, memory_order_relaxed);
    return result;
}

int fdatasync(int file) { return timed(next_fdatasync, file); }

int fsync(int file) { return timed(next_fsync, file); }

ssize_t pwrite64(int file, const void *data, size_t size, off64_t place) {
    atomic_fetch_add_explicit(&counts->written, size, memory_order_relaxed);
    return next_pwrite64(file, data, size, place);
}

ssize_t pread64(int file, void *data, size_t size, off64_t place) {
    atomic_fetch_add_explicit(&counts->reads, 1, memory_order_relaxed);
    return next_pread64(file, data, size, place);
}
