// The library's memory of a connection, its pool: a head, the index of its fields, and the response's head lie in it.
//
// Before a connection takes its next request, the library writes zeros over the whole pool. With room for a head of
// 16 KiB that costs every request 5 % of its processor time, and keeps all of it resident in idle connections. Yet few
// requests need more than a page or two. So the library makes a small pool, whose memory is replaced by a larger block
// when the connection begins. The library learns of the larger size when a request line is there, and is told the
// smaller one again before it clears the pool. What an idle connection does not use goes back to the kernel.
//
// This depends on the internals of the library before 1.0, and on knowing how many bytes of the next request have
// arrived, which only a program with the hooks does. Otherwise the pool is cleared as a whole, and requests cost more.
#define _GNU_SOURCE  // MADV_DONTNEED
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

/// The library's `struct MemoryPool`: what lies between `start` and `end` is free.
struct cmhd_pool {
    char *memory;
    size_t size, start, end;
    bool is_mapped;
};

/// The beginning of the library's `struct MHD_Connection`, in 0.9.74 to 0.9.77.
typedef struct {
    void *before[10];
    cmhd_pool *pool;
} connection_start;

/// Where the library reads the next request: half of its option, see its `connection_reset`. A request line must fit.
static size_t first_read(const cmhd_server *server) {
    enum { least = 4096 };
    const size_t line = server->options.target_bytes + (size_t)CMHD_RESPONSE_HEAD_BYTES;
    return ((line < least ? least : line) + 15) & ~(size_t)15;
}

static bool is_known_version(void) {
    static const char *const versions[] = {"0.9.74", "0.9.75", "0.9.76", "0.9.77"};
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        if (strcmp(MHD_get_version(), versions[i]) == 0) return true;
    return false;
}

size_t cmhd_pool_option(const cmhd_server *server) {
    // Larger ones are mapped, and unmapped by their size.
    enum { mapped = 32 << 10 };
    const size_t small = 2 * first_read(server), memory = server->options.connection_memory;
    return is_known_version() && small <= mapped && small < memory ? small : memory;
}

/// Each value must be the one that it has in a pool that was never used. Otherwise, and when memory is short, the
/// connection stays with the small pool, and larger heads get 431.
void cmhd_enlarge_pool(cmhd_connection *c) {
    const cmhd_server *server = c->worker->server;
    const size_t small = cmhd_pool_option(server), size = (server->options.connection_memory + 15) & ~(size_t)15;
    if (small == server->options.connection_memory) return;
    cmhd_pool *pool = ((connection_start *)c->mhd)->pool;
    if (pool == NULL || pool->memory == NULL || pool->size != small || pool->start != 0 || pool->end != small ||
        pool->is_mapped)
        return;
    char *memory = malloc(size);
    if (memory == NULL) return;
    // The library frees it with the connection.
    free(pool->memory);
    *pool = (cmhd_pool){.memory = memory, .size = small, .end = small};
    c->pool = pool;
    c->pool_size = size;
}

void cmhd_withhold_pool(cmhd_connection *c) {
    const size_t kept = first_read(c->worker->server);
    if (c->pool != NULL && cmhd_unread(c) <= kept) c->pool->size = kept;
}

void cmhd_restore_pool(cmhd_connection *c) {
    cmhd_pool *pool = c->pool;
    if (pool == NULL || pool->size == c->pool_size || pool->end != pool->size) return;
    pool->size = pool->end = c->pool_size;
}

void cmhd_empty_pool(cmhd_connection *c) {
    // Nothing but zeros is in it, and in what is withheld nothing that anybody reads.
    if (c->pool == NULL || c->target != NULL || c->pool->size == c->pool_size || cmhd_unread(c) != 0) return;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t start = ((uintptr_t)c->pool->memory + page - 1) & ~(page - 1);
    const uintptr_t end = ((uintptr_t)c->pool->memory + c->pool_size) & ~(page - 1);
    if (start < end) madvise((void *)start, end - start, MADV_DONTNEED);
}
