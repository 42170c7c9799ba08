// Bodies that are not whole: a request's that is handed over piece by piece, an answer's that is asked for so.
//
// In both directions at most one piece is under way, and the connection is suspended while the caller is busy with it.
// Then the library neither reads nor writes, the kernel's buffers fill up, and the other end is held back by TCP. What
// lies in memory is one piece, which is no larger than the connection's own memory.
//
// A piece of a request stays in the library's buffer, as if it had not been looked at, until the caller wants the next
// one. So the library calls again as soon as the connection is resumed, also when nothing more has come, and what the
// caller has to say is heard on the worker's thread: that it wants more, or has an answer already.
#include "internal.h"

/// A client has `body_timeout` for so many bytes, so that a byte now and then does not hold a connection for ever.
enum { progress_bytes = 4096 };

/// The answer is there, and the body is not. The library takes no answer now: it is written to the socket, and the
/// connection ends, since where the next request would begin is not known.
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

/// False when there are more than there may be: chunks that nobody watched.
static bool count(cmhd_connection *c, size_t size) {
    c->streamed += size;
    return c->streamed <= c->body_limit;
}

/// False when the client is too slow.
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
        // It was answered.
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
    // At the end of the body an answer is given like any other.
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
        // The client has taken what came before, and has its time for this.
        cmhd_enter(c, PHASE_WRITE);
        return got;
    }
    if (got == CMHD_PRODUCE_END) return MHD_CONTENT_READER_END_OF_STREAM;
    // The client sees that the end is missing.
    if (got != CMHD_PRODUCE_LATER) return MHD_CONTENT_READER_END_WITH_ERROR;
    cmhd_enter(c, PHASE_HANDLER);
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
