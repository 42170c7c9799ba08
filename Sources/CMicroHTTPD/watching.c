// The functions of CMicroHTTPDHooks, which the library calls in place of the originals, report here: bytes that arrive
// at the socket, bytes that were sent, and responses that the library makes itself.
//
// Nothing depends on these reports, because a program that uses only the library product `HTTPServer` does not have the
// hooks. Its clients see the library's HTML pages, and no response to an invalid request line. Its connections close
// after each chunked body, and before 1.0 after each request, since what follows unchecked bytes must not be taken for
// a request. A request that arrives together with the previous one may wait some milliseconds while connections are
// parked.
#include <errno.h>

#include "internal.h"

/// The worker of this thread. Other threads call the functions as well.
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

/// Returns `got`, or -1 when the bytes were refused.
static ssize_t note_bytes(cmhd_connection *c, char *buffer, ssize_t got) {
    c->client_has_ended = got == 0;
    if (got == 0) return 0;
    cmhd_refusal refusal = cmhd_note_read(c, buffer, (size_t)got);
    if (refusal == CMHD_REFUSAL_NONE) return got;
    cmhd_refuse_now(c, refusal);
    return -1;
}

ssize_t cmhd_note_received(int fd, char *buffer, ssize_t got) {
    if (here != NULL && (got >= 0 || errno != EAGAIN)) here->moved = true;
    cmhd_connection *c = connection_of(fd);
    // The bytes of TLS are looked at when they are decrypted.
    if (c == NULL || c->session != NULL || got < 0) return got;
    got = note_bytes(c, buffer, got);
    // To the library the connection is broken.
    if (got < 0) errno = ECONNRESET;
    return got;
}

ssize_t cmhd_note_decrypted(gnutls_session_t session, char *buffer, ssize_t got) {
    if (here != NULL && got >= 0) here->moved = true;
    cmhd_connection *c = got < 0 ? NULL : connection_of(gnutls_transport_get_int(session));
    if (c == NULL) return got;
    return note_bytes(c, buffer, got) < 0 ? GNUTLS_E_PREMATURE_TERMINATION : got;
}

void cmhd_note_closing(int fd) {
    cmhd_connection *c = connection_of(fd);
    if (c == NULL || c->target != NULL || c->client_has_ended) return;
    // Bytes of another request have arrived. If they do not begin with a request line, the library closes without a
    // response.
    bool is_between = c->phase == PHASE_HEADER || c->phase == PHASE_SETTLING || c->phase == PHASE_TAKING ||
                      c->phase == PHASE_IDLE;
    if (is_between && c->received > c->request_end) cmhd_refuse_now(c, CMHD_REFUSAL_REQUEST_LINE);
}

static bool has_field(struct MHD_Connection *mhd, const char *name) {
    return MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, name) != NULL;
}

/// The refusal for a page of the library, by its status and the phase of the request.
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
    if (c->step == STEP_BODY) return CMHD_REFUSAL_CHUNKS;
    if (c->target == NULL) return CMHD_REFUSAL_REQUEST_LINE;
    if (cmhd_header_size(c->mhd) == 0) return CMHD_REFUSAL_LAYOUT;
    // The head was read to its end, so the library refuses Host or the body's length.
    if (!has_field(c->mhd, MHD_HTTP_HEADER_HOST)) return CMHD_REFUSAL_HOST;
    if (has_field(c->mhd, MHD_HTTP_HEADER_CONTENT_LENGTH)) return CMHD_REFUSAL_FRAMING;
    return cmhd_check_codings(c->mhd);
}

void cmhd_note_queued(struct MHD_Connection *mhd, unsigned status) {
    const union MHD_ConnectionInfo *info =
        here == NULL ? NULL : MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    cmhd_connection *c = info == NULL ? NULL : info->socket_context;
    cmhd_refusal refusal = c == NULL ? CMHD_REFUSAL_NONE : refusal_of(c, status);
    // The library queues its page all the same, to free its memory. The page is discarded.
    if (refusal != CMHD_REFUSAL_NONE) cmhd_refuse_now(c, refusal);
}
