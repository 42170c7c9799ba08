#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

// Which bytes of a text need no care. Strings are mostly such bytes, and going over eight at a time is what makes both
// libraries' loops over single ones affordable.
namespace cjson {

/// How many of eight bytes, from the first one on, stand for themselves in a JSON string: ASCII, no quotation mark, no
/// backslash, no control.
///
/// A byte is below `n` when taking `n` from it borrows, which shows in its highest bit. A borrow may come from the byte
/// before, but then that was a hit, and it is the first that counts.
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

/// The same for any number of bytes. There has to be a NUL byte behind the text, which ends it, and seven bytes behind
/// that, which may be read along with it.
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

/// The same for a text with nothing behind it.
inline size_t plain_length(const char *text, size_t length) {
    size_t plain = 0;
    while (plain + 8 <= length) {
        const size_t among = plain_among_eight(text + plain);
        plain += among;
        if (among < 8) {
            return plain;
        }
    }
    char rest[8] = {};
    std::memcpy(rest, text + plain, length - plain);
    return plain + plain_among_eight(rest);
}

/// How many bytes from there on are the beginning of a character outside ASCII as UTF-8 wants it (Unicode, table 3-7),
/// among at most `left`. `whole` says whether it is one to its end.
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
