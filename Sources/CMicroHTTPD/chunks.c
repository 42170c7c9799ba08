// Chunked bodies as they stand on the wire: RFC 9112, section 7.1, to the letter.
//
// The library takes a bare LF for a line end here, too. Whoever stands in front of this server may not, or may pass over
// the line ends inside of a chunk's extension, and then the two would not agree about where the body ends.
#include "chunks.h"

/// A chunk's size and extension, beyond which the library would wait for the end of the line for ever.
enum { line_bytes = 256 };

static int hexadecimal(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_control(char c) { return ((unsigned char)c < 0x20 && c != '\t') || c == 0x7f; }

/// The size is whole when something other than a digit comes.
static cmhd_refusal end_size(cmhd_chunks *chunks, char c, size_t limit) {
    if (chunks->line == 0) return CMHD_REFUSAL_CHUNKS;
    if (chunks->left > limit - chunks->total) return CMHD_REFUSAL_BODY_TOO_LARGE;
    chunks->total += chunks->left;
    if (c != '\r' && c != ';') return CMHD_REFUSAL_CHUNKS;
    chunks->step = c == '\r' ? CHUNKS_SIZE_END : CHUNKS_EXTENSION;
    return CMHD_REFUSAL_NONE;
}

static cmhd_refusal read_size(cmhd_chunks *chunks, char c, size_t limit) {
    int digit = hexadecimal(c);
    if (digit < 0) return end_size(chunks, c, limit);
    // What does not fit is too large, however much it is.
    chunks->left = chunks->left > UINT64_MAX >> 5 ? UINT64_MAX >> 1 : chunks->left << 4 | (uint64_t)digit;
    return ++chunks->line > line_bytes ? CMHD_REFUSAL_CHUNKS : CMHD_REFUSAL_NONE;
}

static cmhd_refusal expect(cmhd_chunks *chunks, char c, char expected, chunks_step next) {
    chunks->step = next;
    return c == expected ? CMHD_REFUSAL_NONE : CMHD_REFUSAL_CHUNKS;
}

/// One byte that is not a chunk's data.
static cmhd_refusal read_frame(cmhd_chunks *chunks, char c, size_t limit) {
    switch (chunks->step) {
    case CHUNKS_SIZE: return read_size(chunks, c, limit);
    case CHUNKS_EXTENSION:
        if (c == '\r') chunks->step = CHUNKS_SIZE_END;
        else if (is_control(c) || ++chunks->line > line_bytes) return CMHD_REFUSAL_CHUNKS;
        return CMHD_REFUSAL_NONE;
    case CHUNKS_SIZE_END: return expect(chunks, c, '\n', chunks->left > 0 ? CHUNKS_DATA : CHUNKS_TRAILERS);
    case CHUNKS_DATA_CR: return expect(chunks, c, '\r', CHUNKS_DATA_END);
    case CHUNKS_DATA_END: chunks->line = 0; return expect(chunks, c, '\n', CHUNKS_SIZE);
    case CHUNKS_TRAILERS:
        // A blank would fold this line onto the one before it.
        if (c == ' ' || c == '\t') return CMHD_REFUSAL_CHUNKS;
        if (c == '\r') chunks->step = CHUNKS_LAST;
        else chunks->step = CHUNKS_TRAILER;
        return c != '\r' && is_control(c) ? CMHD_REFUSAL_CHUNKS : CMHD_REFUSAL_NONE;
    case CHUNKS_TRAILER:
        if (c == '\r') chunks->step = CHUNKS_TRAILER_END;
        else if (is_control(c)) return CMHD_REFUSAL_CHUNKS;
        return CMHD_REFUSAL_NONE;
    case CHUNKS_TRAILER_END: return expect(chunks, c, '\n', CHUNKS_TRAILERS);
    case CHUNKS_LAST: return expect(chunks, c, '\n', CHUNKS_END);
    default: return CMHD_REFUSAL_NONE;
    }
}

cmhd_refusal cmhd_read_chunks(cmhd_chunks *chunks, const char *bytes, size_t length, size_t limit, size_t *done) {
    size_t i = 0;
    while (i < length && chunks->step != CHUNKS_UNWATCHED && chunks->step != CHUNKS_END) {
        if (chunks->step == CHUNKS_DATA) {
            size_t data = length - i < chunks->left ? length - i : (size_t)chunks->left;
            i += data;
            chunks->left -= data;
            if (chunks->left == 0) chunks->step = CHUNKS_DATA_CR;
            continue;
        }
        cmhd_refusal refusal = read_frame(chunks, bytes[i++], limit);
        if (refusal != CMHD_REFUSAL_NONE) return refusal;
    }
    *done = i;
    return CMHD_REFUSAL_NONE;
}
