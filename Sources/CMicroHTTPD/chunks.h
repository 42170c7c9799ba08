#ifndef CMHD_CHUNKS_H
#define CMHD_CHUNKS_H

#include "CMicroHTTPD.h"

/// The bytes that may come next in a chunked body.
typedef enum {
    CHUNKS_UNWATCHED,
    CHUNKS_SIZE,
    CHUNKS_EXTENSION,            ///< a semicolon, or blanks before it
    CHUNKS_EXTENSION_NAME_START,
    CHUNKS_EXTENSION_NAME,
    CHUNKS_EXTENSION_NAME_END,   ///< blanks before an equals sign or a semicolon
    CHUNKS_EXTENSION_VALUE_START,
    CHUNKS_EXTENSION_VALUE,
    CHUNKS_EXTENSION_QUOTED,
    CHUNKS_EXTENSION_QUOTED_PAIR,
    CHUNKS_EXTENSION_QUOTED_END,
    CHUNKS_SIZE_END,
    CHUNKS_DATA,
    CHUNKS_DATA_CR,
    CHUNKS_DATA_END,
    CHUNKS_TRAILERS,
    CHUNKS_TRAILER_NAME,
    CHUNKS_TRAILER,  ///< the value
    CHUNKS_TRAILER_END,
    CHUNKS_LAST,
    CHUNKS_END,  ///< what follows is another request
} chunks_step;

/// The state of reading a chunked body as it is on the wire.
typedef struct {
    chunks_step step;
    uint32_t line;   ///< bytes of the chunk's size and extension
    uint64_t left;   ///< of the chunk, bytes
    uint64_t total;  ///< of all chunks so far, bytes
} cmhd_chunks;

/// Reads on, up to the end of the body. Returns NONE while the body follows RFC 9112 and is not larger than `limit`;
/// `done` is how many of the bytes belong to it. When a whole line is among the bytes, zeros in front of the size
/// replace its extension: the libraries disagree on extensions with blanks, and 1.0.1 reads no extension correctly.
cmhd_refusal cmhd_read_chunks(cmhd_chunks *chunks, char *bytes, size_t length, size_t limit, size_t *done);

#endif
