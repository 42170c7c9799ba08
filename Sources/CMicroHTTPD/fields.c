// What header fields are made of: the well-known names, and what a value may hold.
#include <string.h>

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

static bool has_control_character(const uint8_t *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if ((text[i] < 0x20 && text[i] != '\t') || text[i] == 0x7f) return true;
    return false;
}

/// Not zero when one of eight bytes may be a control character. The subtractions set the top bit of each byte that is
/// below 0x20, and of DEL; they do so for a tab as well, and perhaps for the byte above one that borrows.
static uint64_t suspects(const uint8_t *text) {
    static const uint64_t ones = 0x0101010101010101, tops = 0x8080808080808080;
    uint64_t word;
    memcpy(&word, text, 8);
    uint64_t other_than_delete = word ^ ones * 0x7f;
    return (((word - ones * 0x20) & ~word) | ((other_than_delete - ones) & ~other_than_delete)) & tops;
}

bool cmhd_is_field_value(const uint8_t *text, size_t length) {
    if (length < 8) return !has_control_character(text, length);
    uint64_t found = suspects(text + length - 8);
    for (size_t i = 0; i + 8 < length && found == 0; i += 8) found = suspects(text + i);
    return found == 0 || !has_control_character(text, length);
}
