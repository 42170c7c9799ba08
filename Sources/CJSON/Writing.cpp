#include "Writing.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace cjson {

namespace {

/// The shortest digits that read as the number, and the power of ten of the first one. RapidJSON's own digits are not
/// always the nearest.
int write_digits(double number, char *buffer, int &count) {
    constexpr size_t longest = 32;
    char *end = std::to_chars(buffer, buffer + longest, number, std::chars_format::scientific).ptr;
    // As `1.5e+20`, or `1e+20`.
    const char *mark = std::find(buffer, end, 'e');
    int power = 0;
    std::from_chars(mark + (mark[1] == '+' ? 2 : 1), end, power);
    count = mark == buffer + 1 ? 1 : static_cast<int>(mark - buffer) - 1;
    std::copy(buffer + 2, buffer + 1 + count, buffer + 1);
    return power;
}

/// The number in a form that reads as a double again: `1.0`, `0.0001`, `1e-07`, `1.5e+20`.
///
/// `buffer` has room for 40 bytes. Returns the end of the text.
char *write_double(double number, char *buffer) {
    if (std::signbit(number)) {
        *buffer++ = '-';
        number = -number;
    }
    if (number == 0) {
        return std::copy_n("0.0", 3, buffer);
    }
    int count = 0;
    // The place of the decimal point, counted from the first digit.
    const int point = write_digits(number, buffer, count) + 1;
    constexpr int least_point = -3;
    constexpr int most_point = 15;
    if (count <= point && point <= most_point) {
        return std::copy_n(".0", 2, std::fill_n(buffer + count, point - count, '0'));
    }
    if (0 < point && point <= most_point) {
        std::copy_backward(buffer + point, buffer + count, buffer + count + 1);
        buffer[point] = '.';
        return buffer + count + 1;
    }
    if (least_point <= point && point <= 0) {
        std::copy_backward(buffer, buffer + count, buffer + count + 2 - point);
        std::fill_n(buffer, 2 - point, '0');
        buffer[1] = '.';
        return buffer + count + 2 - point;
    }
    if (count > 1) {
        std::copy_backward(buffer + 1, buffer + count, buffer + count + 1);
        buffer[1] = '.';
        ++count;
    }
    buffer += count;
    *buffer++ = 'e';
    *buffer++ = point - 1 < 0 ? '-' : '+';
    const int power = std::abs(point - 1);
    if (power < 10) {
        *buffer++ = '0';
    }
    return std::to_chars(buffer, buffer + 3, power).ptr;
}

}  // namespace

void Output::clear() {
    // A thread keeps no more than this after it has written a large text.
    constexpr size_t most_kept = 64 * 1024;
    if (static_cast<size_t>(end_ - begin_) > most_kept) {
        std::free(begin_);
        begin_ = end_ = nullptr;
    }
    place_ = begin_;
}

void Output::grow(size_t count) {
    constexpr size_t least = 256;
    const size_t length = static_cast<size_t>(place_ - begin_);
    const size_t capacity = std::max({length + count, 2 * static_cast<size_t>(end_ - begin_), least});
    char *grown = static_cast<char *>(std::realloc(begin_, capacity));
    if (grown == nullptr) {
        throw std::bad_alloc();
    }
    begin_ = grown;
    place_ = grown + length;
    end_ = grown + capacity;
}

void Writer::String(const char *text, size_t length) {
    Prefix(rapidjson::kStringType);
    // Enough for nearly all strings.
    os_->reserve(length + 2);
    os_->put_unsafe('"');
    while (length > 0) {
        size_t taken = plain_length(text, length);
        bool is_whole = true;
        if (taken == 0 && static_cast<unsigned char>(*text) >= 0x80) {
            taken = well_formed_length(text, length, is_whole);
        }
        if (taken == 0 && is_whole) {
            write_escape(*text);
            taken = 1;
        } else if (is_whole) {
            os_->put({text, taken});
        } else {
            os_->put("\xEF\xBF\xBD");
            taken = std::max<size_t>(taken, 1);
        }
        text += taken;
        length -= taken;
    }
    os_->Put('"');
}

void Writer::write_escape(char byte) {
    os_->Put('\\');
    switch (byte) {
    case '\b': os_->Put('b'); break;
    case '\t': os_->Put('t'); break;
    case '\n': os_->Put('n'); break;
    case '\f': os_->Put('f'); break;
    case '\r': os_->Put('r'); break;
    case '"':
    case '\\': os_->Put(byte); break;
    default:
        os_->put("u00");
        os_->Put(byte < 0x10 ? '0' : '1');
        os_->Put("0123456789abcdef"[byte & 0x0F]);
    }
}

void Writer::Double(double number) {
    constexpr size_t longest = 40;
    Prefix(rapidjson::kNumberType);
    os_->reserve(longest);
    char buffer[longest];
    os_->put({buffer, static_cast<size_t>(write_double(number, buffer) - buffer)});
}

}  // namespace cjson
