// What libmicrohttpd before 1.0 does not check. With the support of 0.9 this file goes, and in others:
//
// - framing.c: the distances in `note_field` and `walk_fields`, and `expected` of `walk`
// - server.c: `checks_layout`; in `cmhd_daemon_start` the choice by it, and the number of the option
// - chunked.c: the zeros in `are_blank_lines`, the condition in `behind_head`
// - self_test.c: `checks_layout`, `is_unfolded` and `folded_line`
// - internal.h: `checks_layout`, the functions of this file, the lowest version of the headers
//
// From 1.0 on the library refuses all of this itself, at its discipline level (see `cmhd_daemon_start`). Before, it
// splits the head in place: it writes zeros over the blanks of the request line, the colons and the line ends, and
// keeps pointers into its receive buffer. So the distances between those pointers show what was there: a name starts
// two bytes (CR LF) after the previous value, and a value starts after its name, one colon and blanks. A folded line, a
// bare LF or a NUL changes one of these distances, and the request is refused. This depends on the internals of the
// library, which `cmhd_self_test` checks at start.
//
// 0.9.76 and 0.9.77 replace the end of a folded line by blanks, which RFC 9112, 5.2, allows.
#include "internal.h"

bool cmhd_is_before_1_0(void) { return MHD_get_version()[0] == '0'; }

bool cmhd_is_field_in_place(const char *expected, const char *name, size_t name_length, const char *value) {
    const char *blank = name + name_length + 1;
    if (name != expected || value < blank) return false;
    while (blank < value && (*blank == ' ' || *blank == '\t')) blank++;
    return blank == value;
}
