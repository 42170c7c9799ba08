#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

// Which bytes of a string need neither escaping nor decoding. Most do not, and finding them eight at a time is much
// faster than one by one.
namespace cjson {

/// How many of eight bytes, from the first one on, stand for themselves in a JSON string: ASCII, no quotation mark, no
/// backslash, no control.
///
/// A byte is below `n` when subtracting `n` from it borrows, which shows in its highest bit. A borrow may come from the
/// byte before, but then that byte was a hit, and only the first hit counts.
inline size_t plain_among_eight(const char *text) {
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "The first byte of a word is taken for its lowest."
#endif
    constexpr uint64_t ones = 0x0101'0101'0101'0101;
    uint64_t word;
    std::memcpy(&word, text, sizeof word);
    const uint64_t quote = word ^ (ones * '"');
    const uint64_t backslash = word ^ (ones * '\\');
    const uint64_t hits = (word | (word - ones * 0x20) | (quote - ones) | (backslash - ones)) & (ones << 7);
    return hits == 0 ? 8 : static_cast<size_t>(__builtin_ctzll(hits)) / 8;
}

/// The same for any number of bytes. A NUL byte must end the text, and seven bytes after it must be readable.
inline size_t plain_length(const char *text) {
    size_t length = 0;
    for (;;) {
        const size_t plain = plain_among_eight(text + length);
        length += plain;
        if (plain < 8) {
            return length;
        }
    }
}

/// The same for a text of that length, of which no byte beyond the end is read.
inline size_t plain_length(const char *text, size_t length) {
    if (length < 8) {
        char padded[8] = {};
        for (size_t index = 0; index < length; ++index) {
            padded[index] = text[index];
        }
        return plain_among_eight(padded);
    }
    size_t plain = 0;
    while (plain + 8 <= length) {
        const size_t among = plain_among_eight(text + plain);
        plain += among;
        if (among < 8) {
            return plain;
        }
    }
    // What is looked at twice is plain.
    return length - 8 + plain_among_eight(text + length - 8);
}

/// How many of the next bytes, at most `left`, begin a well-formed character outside ASCII (Unicode, table 3-7).
/// `whole` tells whether the character is complete.
inline size_t well_formed_length(const char *text, size_t left, bool &whole) {
    const auto byte = [&](size_t index) { return static_cast<unsigned char>(text[index]); };
    const unsigned char lead = byte(0);
    const size_t length = lead < 0xC2 || lead > 0xF4 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    size_t index = length == 0 ? 0 : 1;
    for (; index < std::min(length, left); ++index) {
        const unsigned char least = index != 1 ? 0x80 : lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
        const unsigned char most = index != 1 ? 0xBF : lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
        if (byte(index) < least || byte(index) > most) {
            break;
        }
    }
    whole = length != 0 && index == length;
    return index;
}

}  // namespace cjson
