// One response: its fields and body go to the library in one block of memory.
//
// `MHD_add_response_header` makes three allocations and scans each field several times. In the end the library only
// copies the field's name, a colon, a blank, its value and a line end into the response's head. So this file passes the
// text of all fields as one field: its name is the first name, and its value is everything behind, further lines
// included. This one node lies in our block. It is linked into the response's list and taken out again before the
// library frees the list.
//
// This depends on the internals of the library. `cmhd_can_link_fields` checks them when a server starts. If they
// differ, fields are added one by one, with the same bytes on the wire.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "internal.h"

// The Date field (RFC 9110, 6.6.1). The library would compute it for every response; a worker computes it once a
// second.

/// RFC 9110, 5.6.7, in any locale.
static void write_line(char *line, time_t now) {
    static const char days[][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    struct tm at;
    gmtime_r(&now, &at);
    // Each is cut to its digits, because the compiler does not know the calendar.
    snprintf(line, CMHD_DATE_LINE + 1, "Date: %s, %02u %s %04u %02u:%02u:%02u GMT\r\n", days[at.tm_wday],
             (unsigned)at.tm_mday % 100, months[at.tm_mon], (unsigned)(at.tm_year + 1900) % 10000,
             (unsigned)at.tm_hour % 100, (unsigned)at.tm_min % 100, (unsigned)at.tm_sec % 100);
}

const char *cmhd_date_line(worker *w) {
    if (w->now == w->date_looked_at && w->date_line[0] != '\0') return w->date_line;
    w->date_looked_at = w->now;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    if (now.tv_sec != w->date_second || w->date_line[0] == '\0') {
        write_line(w->date_line, now.tv_sec);
        w->date_second = now.tv_sec;
    }
    return w->date_line;
}

/// Everything that a response needs, in one allocation. `release` frees it.
typedef struct {
    cmhd_field_node fields;
    cmhd_response_start *response;
    void *body_owner;
    void (*release_body)(void *);
    char bytes[];  ///< the text of the fields, then the body if it has no owner
} answer_block;

static void unlink_fields(answer_block *block) {
    cmhd_field_node *fields = &block->fields;
    if (fields->previous != NULL) fields->previous->next = fields->next;
    else block->response->first = fields->next;
    if (fields->next != NULL) fields->next->previous = fields->previous;
    else block->response->last = fields->previous;
}

/// Called when the last reference to the response is gone, before the library frees the response's fields.
static void release(void *context) {
    answer_block *block = context;
    if (block->response != NULL) unlink_fields(block);
    if (block->body_owner != NULL) block->release_body(block->body_owner);
    free(block);
}

/// Makes the text of the fields the first and only field of a new response.
static bool link_fields(answer_block *block, struct MHD_Response *response, size_t length) {
    char *colon = memchr(block->bytes, ':', length);
    if (colon == NULL || block->bytes + length - colon < 4) return false;
    block->response = (cmhd_response_start *)response;
    block->fields = (cmhd_field_node){
        .name = block->bytes,
        .name_length = (size_t)(colon - block->bytes),
        .value = colon + 2,
        .value_length = (size_t)(block->bytes + length - colon) - 4,  // the library writes ": " and the last CR LF
        .kind = MHD_HEADER_KIND,
    };
    block->response->first = block->response->last = &block->fields;
    return true;
}

static bool add_one_by_one(struct MHD_Response *response, char *text, size_t length) {
    const char *end = text + length;
    while (text < end) {
        char *colon = memchr(text, ':', (size_t)(end - text));
        char *line_end = colon == NULL ? NULL : memchr(colon, '\r', (size_t)(end - colon));
        if (line_end == NULL) return false;
        *colon = *line_end = '\0';
        if (MHD_add_response_header(response, text, colon + 2) != MHD_YES) return false;
        text = line_end + 2;
    }
    return true;
}

static char *append_bytes(char *end, const void *bytes, size_t length) {
    if (length > 0) memcpy(end, bytes, length);
    return end + length;
}

/// The most bytes of an entity tag: its name, the quotes, twenty digits, the line end.
enum { entity_tag_room = 32 };

static char *append_entity_tag(char *end, uint64_t tag) {
    char digits[20];
    char *first = digits + sizeof digits;
    do *--first = (char)('0' + tag % 10);
    while ((tag /= 10) > 0);
    end = append_bytes(end, "ETag: \"", 7);
    end = append_bytes(end, first, (size_t)(digits + sizeof digits - first));
    return append_bytes(end, "\"\r\n", 3);
}

/// Writes the fields; returns their end.
static char *write_fields(char *end, const cmhd_answer *answer, const char *date) {
    end = append_bytes(end, date, CMHD_DATE_LINE);
    end = append_bytes(end, answer->first_fields, answer->first_fields_length);
    end = append_bytes(end, answer->fields, answer->fields_length);
    if (answer->has_entity_tag) end = append_entity_tag(end, answer->entity_tag);
    if (answer->last_fields_length == 0) return end;
    end = append_bytes(end, answer->last_fields, answer->last_fields_length);
    end = append_bytes(end, answer->last_value, answer->last_value_length);
    return append_bytes(end, "\r\n", 2);
}

/// The most bytes of the fields.
static size_t room_for_fields(const cmhd_answer *answer) {
    return CMHD_DATE_LINE + answer->first_fields_length + answer->fields_length + entity_tag_room +
           answer->last_fields_length + answer->last_value_length + 2;
}

/// The library's response for an answer; NULL when memory is short or the fields are malformed.
static struct MHD_Response *build_answer(const cmhd_answer *answer, const char *date, bool links_fields) {
    const bool is_owned = answer->body_owner != NULL;
    answer_block *block = malloc(sizeof *block + room_for_fields(answer) + (is_owned ? 0 : answer->body_length));
    if (block == NULL) {
        if (is_owned) answer->release_body(answer->body_owner);
        return NULL;
    }
    block->response = NULL;
    block->body_owner = answer->body_owner;
    block->release_body = answer->release_body;
    char *end = write_fields(block->bytes, answer, date);
    size_t fields_length = (size_t)(end - block->bytes);
    if (!is_owned) append_bytes(end, answer->body, answer->body_length);
    struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback_cls(
        answer->body_length, is_owned ? (void *)answer->body : end, release, block);
    if (response == NULL) {
        release(block);
        return NULL;
    }
    bool complete = links_fields ? link_fields(block, response, fields_length)
                                 : add_one_by_one(response, block->bytes, fields_length);
    if (complete) return response;
    MHD_destroy_response(response);
    return NULL;
}

/// Gives the library the next bytes of a body that is produced piece by piece. There is at most one piece, and the
/// connection is suspended while the caller works on the next. Then the library does not write, the kernel's buffer
/// empties, and the caller is no faster than the client. A piece is no larger than the connection's memory.
static ssize_t produce(void *context, uint64_t position, char *buffer, size_t room) {
    (void)position;
    cmhd_connection *c = context;
    c->worker->moved = true;
    cmhd_callbacks *callbacks = &c->worker->server->callbacks;
    if (c->waiting == NULL || c->phase == PHASE_ENDED) return MHD_CONTENT_READER_END_WITH_ERROR;
    ptrdiff_t got = callbacks->produce(callbacks->context, c->waiting, buffer, room);
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
    if (callbacks->suspended(callbacks->context, c->waiting)) cmhd_resume(c);
    return 0;
}

/// The response for a body that the connection's stream produces.
static struct MHD_Response *build_streamed(const cmhd_answer *answer, const char *date, cmhd_connection *c) {
    // For clients of HTTP/1.0, which does not have chunks. Other clients get what fits the connection's memory. The
    // library allocates it for all, and there may be thousands of patient ones.
    enum { unchunked_bytes = 16384, patient_bytes = 512 };
    const size_t unchunked = c->is_patient ? patient_bytes : unchunked_bytes;
    char *text = malloc(room_for_fields(answer));
    if (text == NULL) return NULL;
    char *end = write_fields(text, answer, date);
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, unchunked, produce, c, NULL);
    // To a HEAD the library, before 1.0, would send the last chunk. Without chunks it sends the head alone, and closes.
    if (response != NULL && cmhd_is_head_request(c))
        MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
    // Such responses are rare, so adding their fields one by one costs little.
    if (response != NULL && !add_one_by_one(response, text, (size_t)(end - text))) {
        MHD_destroy_response(response);
        response = NULL;
    }
    free(text);
    return response;
}

static bool write_and_release(cmhd_connection *c, const cmhd_answer *answer) {
    bool is_written = cmhd_write_answer(c, answer);
    if (answer->body_owner != NULL) answer->release_body(answer->body_owner);
    return is_written;
}

bool cmhd_respond(cmhd_connection *c, const cmhd_answer *answer) {
    worker *w = c->worker;
    // The handler may have taken long.
    cmhd_note_time(w, answer->made_at);
    // The kernel takes so much at once. Larger responses are those of handlers that did not want the body of a request:
    // the library sends them and closes the connection, without asking for the body.
    enum { direct_bytes = 16384 };
    const bool is_asking = c->step == STEP_ASKING;
    if (c->writes_directly && !(is_asking && (answer->stream != NULL || answer->body_length > direct_bytes)))
        return write_and_release(c, answer);
    const char *date = cmhd_date_line(w);
    // The connection may be out of step; a draining server wants it back.
    const bool closes = is_asking || c->closes || cmhd_is_draining(w);
    struct MHD_Response *response = answer->stream != NULL
                                        ? build_streamed(answer, date, c)
                                        : build_answer(answer, date, w->server->links_fields);
    if (response == NULL) return false;
    if (closes) MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    bool queued = cmhd_queue(c->mhd, answer->status, response) == MHD_YES;
    MHD_destroy_response(response);
    if (queued) {
        // Without a limit the kernel would keep megabytes for a client that does not read. It doubles the number:
        // socket(7), SO_SNDBUF.
        enum { patient_buffer = 16 << 10 };
        int buffer = patient_buffer;
        if (answer->stream != NULL && c->is_patient) setsockopt(c->fd, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
        c->waiting = answer->stream;
        c->step = STEP_ANSWERED;
        cmhd_enter(c, PHASE_WRITE);
    }
    return queued;
}
