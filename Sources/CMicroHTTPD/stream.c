// Bodies in pieces: a request's body that is handed over piece by piece, and a response's body that is produced piece
// by piece.
//
// In both directions there is at most one piece, and the connection is suspended while the caller works on it. Then the
// library neither reads nor writes, the kernel's buffers fill up, and TCP slows the client down. A piece is no larger
// than the connection's memory.
//
// A piece of a request stays in the library's buffer as unread until the caller wants the next one. So the library
// calls again as soon as the connection is resumed, even if no more bytes have arrived, and the worker's thread learns
// whether the caller wants more or has a response.
#include "internal.h"

/// A client has `body_timeout` for so many bytes, so that a byte now and then does not keep a connection open for ever.
enum { progress_bytes = 4096 };

/// The response came before the end of the body. The library accepts no response now, so it is written to the socket.
/// The connection ends, because the start of the next request is unknown.
static enum MHD_Result answer_early(cmhd_connection *c) {
    cmhd_callbacks *callbacks = &c->worker->server->callbacks;
    void *exchange = c->exchange;
    c->exchange = NULL;
    cmhd_linger(c);
    c->writes_directly = true;
    callbacks->resumed(callbacks->context, exchange, c);
    c->writes_directly = false;
    c->step = STEP_ANSWERED;
    cmhd_close_writing(c);
    return MHD_NO;
}

static enum MHD_Result refuse(cmhd_connection *c) {
    cmhd_refuse_now(c, CMHD_REFUSAL_BODY_TOO_LARGE);
    return MHD_NO;
}

/// Returns false when there are more bytes than allowed: chunks that nothing watched.
static bool count(cmhd_connection *c, size_t size) {
    c->streamed += size;
    return c->streamed <= c->body_limit;
}

/// Returns false when the client is too slow.
static bool is_fast_enough(cmhd_connection *c, size_t size) {
    int64_t limit = c->worker->phases[PHASE_BODY].limit;
    if (c->phase == PHASE_BODY) c->waited += c->worker->now - (c->deadline - limit);
    c->progress += size;
    bool is_fast = c->waited <= limit;
    if (c->progress >= progress_bytes) {
        c->progress = 0;
        c->waited = 0;
    }
    return is_fast;
}

enum MHD_Result cmhd_on_first_piece(cmhd_connection *c, cmhd_request *request, const char *data, size_t size) {
    if (!count(c, size)) return refuse(c);
    cmhd_callbacks *callbacks = &c->worker->server->callbacks;
    cmhd_prepare(c, request);
    request->body = (const uint8_t *)data;
    request->body_length = size;
    request->continues = true;
    c->writes_directly = true;
    void *exchange = callbacks->request(callbacks->context, request);
    c->writes_directly = false;
    if (exchange == NULL) {
        // The response has been written.
        cmhd_linger(c);
        c->step = STEP_ANSWERED;
        cmhd_close_writing(c);
        return MHD_NO;
    }
    c->exchange = exchange;
    c->step = STEP_PIECES;
    c->unreturned = size;
    cmhd_wait(c);
    return MHD_YES;
}

enum MHD_Result cmhd_on_pieces(cmhd_connection *c, const char *data, size_t *size) {
    cmhd_callbacks *callbacks = &c->worker->server->callbacks;
    size_t former = c->unreturned;
    if (former > 0) {
        c->unreturned = 0;
        if (former > *size || !callbacks->wants_piece(callbacks->context, c->exchange)) return answer_early(c);
        cmhd_enter(c, PHASE_BODY);
        *size -= former;
        if (*size == 0) return MHD_YES;
        data += former;
    }
    if (*size > 0 && !count(c, *size)) return refuse(c);
    if (*size > 0 && !is_fast_enough(c, *size)) return MHD_NO;
    callbacks->piece(callbacks->context, c->exchange, (const uint8_t *)data, *size);
    // At the end of the body the response is queued like any other.
    if (*size == 0) c->step = STEP_WAITING;
    c->unreturned = *size;
    cmhd_wait(c);
    return MHD_YES;
}

ssize_t cmhd_on_room(void *context, uint64_t position, char *buffer, size_t room) {
    (void)position;
    cmhd_connection *c = context;
    c->worker->moved = true;
    cmhd_callbacks *callbacks = &c->worker->server->callbacks;
    if (c->stream == NULL || c->phase == PHASE_ENDED) return MHD_CONTENT_READER_END_WITH_ERROR;
    ptrdiff_t got = callbacks->produce(callbacks->context, c->stream, buffer, room);
    if (got > 0) {
        // The client has taken the previous piece, and its time for this one begins.
        cmhd_enter(c, PHASE_WRITE);
        return got;
    }
    if (got == CMHD_PRODUCE_END) return MHD_CONTENT_READER_END_OF_STREAM;
    // The client sees that the end is missing.
    if (got != CMHD_PRODUCE_LATER) return MHD_CONTENT_READER_END_WITH_ERROR;
    cmhd_enter(c, c->is_patient ? PHASE_PATIENT : PHASE_HANDLER);
    MHD_suspend_connection(c->mhd);
    if (callbacks->stream_suspended(callbacks->context, c->stream)) cmhd_resume(c);
    return 0;
}

void cmhd_forget_pieces(cmhd_connection *c) {
    c->takes_pieces = false;
    c->unreturned = 0;
    c->streamed = 0;
    c->progress = 0;
    c->waited = 0;
    if (c->stream == NULL) return;
    cmhd_callbacks *callbacks = &c->worker->server->callbacks;
    void *stream = c->stream;
    c->stream = NULL;
    callbacks->stream_released(callbacks->context, stream);
}
