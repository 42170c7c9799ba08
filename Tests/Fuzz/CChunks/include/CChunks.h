#include <stddef.h>
#include <stdint.h>

/// The result of reading a chunked body in pieces.
typedef struct {
    uint32_t refusal;
    size_t done;     ///< bytes that belong to the body
    uint64_t total;  ///< bytes in its chunks
} cchunks_reading;

/// Reads in pieces of `size` bytes, each of them in a block of its own.
cchunks_reading cchunks_read(const uint8_t *bytes, size_t length, size_t size, size_t limit);
