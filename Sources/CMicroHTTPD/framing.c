// The framing rules of RFC 9112 that libmicrohttpd does not check, over the bytes as they were on the wire. Rules that
// only its versions before 1.0 do not check are in before_1_0.c.
#include <string.h>
#include <strings.h>

#include "internal.h"
#include "vector.h"

// RFC 3986, appendix A: every character of a URI, and the percent sign.
static const bool uri_character[256] = {
    ['!'] = 1, ['$'] = 1, ['%'] = 1, ['&'] = 1, ['\''] = 1, ['('] = 1, [')'] = 1, ['*'] = 1, ['+'] = 1,
    [','] = 1, ['-'] = 1, ['.'] = 1, ['/'] = 1, [':'] = 1, [';'] = 1, ['='] = 1, ['?'] = 1, ['@'] = 1,
    ['['] = 1, [']'] = 1, ['_'] = 1, ['~'] = 1,
    ['0' ... '9'] = 1, ['A' ... 'Z'] = 1, ['a' ... 'z'] = 1,
};

// RFC 3986, 3.2.2: reg-name.
static const bool host_character[256] = {
    ['!'] = 1, ['$'] = 1, ['%'] = 1, ['&'] = 1, ['\''] = 1, ['('] = 1, [')'] = 1, ['*'] = 1, ['+'] = 1,
    [','] = 1, ['-'] = 1, ['.'] = 1, [';'] = 1, ['='] = 1, ['_'] = 1, ['~'] = 1,
    ['0' ... '9'] = 1, ['A' ... 'Z'] = 1, ['a' ... 'z'] = 1,
};

/// Sets all bits of each byte that is a letter, a digit, or one of `-./`. Most targets have no others.
static bytes16 plain_characters(const char *text) {
    bytes16 bytes = sixteen_bytes(text);
    bytes16 lowered = bytes | 0x20;
    return (bytes16)(((lowered >= 'a') & (lowered <= 'z')) | ((bytes >= '-') & (bytes <= '9')));
}

/// Whether the text has only those. It compares sixteen bytes at a time; the last ones may overlap the ones before.
/// This is five times as fast as a table.
static bool is_plain(const char *text, size_t length) {
    if (length < 16) return false;
    bytes16 plain = plain_characters(text + length - 16);
    for (size_t i = 0; i + 16 < length; i += 16) plain &= plain_characters(text + i);
    return has_all_bits(plain);
}

/// Whether the text has only characters of that class.
static bool is_all(const bool class[256], const char *text, size_t length) {
    bool all = true;
    for (size_t i = 0; i < length; i++) all &= class[(unsigned char)text[i]];
    return all;
}

static bool is_token(const char *text, size_t length) { return length > 0 && is_all(cmhd_token, text, length); }

/// RFC 9110, 7.2: uri-host [":" port]. An IP literal in brackets, or a name of unreserved and sub-delims.
static bool is_host(const char *text, size_t length) {
    size_t i = 0;
    if (length > 0 && text[0] == '[') {
        while (i < length && text[i] != ']') i++;
        if (i == length || i == 1) return false;
        for (size_t k = 1; k < i; k++) {
            char c = text[k];
            if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == ':' || c == '.'))
                return false;
        }
        i++;
    } else {
        while (i < length && host_character[(unsigned char)text[i]]) i++;
        if (i == 0 && length > 0) return false;
    }
    if (i == length) return true;
    if (text[i] != ':') return false;
    if (length - i - 1 > 5) return false;
    for (i++; i < length; i++)
        if (text[i] < '0' || text[i] > '9') return false;
    return true;
}

static uint32_t count_bytes(const char *text, size_t length, char byte) {
    uint32_t count = 0;
    for (size_t i = 0; i < length; i++) count += text[i] == byte;
    return count;
}

typedef struct {
    worker *worker;
    const char *head;
    const char *expected;  ///< where the next name must start
    cmhd_refusal refusal;
} walk;

static enum MHD_Result note_field(void *context, enum MHD_ValueKind kind, const char *name, size_t name_length,
                                  const char *value, size_t value_length) {
    (void)kind;
    walk *walk = context;
    worker *w = walk->worker;
    if (value == cmhd_no_cookies) return MHD_YES;
    if (w->server->checks_layout && !cmhd_is_field_in_place(walk->expected, name, name_length, value)) {
        walk->refusal = CMHD_REFUSAL_LAYOUT;
        return MHD_NO;
    }
    if (w->field_count == w->server->options.fields) {
        walk->refusal = CMHD_REFUSAL_TOO_MANY_FIELDS;
        return MHD_NO;
    }
    walk->expected = value + value_length + 2;
    while (value_length > 0 && (value[value_length - 1] == ' ' || value[value_length - 1] == '\t')) value_length--;
    w->fields[w->field_count++] = (cmhd_field){
        .name = (uint32_t)(name - walk->head),
        .name_length = (uint32_t)name_length,
        .value = (uint32_t)(value - walk->head),
        .value_length = (uint32_t)value_length,
    };
    return MHD_YES;
}

static bool has_scheme(const char *target, size_t length, const char *scheme, size_t scheme_length) {
    return length > scheme_length && strncasecmp(target, scheme, scheme_length) == 0;
}

/// RFC 9112, 3.2: origin-form, absolute-form, or `*`. `CONNECT` alone has the authority-form, and is refused.
static cmhd_refusal check_target(const cmhd_connection *c, const char *method) {
    const char *target = c->target;
    size_t length = c->target_length;
    if (length == 0 || !(is_plain(target, length) || is_all(uri_character, target, length))) return CMHD_REFUSAL_TARGET;
    if (target[0] != '/') {
        bool connect = c->method_length == 7 && memcmp(method, "CONNECT", 7) == 0;
        bool options = c->method_length == 7 && memcmp(method, "OPTIONS", 7) == 0;
        if (!connect && !(options && length == 1 && target[0] == '*')) {
            size_t start = has_scheme(target, length, "http://", 7)    ? 7
                           : has_scheme(target, length, "https://", 8) ? 8
                                                                       : 0;
            if (start == 0) return CMHD_REFUSAL_TARGET;
            size_t end = start;
            while (end < length && target[end] != '/' && target[end] != '?') end++;
            if (end == start || !is_host(target + start, end - start)) return CMHD_REFUSAL_TARGET;
        }
    }
    if (c->query != NULL) {
        size_t left = length - (size_t)(c->query - target);
        if (left > 0 && count_bytes(c->query, left, '&') + 1 > c->worker->server->options.arguments)
            return CMHD_REFUSAL_TOO_MANY_ARGUMENTS;
    }
    return CMHD_REFUSAL_NONE;
}

static void note_place(worker *w, cmhd_field_name name, uint32_t index) {
    cmhd_field_place *place = &w->places[name];
    if (place->count == 0) place->first = (uint16_t)index;
    place->count++;
    w->present |= (uint32_t)1 << name;
}

static bool equals(const char *text, size_t length, const char *expected) {
    return length == strlen(expected) && strncasecmp(text, expected, length) == 0;
}

/// One transfer coding after another, see `cmhd_check_codings`.
typedef struct {
    unsigned fields, chunked, others;
    bool last_is_chunked, is_seen;
} codings;

static void add_codings(codings *codings, const char *text, const char *end) {
    for (const char *comma; text < end; text = comma + 1) {
        comma = memchr(text, ',', (size_t)(end - text));
        if (comma == NULL) comma = end;
        const char *last = comma;
        while (text < last && (*text == ' ' || *text == '\t')) text++;
        while (text < last && (last[-1] == ' ' || last[-1] == '\t')) last--;
        // RFC 9110, 5.6.1: empty elements of a list are ignored.
        if (text == last) continue;
        codings->last_is_chunked = equals(text, (size_t)(last - text), "chunked");
        *(codings->last_is_chunked ? &codings->chunked : &codings->others) += 1;
    }
}

static enum MHD_Result note_coding(void *context, enum MHD_ValueKind kind, const char *name, size_t name_length,
                                   const char *value, size_t value_length) {
    (void)kind;
    codings *codings = context;
    if (!equals(name, name_length, MHD_HTTP_HEADER_TRANSFER_ENCODING)) return MHD_YES;
    add_codings(codings, value, value + value_length);
    // The library reads chunks only if there is one field with exactly this value and no blank after it.
    codings->is_seen = codings->fields++ == 0 && equals(value, value_length, "chunked");
    return MHD_YES;
}

/// RFC 9112, 6.1 and 6.3: `chunked` must be the last coding, applied once. This server supports no other.
cmhd_refusal cmhd_check_codings(struct MHD_Connection *mhd) {
    codings codings = {0};
    MHD_get_connection_values_n(mhd, MHD_HEADER_KIND, note_coding, &codings);
    if (!codings.last_is_chunked || codings.chunked > 1) return CMHD_REFUSAL_LAST_CODING;
    return codings.others == 0 && codings.is_seen ? CMHD_REFUSAL_NONE : CMHD_REFUSAL_TRANSFER_CODING;
}

/// As the library decides it: by the first field of that name.
static bool awaits_continue(const worker *w, const char *head) {
    if (w->places[CMHD_FIELD_EXPECT].count == 0) return false;
    const cmhd_field *field = &w->fields[w->places[CMHD_FIELD_EXPECT].first];
    return equals(head + field->value, field->value_length, "100-continue");
}

/// RFC 9112, 6: the length of the body must be unambiguous, because every proxy on the way reads it too.
static cmhd_refusal check_fields(cmhd_connection *c, const char *head, bool http_1_0) {
    worker *w = c->worker;
    memset(w->places, 0, sizeof w->places);
    w->present = 0;
    uint32_t cookies = 0;
    uint64_t length = 0;
    for (uint32_t i = 0; i < w->field_count; i++) {
        const cmhd_field *field = &w->fields[i];
        const char *name = head + field->name, *value = head + field->value;
        cmhd_field_name known = cmhd_field_name_of((const uint8_t *)name, field->name_length);
        // A well-known name is a token, so only others are checked.
        if (known == CMHD_FIELD_OTHER && !is_token(name, field->name_length)) return CMHD_REFUSAL_FIELD_NAME;
        if (!cmhd_is_field_value((const uint8_t *)value, field->value_length)) return CMHD_REFUSAL_FIELD_VALUE;
        note_place(w, known, i);
        switch (known) {
        case CMHD_FIELD_HOST:
            if (!is_host(value, field->value_length)) return CMHD_REFUSAL_HOST;
            break;
        case CMHD_FIELD_COOKIE:
            cookies += count_bytes(value, field->value_length, ';') + 1;
            break;
        case CMHD_FIELD_CONTENT_LENGTH:
            // Leading zeros in so long a number are there to be misread.
            if (field->value_length == 0 || (field->value_length > 18 && value[0] == '0')) return CMHD_REFUSAL_FRAMING;
            for (uint32_t k = 0; k < field->value_length; k++) {
                if (value[k] < '0' || value[k] > '9') return CMHD_REFUSAL_FRAMING;
                // A length that does not fit is too large, whatever its value.
                length = length > UINT64_MAX / 100 ? UINT64_MAX / 100 : length * 10 + (uint64_t)(value[k] - '0');
            }
            break;
        default:
            break;
        }
    }
    unsigned hosts = w->places[CMHD_FIELD_HOST].count, lengths = w->places[CMHD_FIELD_CONTENT_LENGTH].count,
             codings = w->places[CMHD_FIELD_TRANSFER_ENCODING].count;
    if (hosts > 1 || (hosts == 0 && !http_1_0)) return CMHD_REFUSAL_HOST;
    if (lengths > 1 || (lengths > 0 && codings > 0) || (codings > 0 && http_1_0)) return CMHD_REFUSAL_FRAMING;
    cmhd_refusal refusal = codings == 0 ? CMHD_REFUSAL_NONE : cmhd_check_codings(c->mhd);
    if (refusal != CMHD_REFUSAL_NONE) return refusal;
    if (cookies > w->server->options.cookies) return CMHD_REFUSAL_TOO_MANY_COOKIES;
    c->expects_body = length > 0 || codings > 0;
    c->is_chunked = codings > 0;
    c->awaits_continue = c->expects_body && !http_1_0 && awaits_continue(w, head);
    c->content_length = length;
    return CMHD_REFUSAL_NONE;
}

size_t cmhd_header_size(struct MHD_Connection *mhd) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info == NULL ? 0 : info->header_size;
}

/// Notes the fields in the worker's memory; NONE when they are where they were sent.
static cmhd_refusal walk_fields(cmhd_connection *c, const char *method, const char *version) {
    worker *w = c->worker;
    w->field_count = 0;
    w->fields_owner = c;
    walk walk = {.worker = w, .head = method, .expected = version + 8 + 2, .refusal = CMHD_REFUSAL_NONE};
    MHD_get_connection_values_n(c->mhd, MHD_HEADER_KIND, note_field, &walk);
    if (walk.refusal != CMHD_REFUSAL_NONE || !w->server->checks_layout) return walk.refusal;
    // After the last field come its line end and the blank line.
    return walk.expected + 2 == method + c->head_length ? CMHD_REFUSAL_NONE : CMHD_REFUSAL_LAYOUT;
}

/// Notes the fields, and where the well-known ones are.
static cmhd_refusal read_fields(cmhd_connection *c, const char *method, const char *version) {
    cmhd_refusal refusal = walk_fields(c, method, version);
    return refusal == CMHD_REFUSAL_NONE ? check_fields(c, method, version[7] == '0') : refusal;
}

/// RFC 9110, 9.3.1 and 9.3.2: content of a GET or HEAD means nothing.
static bool needs_no_body(const cmhd_connection *c, const cmhd_request *request) {
    return (c->method_length == 3 && memcmp(request->head, "GET", 3) == 0) ||
           (c->method_length == 4 && memcmp(request->head, "HEAD", 4) == 0);
}

/// The most bytes of the body. A GET may wait for a minute, and would keep a large one as long.
static cmhd_refusal limit_body(cmhd_connection *c, cmhd_request *request) {
    const cmhd_server *server = c->worker->server;
    c->body_limit = server->options.body_bytes;
    if (c->expects_body && c->body_limit > CMHD_SMALL_BODY && needs_no_body(c, request))
        c->body_limit = CMHD_SMALL_BODY;
    return c->content_length > c->body_limit ? CMHD_REFUSAL_BODY_TOO_LARGE : CMHD_REFUSAL_NONE;
}

static void fill(const cmhd_connection *c, const char *method, const char *version, cmhd_request *request) {
    request->http_1_0 = version[7] == '0';
    request->head = (const uint8_t *)method;
    request->head_length = c->head_length;
    request->method_length = c->method_length;
    request->target = (uint32_t)(c->target - method);
    request->target_length = c->target_length;
    request->fields = c->worker->fields;
    request->field_count = c->worker->field_count;
    request->places = c->worker->places;
    request->present = c->worker->present;
}

cmhd_refusal cmhd_check_head(cmhd_connection *c, const char *url, const char *method, const char *version,
                             cmhd_request *request) {
    size_t method_length = strlen(method);
    // Exactly one blank on either side of the target, and no NUL in it.
    if (c->target == NULL || !is_token(method, method_length) || url != method + method_length + 1 ||
        c->target != url || version != url + c->target_length + 1)
        return CMHD_REFUSAL_REQUEST_LINE;
    if (c->query != NULL) {
        c->query[-1] = '?';
        c->query[0] = c->hidden;
    }
    c->method_length = (uint32_t)method_length;
    const cmhd_options *options = &c->worker->server->options;
    size_t size = cmhd_header_size(c->mhd);
    if (c->target_length > options->target_bytes) return CMHD_REFUSAL_TARGET_TOO_LONG;
    if (size > options->head_bytes) return CMHD_REFUSAL_FIELDS_TOO_LARGE;
    c->head_length = (uint32_t)size;
    cmhd_refusal refusal = check_target(c, method);
    if (refusal == CMHD_REFUSAL_NONE) refusal = read_fields(c, method, version);
    if (refusal != CMHD_REFUSAL_NONE) return refusal;
    // A refusal from here on carries its head.
    fill(c, method, version, request);
    refusal = limit_body(c, request);
    return refusal == CMHD_REFUSAL_NONE ? cmhd_place_request(c, (char *)method) : refusal;
}

void cmhd_describe(cmhd_connection *c, const char *method, const char *version, cmhd_request *request) {
    // Between the first call and this one the worker may have handled another connection's request.
    if (c->worker->fields_owner != c) read_fields(c, method, version);
    fill(c, method, version, request);
}
