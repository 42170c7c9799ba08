#ifndef CMHD_ANSWER_H
#define CMHD_ANSWER_H

#include "internal.h"

/// A field of a response as the library keeps it: its `struct MHD_HTTP_Header`.
typedef struct cmhd_field_node {
    struct cmhd_field_node *next, *previous;
    char *name;
    size_t name_length;
    char *value;
    size_t value_length;
    enum MHD_ValueKind kind;
} cmhd_field_node;

/// The beginning of the library's `struct MHD_Response`.
typedef struct {
    cmhd_field_node *first, *last;
} cmhd_response_start;

/// Makes the library's response for an answer; NULL when memory is short or the fields are malformed. For `date` see
/// `cmhd_date_line`.
struct MHD_Response *cmhd_build_answer(const cmhd_answer *answer, const char *date, bool links_fields);

/// The same for a body that the connection's stream produces.
struct MHD_Response *cmhd_build_streamed(const cmhd_answer *answer, const char *date, cmhd_connection *connection);

#endif
