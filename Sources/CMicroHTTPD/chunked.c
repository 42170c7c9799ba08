// Finds where a request is among the bytes of its connection, so that a chunked body can be read as it is on the wire.
//
// Bytes that arrived with a head are in the library's memory already. Their number follows from where the last read
// ended. If an earlier request's read brought them, it follows from how many bytes have been read in all and where that
// request ended.
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/// The most bytes of blank lines before a request line.
enum { blank_bytes = 256 };

static const uint64_t unknown = UINT64_MAX;

uint64_t cmhd_unread(const cmhd_connection *c) {
    return c->request_end == unknown || c->request_end == 0 || c->request_end > c->received
               ? UINT64_MAX : c->received - c->request_end;
}

void cmhd_note_connection(cmhd_connection *c) {
    worker *w = c->worker;
    if (c->fd < 0) return;
    if ((size_t)c->fd >= w->by_descriptor_count) {
        size_t count = w->by_descriptor_count == 0 ? 64 : w->by_descriptor_count;
        while (count <= (size_t)c->fd) count *= 2;
        cmhd_connection **table = realloc(w->by_descriptor, count * sizeof *table);
        // Without the table the connection's bytes are not watched.
        if (table == NULL) return;
        for (size_t i = w->by_descriptor_count; i < count; i++) table[i] = NULL;
        w->by_descriptor = table;
        w->by_descriptor_count = count;
    }
    w->by_descriptor[c->fd] = c;
}

void cmhd_forget_connection(const cmhd_connection *c) {
    worker *w = c->worker;
    if (c->fd >= 0 && (size_t)c->fd < w->by_descriptor_count) w->by_descriptor[c->fd] = NULL;
}

/// Reads on in the chunks; `position` is where the bytes begin.
static cmhd_refusal watch(cmhd_connection *c, char *bytes, size_t length, uint64_t position) {
    size_t done = 0;
    cmhd_refusal refusal = cmhd_read_chunks(&c->chunks, bytes, length, (size_t)c->body_limit, &done);
    if (c->chunks.step == CHUNKS_END) c->request_end = position + done;
    if (refusal != CMHD_REFUSAL_NONE || c->chunks.step == CHUNKS_END) c->chunks.step = CHUNKS_UNWATCHED;
    return refusal;
}

cmhd_refusal cmhd_note_read(cmhd_connection *c, char *bytes, size_t length) {
    c->read_start = bytes;
    c->read_end = bytes + length;
    c->received += length;
    uint64_t position = c->received - length;
    bool is_watched = c->chunks.step != CHUNKS_UNWATCHED;
    cmhd_refusal refusal = is_watched ? watch(c, bytes, length, position) : CMHD_REFUSAL_NONE;
    cmhd_look_for_stray(c, bytes, length, position);
    c->last_byte = bytes[length - 1];
    return refusal;
}

/// Before 1.0 the library writes zeros over the line ends that it reads.
static bool are_blank_lines(const char *start, const char *end) {
    if (end < start || end - start > blank_bytes) return false;
    while (start < end && (*start == '\0' || *start == '\r' || *start == '\n')) start++;
    return start == end;
}

/// The number of the connection's bytes up to the end of this head; `unknown` when it cannot be found out.
static uint64_t head_position(cmhd_connection *c, const char *head) {
    const char *head_end = head + c->head_length;
    if (c->read_end != NULL && head_end > c->read_start && head_end <= c->read_end) {
        uint64_t end = c->received - (uint64_t)(c->read_end - head_end), start = end - c->head_length;
        // The library moves the rest after a request to where it read the first request.
        c->buffer = start < c->request_end ? NULL : head - (start - c->request_end);
        return end;
    }
    if (c->buffer == NULL || c->request_end == unknown || !are_blank_lines(c->buffer, head)) return unknown;
    uint64_t end = c->request_end + (uint64_t)(head_end - c->buffer);
    return end > c->received ? unknown : end;
}

/// Where the bytes after the head are. From 1.0 on the library moves them over the end of the last field's line when
/// its memory is nearly used up (`get_req_headers`). There it finds the body's first byte, a digit, or refuses the
/// body.
static char *behind_head(cmhd_connection *c, char *head) {
    if (c->worker->field_count == 0) return head + c->head_length;
    const cmhd_field *last = &c->worker->fields[c->worker->field_count - 1];
    char *line_end = head + last->value + last->value_length + 1;
    bool is_moved = !cmhd_is_before_1_0() && strchr("\r\n \t", *line_end) == NULL;
    return is_moved ? line_end : head + c->head_length;
}

cmhd_refusal cmhd_place_request(cmhd_connection *c, char *head) {
    uint64_t end = head_position(c, head);
    if (c->stray_end != 0 && c->stray_end <= end) return CMHD_REFUSAL_LAYOUT;
    c->stray_end = 0;
    c->request_end = end == unknown || c->is_chunked ? unknown : end + c->content_length;
    // When nobody checked these bytes, a proxy may see another end of the request: what follows must not be taken for
    // one.
    c->closes = end == unknown && (c->is_chunked || c->worker->server->checks_layout);
    if (end == unknown) return CMHD_REFUSAL_NONE;
    char *rest = behind_head(c, head);
    size_t length = (size_t)(c->received - end);
    cmhd_refusal refusal = CMHD_REFUSAL_NONE;
    if (c->is_chunked) {
        c->chunks = (cmhd_chunks){.step = CHUNKS_SIZE};
        refusal = watch(c, rest, length, end);
    }
    cmhd_look_for_stray(c, rest, length, end);
    return refusal;
}
