// Functions that libmicrohttpd calls, ours instead of those that are meant: the dynamic linker prefers the program's.
//
// `recv` shows the bytes as they come from the socket, which the library keeps to itself: with them chunks can be
// checked. `MHD_queue_response` shows when the library answers by itself: its pages cannot be replaced by an option,
// and are HTML that names no request. `send` and `sendmsg` show that something went out, see `turn` in worker.c.
//
// Nothing depends on their being called. Where the library is bound to its own functions its pages are seen again,
// connections close after each chunked body, as whatever follows one that nobody checked must not be a request, and
// what comes in one piece behind a request may wait some milliseconds while connections are held.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

/// The worker whose thread this is; other threads may call what is here as well.
static _Thread_local worker *here;

void cmhd_begin_worker(worker *w) { here = w; }

typedef enum MHD_Result (*queue_function)(struct MHD_Connection *, unsigned, struct MHD_Response *);
static queue_function library_queue;

__attribute__((constructor)) static void find_library(void) {
    library_queue = (queue_function)dlsym(RTLD_NEXT, "MHD_queue_response");
}

enum MHD_Result cmhd_queue(struct MHD_Connection *mhd, unsigned status, struct MHD_Response *response) {
    return library_queue == NULL ? MHD_NO : library_queue(mhd, status, response);
}

/// What the library refuses, by the status that it gives and how far it has come.
static cmhd_refusal refusal_of(const cmhd_connection *c, unsigned status) {
    switch (status) {
    case 400: break;
    case 413: return CMHD_REFUSAL_BODY_TOO_LARGE;
    case 414: return CMHD_REFUSAL_TARGET_TOO_LONG;
    case 431: return CMHD_REFUSAL_FIELDS_TOO_LARGE;
    case 505: return CMHD_REFUSAL_VERSION;
    default: return CMHD_REFUSAL_NONE;
    }
    if (c->step == STEP_BODY || c->step == STEP_PIECES) return CMHD_REFUSAL_CHUNKS;
    if (c->target == NULL) return CMHD_REFUSAL_REQUEST_LINE;
    // The head was read to its end: what remains to be malformed is Content-Length.
    return cmhd_header_size(c->mhd) > 0 ? CMHD_REFUSAL_FRAMING : CMHD_REFUSAL_FIELD_NAME;
}

/// Called by the library only: this bridge calls `cmhd_queue`.
enum MHD_Result MHD_queue_response(struct MHD_Connection *mhd, unsigned status, struct MHD_Response *response) {
    const union MHD_ConnectionInfo *info =
        here == NULL ? NULL : MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    cmhd_connection *c = info == NULL ? NULL : info->socket_context;
    cmhd_refusal refusal = c == NULL ? CMHD_REFUSAL_NONE : refusal_of(c, status);
    if (refusal != CMHD_REFUSAL_NONE) cmhd_refuse_now(c, refusal);
    // The library frees what it still needs when it cannot queue its page: so it may, and nobody gets it.
    return cmhd_queue(mhd, status, response);
}

// The system calls are made by syscall(2): around each of its own functions for them the C library makes the thread
// cancellable for that time, two exchanges in memory, and nobody cancels a worker.

static ssize_t note_sent(ssize_t sent) {
    if (here != NULL && (sent >= 0 || errno != EAGAIN)) here->moved = true;
    return sent;
}

ssize_t send(int fd, const void *bytes, size_t size, int flags) {
    return note_sent(syscall(SYS_sendto, fd, bytes, size, flags, NULL, 0));
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
    return note_sent(syscall(SYS_sendmsg, fd, message, flags));
}

ssize_t recv(int fd, void *buffer, size_t size, int flags) {
    ssize_t got = syscall(SYS_recvfrom, fd, buffer, size, flags, NULL, NULL);
    worker *w = here;
    // With flags it is this bridge that reads.
    if (w == NULL || flags != 0) return got;
    if (got >= 0 || errno != EAGAIN) w->moved = true;
    if (got <= 0) return got;
    cmhd_connection *c = (size_t)fd < w->by_descriptor_count ? w->by_descriptor[fd] : NULL;
    if (c == NULL) return got;
    cmhd_refusal refusal = cmhd_note_read(c, buffer, (size_t)got);
    if (refusal == CMHD_REFUSAL_NONE) return got;
    cmhd_refuse_now(c, refusal);
    // To the library it is a connection that broke.
    errno = ECONNRESET;
    return -1;
}
