// Chunked bodies as they are on the wire, by the exact grammar of RFC 9112, section 7.1.
//
// The library also takes a bare LF for a line end here. A proxy may not, or may skip line ends inside a chunk's
// extension. Then the two would disagree about the end of the body.
#include <string.h>

#include "internal.h"

/// The longest chunk size with its extension. Beyond it the library would wait for the end of the line for ever.
enum { line_bytes = 256 };

static int hexadecimal(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_control(char c) { return ((unsigned char)c < 0x20 && c != '\t') || c == 0x7f; }

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static cmhd_refusal next(cmhd_chunks *chunks, chunks_step step) {
    chunks->step = step;
    return CMHD_REFUSAL_NONE;
}

static cmhd_refusal end_line(cmhd_chunks *chunks) { return next(chunks, CHUNKS_SIZE_END); }

/// A complete extension is followed by another one or, without a blank, by the end of the line.
static cmhd_refusal after_extension(cmhd_chunks *chunks, char c) {
    if (c == ';') return next(chunks, CHUNKS_EXTENSION_NAME_START);
    if (is_blank(c)) return next(chunks, CHUNKS_EXTENSION);
    return c == '\r' ? end_line(chunks) : CMHD_REFUSAL_CHUNKS;
}

/// RFC 9112, 7.1.1: `*( BWS ";" BWS token [ BWS "=" BWS ( token / quoted-string ) ] )`.
static cmhd_refusal read_extension(cmhd_chunks *chunks, char c) {
    const bool is_token = cmhd_token[(unsigned char)c];
    switch (chunks->step) {
    case CHUNKS_EXTENSION: return c == '\r' ? CMHD_REFUSAL_CHUNKS : after_extension(chunks, c);
    case CHUNKS_EXTENSION_NAME_START:
        if (is_blank(c)) return CMHD_REFUSAL_NONE;
        return is_token ? next(chunks, CHUNKS_EXTENSION_NAME) : CMHD_REFUSAL_CHUNKS;
    case CHUNKS_EXTENSION_NAME:
        if (is_token) return CMHD_REFUSAL_NONE;
        if (is_blank(c)) return next(chunks, CHUNKS_EXTENSION_NAME_END);
        return c == '=' ? next(chunks, CHUNKS_EXTENSION_VALUE_START) : after_extension(chunks, c);
    case CHUNKS_EXTENSION_NAME_END:
        if (is_blank(c)) return CMHD_REFUSAL_NONE;
        if (c == '=') return next(chunks, CHUNKS_EXTENSION_VALUE_START);
        return c == ';' ? next(chunks, CHUNKS_EXTENSION_NAME_START) : CMHD_REFUSAL_CHUNKS;
    case CHUNKS_EXTENSION_VALUE_START:
        if (is_blank(c)) return CMHD_REFUSAL_NONE;
        if (c == '"') return next(chunks, CHUNKS_EXTENSION_QUOTED);
        return is_token ? next(chunks, CHUNKS_EXTENSION_VALUE) : CMHD_REFUSAL_CHUNKS;
    case CHUNKS_EXTENSION_VALUE: return is_token ? CMHD_REFUSAL_NONE : after_extension(chunks, c);
    case CHUNKS_EXTENSION_QUOTED:
        if (is_control(c)) return CMHD_REFUSAL_CHUNKS;
        if (c == '"') return next(chunks, CHUNKS_EXTENSION_QUOTED_END);
        return c == '\\' ? next(chunks, CHUNKS_EXTENSION_QUOTED_PAIR) : CMHD_REFUSAL_NONE;
    case CHUNKS_EXTENSION_QUOTED_PAIR:
        return is_control(c) ? CMHD_REFUSAL_CHUNKS : next(chunks, CHUNKS_EXTENSION_QUOTED);
    default: return after_extension(chunks, c);
    }
}

/// The size ends at the first byte that is not a digit.
static cmhd_refusal end_size(cmhd_chunks *chunks, char c, size_t limit) {
    if (chunks->line == 0) return CMHD_REFUSAL_CHUNKS;
    if (chunks->left > limit - chunks->total) return CMHD_REFUSAL_BODY_TOO_LARGE;
    chunks->total += chunks->left;
    chunks->step = CHUNKS_EXTENSION;
    return c == '\r' ? end_line(chunks) : read_extension(chunks, c);
}

static cmhd_refusal read_size(cmhd_chunks *chunks, char c, size_t limit) {
    int digit = hexadecimal(c);
    if (digit < 0) return end_size(chunks, c, limit);
    // A size that does not fit is too large, whatever its value.
    chunks->left = chunks->left > UINT64_MAX >> 5 ? UINT64_MAX >> 1 : chunks->left << 4 | (uint64_t)digit;
    return ++chunks->line > line_bytes ? CMHD_REFUSAL_CHUNKS : CMHD_REFUSAL_NONE;
}

static cmhd_refusal expect(cmhd_chunks *chunks, char c, char expected, chunks_step next) {
    chunks->step = next;
    return c == expected ? CMHD_REFUSAL_NONE : CMHD_REFUSAL_CHUNKS;
}

/// Reads one byte outside a chunk's data.
static cmhd_refusal read_frame(cmhd_chunks *chunks, char c, size_t limit) {
    const bool is_token = cmhd_token[(unsigned char)c];
    switch (chunks->step) {
    case CHUNKS_SIZE: return read_size(chunks, c, limit);
    case CHUNKS_EXTENSION ... CHUNKS_EXTENSION_QUOTED_END:
        return ++chunks->line > line_bytes ? CMHD_REFUSAL_CHUNKS : read_extension(chunks, c);
    case CHUNKS_SIZE_END: return expect(chunks, c, '\n', chunks->left > 0 ? CHUNKS_DATA : CHUNKS_TRAILERS);
    case CHUNKS_DATA_CR: return expect(chunks, c, '\r', CHUNKS_DATA_END);
    case CHUNKS_DATA_END: chunks->line = 0; return expect(chunks, c, '\n', CHUNKS_SIZE);
    case CHUNKS_TRAILERS:
        // A blank, which would fold this line onto the previous one, begins no name either.
        if (c == '\r') return next(chunks, CHUNKS_LAST);
        return is_token ? next(chunks, CHUNKS_TRAILER_NAME) : CMHD_REFUSAL_CHUNKS;
    case CHUNKS_TRAILER_NAME:
        if (c == ':') return next(chunks, CHUNKS_TRAILER);
        return is_token ? CMHD_REFUSAL_NONE : CMHD_REFUSAL_CHUNKS;
    case CHUNKS_TRAILER:
        if (c == '\r') chunks->step = CHUNKS_TRAILER_END;
        else if (is_control(c)) return CMHD_REFUSAL_CHUNKS;
        return CMHD_REFUSAL_NONE;
    case CHUNKS_TRAILER_END: return expect(chunks, c, '\n', CHUNKS_TRAILERS);
    case CHUNKS_LAST: return expect(chunks, c, '\n', CHUNKS_END);
    default: return CMHD_REFUSAL_NONE;
    }
}

/// `line` is a chunk's size and extension, without the end of the line.
static void hide_extension(char *line, size_t length) {
    size_t digits = 0;
    while (digits < length && hexadecimal(line[digits]) >= 0) digits++;
    if (digits == length) return;
    memmove(line + length - digits, line, digits);
    memset(line, '0', length - digits);
}

cmhd_refusal cmhd_read_chunks(cmhd_chunks *chunks, char *bytes, size_t length, size_t limit, size_t *done) {
    size_t i = 0;
    char *line = NULL;
    while (i < length && chunks->step != CHUNKS_UNWATCHED && chunks->step != CHUNKS_END) {
        if (chunks->step == CHUNKS_DATA) {
            size_t data = length - i < chunks->left ? length - i : (size_t)chunks->left;
            i += data;
            chunks->left -= data;
            if (chunks->left == 0) chunks->step = CHUNKS_DATA_CR;
            continue;
        }
        if (chunks->step == CHUNKS_SIZE && chunks->line == 0) line = bytes + i;
        cmhd_refusal refusal = read_frame(chunks, bytes[i++], limit);
        if (refusal != CMHD_REFUSAL_NONE) return refusal;
        // To the library, a blank before the semicolon would be part of the size.
        if (chunks->step == CHUNKS_EXTENSION) bytes[i - 1] = ';';
        if (chunks->step == CHUNKS_SIZE_END && line != NULL) hide_extension(line, (size_t)(bytes + i - 1 - line));
    }
    *done = i;
    return CMHD_REFUSAL_NONE;
}
