// Responses at a moment when the library takes none: inside of a body, or where it is about to send a page of its own,
// in HTML. Such a response is written to the socket directly, and the connection ends.
//
// The library has written all that it had before it reads the next request, so nothing of its own is cut. The response
// is small enough for the kernel to take it whole, unless the client reads nothing at all.
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

#include "internal.h"

static const char *method_of(const cmhd_connection *c) { return c->target - c->method_length - 1; }

bool cmhd_is_head_request(const cmhd_connection *c) {
    return c->target != NULL && c->method_length == 4 && memcmp(method_of(c), "HEAD", 4) == 0;
}

/// RFC 9110, sections 9.3.2, 15.3.5 and 15.4.5.
static bool has_body(const cmhd_connection *c, unsigned status) {
    return !cmhd_is_head_request(c) && status != MHD_HTTP_NO_CONTENT && status != MHD_HTTP_NOT_MODIFIED;
}

bool cmhd_write_answer(cmhd_connection *c, const cmhd_answer *answer) {
    char head[256];
    int length = snprintf(head, sizeof head, "HTTP/1.1 %u %s\r\n%sConnection: close\r\nContent-Length: %zu\r\n",
                          answer->status, MHD_get_reason_phrase_for(answer->status), cmhd_date_line(c->worker),
                          answer->body_length);
    if (answer->has_entity_tag)
        length +=
            snprintf(head + length, sizeof head - (size_t)length, "ETag: \"%" PRIu64 "\"\r\n", answer->entity_tag);
    if (length < 0 || (size_t)length >= sizeof head) return false;
    struct iovec parts[] = {
        {head, (size_t)length},
        {(void *)answer->first_fields, answer->first_fields_length},
        {(void *)answer->fields, answer->fields_length},
        {(void *)answer->last_fields, answer->last_fields_length},
        {(void *)answer->last_value, answer->last_value_length},
        {"\r\n\r\n", answer->last_fields_length > 0 ? 4 : 2},
        {(void *)answer->body, has_body(c, answer->status) ? answer->body_length : 0},
    };
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = sizeof parts / sizeof *parts};
    size_t total = 0;
    for (size_t i = 0; i < message.msg_iovlen; i++) total += parts[i].iov_len;
    if (c->session != NULL) return cmhd_tls_write(c, parts, message.msg_iovlen, total);
    return sendmsg(c->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)total;
}

void cmhd_refuse_now(cmhd_connection *c, cmhd_refusal refusal) {
    cmhd_request request = {0};
    // A request that was refused before its head was complete has nothing to show.
    if (c->step == STEP_BODY)
        cmhd_describe(c, method_of(c), c->target + c->target_length + 1, &request);
    c->refusal = refusal;
    cmhd_write_refusal(c, &request);
}

/// Shows of a refused head which page sent it, so that the page may read why (CORS). Browsers send `Origin` before
/// cookies, so the library has seen it also when the head does not fit into its memory.
static void show_origin(cmhd_connection *c, cmhd_request *request) {
    enum { name_length = sizeof MHD_HTTP_HEADER_ORIGIN - 1, longest = 256 };
    static _Thread_local char field[name_length + longest] = MHD_HTTP_HEADER_ORIGIN;
    worker *w = c->worker;
    const char *origin =
        c->target == NULL ? NULL : MHD_lookup_connection_value(c->mhd, MHD_HEADER_KIND, MHD_HTTP_HEADER_ORIGIN);
    const size_t length = origin == NULL ? 0 : strnlen(origin, longest + 1);
    if (length == 0 || length > longest || !cmhd_is_field_value((const uint8_t *)origin, length)) return;
    memcpy(field + name_length, origin, length);
    w->fields_owner = NULL;
    w->fields[0] = (cmhd_field){.name_length = name_length, .value = name_length, .value_length = (uint32_t)length};
    memset(w->places, 0, sizeof w->places);
    w->places[CMHD_FIELD_ORIGIN].count = 1;
    request->head = (const uint8_t *)field;
    request->head_length = name_length + (uint32_t)length;
    request->fields = w->fields;
    request->field_count = 1;
    request->places = w->places;
    request->present = (uint32_t)1 << CMHD_FIELD_ORIGIN;
}

void cmhd_write_refusal(cmhd_connection *c, cmhd_request *request) {
    if (request->head == NULL) show_origin(c, request);
    cmhd_callbacks *callbacks = &c->worker->server->callbacks;
    cmhd_prepare(c, request);
    cmhd_linger(c);
    c->writes_directly = true;
    void *exchange = callbacks->request(callbacks->context, request);
    c->writes_directly = false;
    // A refusal does not wait. If it does, no response can follow.
    if (exchange != NULL) callbacks->released(callbacks->context, exchange);
    c->step = STEP_ANSWERED;
    // Whatever the library still sends is discarded.
    cmhd_close_writing(c);
}
