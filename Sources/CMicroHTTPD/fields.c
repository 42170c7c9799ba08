// Header fields: the well-known names, and which values are valid.
#include <string.h>

#include "internal.h"
#include "vector.h"

// RFC 9110, 5.6.2.
const bool cmhd_token[256] = {
    ['!'] = 1, ['#'] = 1, ['$'] = 1, ['%'] = 1, ['&'] = 1, ['\''] = 1, ['*'] = 1, ['+'] = 1, ['-'] = 1,
    ['.'] = 1, ['^'] = 1, ['_'] = 1, ['`'] = 1, ['|'] = 1, ['~'] = 1,
    ['0' ... '9'] = 1, ['A' ... 'Z'] = 1, ['a' ... 'z'] = 1,
};

static const char *const names[CMHD_FIELD_NAMES] = {
    [CMHD_FIELD_HOST] = "host",
    [CMHD_FIELD_ACCEPT] = "accept",
    [CMHD_FIELD_COOKIE] = "cookie",
    [CMHD_FIELD_EXPECT] = "expect",
    [CMHD_FIELD_ORIGIN] = "origin",
    [CMHD_FIELD_PREFER] = "prefer",
    [CMHD_FIELD_IF_MATCH] = "if-match",
    [CMHD_FIELD_REQUEST_ID] = "request-id",
    [CMHD_FIELD_TRACEPARENT] = "traceparent",
    [CMHD_FIELD_X_ADMIN_KEY] = "x-admin-key",
    [CMHD_FIELD_CONTENT_TYPE] = "content-type",
    [CMHD_FIELD_AUTHORIZATION] = "authorization",
    [CMHD_FIELD_CONTENT_RANGE] = "content-range",
    [CMHD_FIELD_SESSION_TOKEN] = "session-token",
    [CMHD_FIELD_IF_NONE_MATCH] = "if-none-match",
    [CMHD_FIELD_CONTENT_LENGTH] = "content-length",
    [CMHD_FIELD_SEC_FETCH_SITE] = "sec-fetch-site",
    [CMHD_FIELD_IDEMPOTENCY_KEY] = "idempotency-key",
    [CMHD_FIELD_ACCEPT_ENCODING] = "accept-encoding",
    [CMHD_FIELD_CONTENT_ENCODING] = "content-encoding",
    [CMHD_FIELD_TRANSFER_ENCODING] = "transfer-encoding",
    [CMHD_FIELD_X_FORWARDED_PREFIX] = "x-forwarded-prefix",
};

static uint64_t eight_bytes(const void *text) {
    uint64_t word;
    memcpy(&word, text, sizeof word);
    return word;
}

static uint32_t four_bytes(const void *text) {
    uint32_t word;
    memcpy(&word, text, sizeof word);
    return word;
}

/// Not zero when a byte of the name is neither that of the text nor, if that is a letter, the same letter in upper
/// case. The text has letters in lower case, which have bit 6, and hyphens, which do not. So bit 5, the case, counts
/// where bit 6 is not set.
static uint64_t difference_of(uint64_t name, uint64_t text) {
    return (name | (text >> 1 & 0x2020202020202020)) ^ text;
}

/// The same for a whole name. It compares eight or four bytes at a time; the last ones may overlap the ones before.
/// Comparing byte by byte took as long as all other checks of a field.
static uint64_t difference(const uint8_t *name, const char *text, size_t length) {
    if (length < 8)
        return difference_of(four_bytes(name), four_bytes(text)) |
               difference_of(four_bytes(name + length - 4), four_bytes(text + length - 4));
    uint64_t found = difference_of(eight_bytes(name + length - 8), eight_bytes(text + length - 8));
    for (size_t i = 0; i + 8 < length; i += 8) found |= difference_of(eight_bytes(name + i), eight_bytes(text + i));
    return found;
}

/// The names of one length are adjacent, and have at least four bytes.
static cmhd_field_name one_of(cmhd_field_name first, cmhd_field_name last, const uint8_t *name, size_t length) {
    for (cmhd_field_name known = first; known <= last; known++)
        if (difference(name, names[known], length) == 0) return known;
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
    case 15: return one_of(CMHD_FIELD_IDEMPOTENCY_KEY, CMHD_FIELD_ACCEPT_ENCODING, name, length);
    case 16: return one_of(CMHD_FIELD_CONTENT_ENCODING, CMHD_FIELD_CONTENT_ENCODING, name, length);
    case 17: return one_of(CMHD_FIELD_TRANSFER_ENCODING, CMHD_FIELD_TRANSFER_ENCODING, name, length);
    case 18: return one_of(CMHD_FIELD_X_FORWARDED_PREFIX, CMHD_FIELD_X_FORWARDED_PREFIX, name, length);
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

/// Sets all bits of each control character except tab.
static bytes16 control_characters(bytes16 text) {
    return (bytes16)(((text < 0x20) & (text != '\t')) | (text == 0x7f));
}

bool cmhd_is_field_value(const uint8_t *text, size_t length) {
    if (length < 8) return !has_control_character(text, length);
    if (length < 16) {
        // Twice eight bytes, which may overlap.
        words2 both = {eight_bytes(text), eight_bytes(text + length - 8)};
        return has_no_bit(control_characters((bytes16)both));
    }
    bytes16 found = control_characters(sixteen_bytes(text + length - 16));
    for (size_t i = 0; i + 16 < length; i += 16) found |= control_characters(sixteen_bytes(text + i));
    return has_no_bit(found);
}
