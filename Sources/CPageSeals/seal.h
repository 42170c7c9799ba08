/// The checksum of a page.
#ifndef CPAGESEALS_SEAL_H
#define CPAGESEALS_SEAL_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/// Four lanes of 64 bits, since one would wait for each of its multiplications. Each step maps what a lane was to what it
/// becomes one to one, whatever the word, and the other way round: a change within one word of a lane always shows in it.
/// The number of the page goes in, so that a page in another's place is noticed. Never 0, which is the seal of none.
static inline uint32_t cpageseals_seal(const unsigned char *page, size_t size, uint32_t number) {
    const uint64_t factor = 0x9E3779B97F4A7C15u;
    uint64_t lanes[4] = {number, 1, 2, 3};
    size_t place = 0;
    // Sizes of pages are powers of 2 from 512 on: what is left over in the end is the seal's own word.
    for (; place + 32 <= size; place += 32) {
        for (int lane = 0; lane < 4; lane++) {
            uint64_t word;
            memcpy(&word, page + place + 8 * lane, sizeof word);
            word = le64toh(word);
            // The last word ends with the seal itself.
            if (place + 8 * lane + 8 == size) word &= 0xFFFFFFFFu;
            lanes[lane] = (lanes[lane] ^ word) * factor;
            lanes[lane] ^= lanes[lane] >> 29;
        }
    }
    uint64_t all = 0;
    for (int lane = 0; lane < 4; lane++) {
        all = (all ^ lanes[lane]) * factor;
        all ^= all >> 32;
    }
    uint32_t seal = (uint32_t)all;
    return seal == 0 ? 1 : seal;
}

#endif
