// What the functions of CMicroHTTPDHooks, which the library calls instead of those that are meant, tell this bridge: the
// bytes as they come from the socket, that something went out, and what the library is about to do by itself.
//
// Nothing depends on their being called, since a program that only uses the library product `HTTPServer` has none of
// them. It sees the library's own pages, in HTML, and no answer to what is no request line; its connections close after
// each chunked body, since what follows a body that nobody checked must not be taken for a request; and what comes in one
// piece behind a request may wait some milliseconds while connections are held.
#include <errno.h>

#include "internal.h"

/// The worker whose thread this is; other threads call the functions as well.
static _Thread_local worker *here;

void cmhd_begin_worker(worker *w) { here = w->server->options.ignores_hooks ? NULL : w; }

cmhd_queue_function *cmhd_queue = MHD_queue_response;

static cmhd_connection *connection_of(int fd) {
    bool is_known = here != NULL && fd >= 0 && (size_t)fd < here->by_descriptor_count;
    return is_known ? here->by_descriptor[fd] : NULL;
}

void cmhd_note_sent(ssize_t sent) {
    if (here != NULL && (sent >= 0 || errno != EAGAIN)) here->moved = true;
}

ssize_t cmhd_note_received(int fd, char *buffer, ssize_t got) {
    if (here != NULL && (got >= 0 || errno != EAGAIN)) here->moved = true;
    cmhd_connection *c = connection_of(fd);
    if (c == NULL) return got;
    if (got <= 0) {
        c->client_has_ended = got == 0;
        return got;
    }
    cmhd_refusal refusal = cmhd_note_read(c, buffer, (size_t)got);
    if (refusal == CMHD_REFUSAL_NONE) return got;
    cmhd_refuse_now(c, refusal);
    // To the library it is a connection that broke.
    errno = ECONNRESET;
    return -1;
}

void cmhd_note_closing(int fd) {
    cmhd_connection *c = connection_of(fd);
    if (c == NULL || c->target != NULL || c->client_has_ended) return;
    // Between two requests, and bytes of another one have come: the library closes without a word where they do not begin
    // with a request line.
    bool is_between = c->phase == PHASE_HEADER || c->phase == PHASE_SETTLING || c->phase == PHASE_IDLE;
    if (is_between && c->received > c->request_end) cmhd_refuse_now(c, CMHD_REFUSAL_REQUEST_LINE);
}

static bool has_field(struct MHD_Connection *mhd, const char *name) {
    return MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, name) != NULL;
}

/// What the library refuses, by the status that it gives and how far it has come.
static cmhd_refusal refusal_of(const cmhd_connection *c, unsigned status) {
    switch (status) {
    case 400: break;
    case 413: return CMHD_REFUSAL_BODY_TOO_LARGE;
    case 414: return CMHD_REFUSAL_TARGET_TOO_LONG;
    case 431: return CMHD_REFUSAL_FIELDS_TOO_LARGE;
    case 501: return CMHD_REFUSAL_FIELDS_TOO_LARGE;  // 1.0, for a line that leaves no room in its memory
    case 505: return CMHD_REFUSAL_VERSION;
    default: return CMHD_REFUSAL_NONE;
    }
    if (c->step == STEP_BODY || c->step == STEP_PIECES) return CMHD_REFUSAL_CHUNKS;
    if (c->target == NULL) return CMHD_REFUSAL_REQUEST_LINE;
    if (cmhd_header_size(c->mhd) == 0) return CMHD_REFUSAL_LAYOUT;
    // The head was read to its end: what is refused then is Host or how long the body is.
    if (!has_field(c->mhd, MHD_HTTP_HEADER_HOST)) return CMHD_REFUSAL_HOST;
    if (has_field(c->mhd, MHD_HTTP_HEADER_CONTENT_LENGTH)) return CMHD_REFUSAL_FRAMING;
    return cmhd_check_codings(c->mhd);
}

void cmhd_note_queued(struct MHD_Connection *mhd, unsigned status) {
    const union MHD_ConnectionInfo *info =
        here == NULL ? NULL : MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    cmhd_connection *c = info == NULL ? NULL : info->socket_context;
    cmhd_refusal refusal = c == NULL ? CMHD_REFUSAL_NONE : refusal_of(c, status);
    // The library queues its page all the same, or it would not free what it needs no more. It goes nowhere.
    if (refusal != CMHD_REFUSAL_NONE) cmhd_refuse_now(c, refusal);
}
