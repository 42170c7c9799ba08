/// The checksum of a page.
#ifndef CPAGESEALS_SEAL_H
#define CPAGESEALS_SEAL_H

#include <endian.h>
#include <libdeflate.h>
#include <stddef.h>
#include <stdint.h>

/// CRC-32 of the page's number, so that a page in another's place is noticed, and of all of the page but the seal itself.
/// Never 0, which is the seal of none.
static inline uint32_t cpageseals_seal(const unsigned char *page, size_t size, uint32_t number) {
    const uint32_t begin = htole32(number);
    uint32_t seal = libdeflate_crc32(0, &begin, sizeof begin);
    seal = libdeflate_crc32(seal, page, size - sizeof seal);
    return seal == 0 ? 1 : seal;
}

#endif
