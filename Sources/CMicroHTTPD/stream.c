// A response's body that is produced piece by piece. There is at most one piece, and the connection is suspended while
// the caller works on the next. Then the library does not write, the kernel's buffer empties, and the caller is no
// faster than the client. A piece is no larger than the connection's memory.
#include "internal.h"

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

void cmhd_forget_stream(cmhd_connection *c) {
    if (c->stream == NULL) return;
    cmhd_callbacks *callbacks = &c->worker->server->callbacks;
    void *stream = c->stream;
    c->stream = NULL;
    callbacks->stream_released(callbacks->context, stream);
}
