#include "CChunks.h"

#include <stdlib.h>
#include <string.h>

#include "chunks.h"

cchunks_reading cchunks_read(const uint8_t *bytes, size_t length, size_t size, size_t limit) {
    cmhd_chunks chunks = {.step = CHUNKS_SIZE};
    cchunks_reading reading = {0};
    for (size_t start = 0, count; start < length && reading.refusal == CMHD_REFUSAL_NONE; start += count) {
        count = length - start < size ? length - start : size;
        char *piece = malloc(count);
        if (piece == NULL) abort();
        memcpy(piece, bytes + start, count);
        size_t done = 0;
        reading.refusal = cmhd_read_chunks(&chunks, piece, count, limit, &done);
        reading.done += done;
        free(piece);
        if (done < count) break;
    }
    reading.total = chunks.total;
    return reading;
}
