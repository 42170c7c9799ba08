// What libmicrohttpd before 1.0 does not check. With the support of 0.9 this file goes, and in others:
//
// - framing.c: the distances in `note_field` and `walk_fields`, and `expected` of `walk`
// - server.c: `checks_layout`; in `cmhd_daemon_start` the choice by it, and the number of the option
// - chunked.c: the zeros in `are_blank_lines`, the condition in `behind_head`, what is stray and the last byte
// - self_test.c: `checks_layout`, `is_unfolded` and `folded_line`
// - internal.h: `checks_layout`, the functions of this file, the lowest version of the headers
//
// From 1.0 on the library refuses all of this itself, at its discipline level (see `cmhd_daemon_start`). Before, it
// splits the head in place: it writes zeros over the blanks of the request line, the colons and the line ends, and
// keeps pointers into its receive buffer. So the distances between those pointers show what was there: a name starts
// two bytes (CR LF) after the previous value, and a value starts after its name, one colon and blanks. A folded line or
// a line without a colon changes one of these distances, and the request is refused. This depends on the internals of
// the library, which `cmhd_self_test` checks at start.
//
// To the library a NUL ends a line, so that NUL and LF have the length of CR LF, a line of NUL is a blank one, and a
// colon behind a lone LF ends the head. These are found among the bytes as they come.
//
// 0.9.76 and 0.9.77 replace the end of a folded line by blanks, which RFC 9112, 5.2, allows.
#include "internal.h"
#include "vector.h"

bool cmhd_is_before_1_0(void) { return MHD_get_version()[0] == '0'; }

bool cmhd_is_field_in_place(const char *expected, const char *name, size_t name_length, const char *value) {
    const char *blank = name + name_length + 1;
    if (name != expected || value < blank) return false;
    while (blank < value && (*blank == ' ' || *blank == '\t')) blank++;
    return blank == value;
}

static bool is_stray(char before, char byte) { return byte == '\0' || (byte == '\n') != (before == '\r'); }

/// Whether one of sixteen bytes is stray.
static bool has_stray(const char *bytes) {
    bytes16 some = sixteen_bytes(bytes), before = sixteen_bytes(bytes - 1);
    return !has_no_bit((bytes16)((some == 0) | ((some == '\n') ^ (before == '\r'))));
}

void cmhd_look_for_stray(cmhd_connection *c, const char *bytes, size_t length, uint64_t position) {
    uint64_t start = c->request_end > position ? c->request_end - position : 0;
    if (!c->worker->server->checks_layout || c->stray_end != 0 || start >= length) return;
    char before = position > c->request_end ? c->last_byte : '\0';
    if (is_stray(before, bytes[start])) c->stray_end = position + start + 1;
    for (size_t i = start + 1; i < length && c->stray_end == 0; i++) {
        while (i + 16 <= length && !has_stray(bytes + i)) i += 16;
        if (i < length && is_stray(bytes[i - 1], bytes[i])) c->stray_end = position + i + 1;
    }
}
