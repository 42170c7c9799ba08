// One answer: its fields and body go to the library in one block of memory.
//
// `MHD_add_response_header` takes three allocations and half a dozen scans for each field. But all that the
// library does with a field in the end is to copy its name, a colon, a blank, its value and a line end into the
// answer's head. So the whole text of the fields is given to it as one field: the name is the first name, the
// value is everything behind, further lines included. This one node lies in our block; it is linked into the
// response's list and taken out again before the library frees the list.
//
// A response that has gone out is kept for the connection's next answer, which often has the same length: making one,
// with its lock, and freeing it costs more than writing into it.
//
// This rests on the insides of the library: `cmhd_can_link_fields` shows when a server starts that they are so.
// Where they are not, the fields are added one by one, and nothing looks different from outside.
#include <stdlib.h>
#include <string.h>

#include "answer.h"

/// Everything that an answer needs, in one allocation. Freed by `release`.
typedef struct cmhd_answer_block {
    cmhd_field_node fields;
    cmhd_response_start *response;
    size_t room;   ///< of `bytes`
    char bytes[];  ///< the body, then the text of the fields
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
    free(block);
}

/// Makes the text of the fields, in the block, the first and only field of its response.
static bool link_fields(answer_block *block, struct MHD_Response *response, char *text, size_t length) {
    char *colon = memchr(text, ':', length);
    if (colon == NULL || text + length - colon < 4) return false;
    block->response = (cmhd_response_start *)response;
    block->fields = (cmhd_field_node){
        .name = text,
        .name_length = (size_t)(colon - text),
        .value = colon + 2,
        .value_length = (size_t)(text + length - colon) - 4,  // the library writes ": " and the last CR LF
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

/// What an entity tag takes at most: its name, the quotes, twenty digits, the end of the line.
enum { entity_tag_room = 32 };
/// The longest body whose response a connection keeps.
enum { kept_body = 2048 };

static char *append_entity_tag(char *end, uint64_t tag) {
    char digits[20];
    char *first = digits + sizeof digits;
    do *--first = (char)('0' + tag % 10);
    while ((tag /= 10) > 0);
    end = append_bytes(end, "ETag: \"", 7);
    end = append_bytes(end, first, (size_t)(digits + sizeof digits - first));
    return append_bytes(end, "\"\r\n", 3);
}

/// Puts the fields together; returns where they end.
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

/// Bytes that its text takes at most.
static size_t room_for(const cmhd_answer *answer) {
    return answer->body_length + CMHD_DATE_LINE + answer->first_fields_length + answer->fields_length + entity_tag_room +
           answer->last_fields_length + answer->last_value_length + 2;
}

/// A response with a body at the start of a new block; NULL when memory is short.
static struct MHD_Response *new_response(size_t body_length, size_t room, answer_block **made) {
    answer_block *block = *made = malloc(sizeof *block + room);
    if (block == NULL) return NULL;
    block->response = NULL;
    block->room = room;
    struct MHD_Response *response =
        MHD_create_response_from_buffer_with_free_callback_cls(body_length, block->bytes, release, block);
    if (response == NULL) free(block);
    return response;
}

/// Writes body and fields into a block and has its response show them. The body comes first: where the fields end is
/// known when they are written.
static bool write_answer(answer_block *block, struct MHD_Response *response, const cmhd_answer *answer,
                         const char *date, bool links_fields) {
    char *fields = append_bytes(block->bytes, answer->body, answer->body_length);
    size_t length = (size_t)(write_fields(fields, answer, date) - fields);
    return links_fields ? link_fields(block, response, fields, length) : add_one_by_one(response, fields, length);
}

struct MHD_Response *cmhd_build_answer(const cmhd_answer *answer, const char *date, bool links_fields) {
    answer_block *block;
    struct MHD_Response *response = new_response(answer->body_length, room_for(answer), &block);
    if (response == NULL || write_answer(block, response, answer, date, links_fields)) return response;
    MHD_destroy_response(response);
    return NULL;
}

struct MHD_Response *cmhd_build_streamed(const cmhd_answer *answer, const char *date, cmhd_connection *c) {
    // For clients of HTTP/1.0, which know no chunks; others get what there is room for in the connection's memory.
    enum { unchunked_bytes = 16384 };
    char *text = malloc(room_for(answer));
    if (text == NULL) return NULL;
    char *end = write_fields(text, answer, date);
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, unchunked_bytes, cmhd_on_room, c, NULL);
    // Such answers are few: what adding fields one by one costs does not matter, and nothing has to be kept for them.
    if (response != NULL && !add_one_by_one(response, text, (size_t)(end - text))) {
        MHD_destroy_response(response);
        response = NULL;
    }
    free(text);
    return response;
}

/// The next answer of a connection, in the response of its last one when that has the same length, as it has for who
/// asks again and again whether something has changed. The library has sent that one, and let go of it, before it looks
/// at the connection's next request.
static struct MHD_Response *rewrite_answer(cmhd_connection *c, const cmhd_answer *answer, const char *date) {
    size_t room = room_for(answer);
    if (c->kept_answer == NULL || c->kept_block->room < room || c->kept_length != answer->body_length) {
        cmhd_forget_answer(c);
        // A little more than this one needs: the next request's id may be longer.
        c->kept_answer = new_response(answer->body_length, room + 64, &c->kept_block);
        c->kept_length = answer->body_length;
    }
    if (c->kept_answer == NULL || !write_answer(c->kept_block, c->kept_answer, answer, date, true)) return NULL;
    return c->kept_answer;
}

void cmhd_forget_answer(cmhd_connection *c) {
    if (c->kept_answer != NULL) MHD_destroy_response(c->kept_answer);
    c->kept_answer = NULL;
}

bool cmhd_respond(cmhd_connection *c, const cmhd_answer *answer) {
    worker *w = c->worker;
    // An answer that is written at once has to be there as a whole.
    if (c->writes_directly) return answer->stream == NULL && cmhd_write_answer(c, answer);
    // Whoever made the answer may have taken long over it.
    w->now = cmhd_now();
    const char *date = cmhd_date_line(w);
    // A refused request may have left the connection out of step; a draining server wants it back.
    bool closes = c->refusal != CMHD_REFUSAL_NONE || c->closes || cmhd_is_draining(w);
    bool keeps = answer->stream == NULL && answer->body_length <= kept_body && w->server->links_fields && !closes;
    struct MHD_Response *response = keeps                    ? rewrite_answer(c, answer, date)
                                    : answer->stream != NULL ? cmhd_build_streamed(answer, date, c)
                                                             : cmhd_build_answer(answer, date, w->server->links_fields);
    if (response == NULL) return false;
    if (closes) MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    bool queued = cmhd_queue(c->mhd, answer->status, response) == MHD_YES;
    if (!keeps) MHD_destroy_response(response);
    if (queued) {
        c->stream = answer->stream;
        c->step = STEP_ANSWERED;
        cmhd_enter(c, PHASE_WRITE);
    }
    return queued;
}
