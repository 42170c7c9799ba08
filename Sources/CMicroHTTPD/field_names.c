// The well-known names of header fields.
#include "CMicroHTTPD.h"

static const char *const names[CMHD_FIELD_NAMES] = {
    [CMHD_FIELD_HOST] = "host",
    [CMHD_FIELD_ACCEPT] = "accept",
    [CMHD_FIELD_COOKIE] = "cookie",
    [CMHD_FIELD_ORIGIN] = "origin",
    [CMHD_FIELD_PREFER] = "prefer",
    [CMHD_FIELD_IF_MATCH] = "if-match",
    [CMHD_FIELD_REQUEST_ID] = "request-id",
    [CMHD_FIELD_TRACEPARENT] = "traceparent",
    [CMHD_FIELD_X_ADMIN_KEY] = "x-admin-key",
    [CMHD_FIELD_CONTENT_TYPE] = "content-type",
    [CMHD_FIELD_AUTHORIZATION] = "authorization",
    [CMHD_FIELD_IF_NONE_MATCH] = "if-none-match",
    [CMHD_FIELD_CONTENT_LENGTH] = "content-length",
    [CMHD_FIELD_SEC_FETCH_SITE] = "sec-fetch-site",
    [CMHD_FIELD_IDEMPOTENCY_KEY] = "idempotency-key",
    [CMHD_FIELD_TRANSFER_ENCODING] = "transfer-encoding",
};

/// The names of one length follow one another. In a token nothing but a letter becomes a letter, and nothing but
/// the hyphen a hyphen, when bit 5 is set; the well-known names have nothing else.
static cmhd_field_name one_of(cmhd_field_name first, cmhd_field_name last, const uint8_t *name, size_t length) {
    for (cmhd_field_name known = first; known <= last; known++) {
        const char *text = names[known];
        if ((name[0] | 0x20) != text[0]) continue;
        uint8_t difference = 0;
        for (size_t i = 1; i < length; i++) difference |= (uint8_t)((name[i] | 0x20) ^ text[i]);
        if (difference == 0) return known;
    }
    return CMHD_FIELD_OTHER;
}

cmhd_field_name cmhd_field_name_of(const uint8_t *name, size_t length) {
    switch (length) {
    case 4: return one_of(CMHD_FIELD_HOST, CMHD_FIELD_HOST, name, length);
    case 6: return one_of(CMHD_FIELD_ACCEPT, CMHD_FIELD_PREFER, name, length);
    case 8: return one_of(CMHD_FIELD_IF_MATCH, CMHD_FIELD_IF_MATCH, name, length);
    case 10: return one_of(CMHD_FIELD_REQUEST_ID, CMHD_FIELD_REQUEST_ID, name, length);
    case 11: return one_of(CMHD_FIELD_TRACEPARENT, CMHD_FIELD_X_ADMIN_KEY, name, length);
    case 12: return one_of(CMHD_FIELD_CONTENT_TYPE, CMHD_FIELD_CONTENT_TYPE, name, length);
    case 13: return one_of(CMHD_FIELD_AUTHORIZATION, CMHD_FIELD_IF_NONE_MATCH, name, length);
    case 14: return one_of(CMHD_FIELD_CONTENT_LENGTH, CMHD_FIELD_SEC_FETCH_SITE, name, length);
    case 15: return one_of(CMHD_FIELD_IDEMPOTENCY_KEY, CMHD_FIELD_IDEMPOTENCY_KEY, name, length);
    case 17: return one_of(CMHD_FIELD_TRANSFER_ENCODING, CMHD_FIELD_TRANSFER_ENCODING, name, length);
    default: return CMHD_FIELD_OTHER;
    }
}

const char *cmhd_field_name_text(cmhd_field_name name) {
    return name < CMHD_FIELD_NAMES ? names[name] : NULL;
}
