#include "Reading.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

namespace cjson {

bool is_unreadable(std::string_view text) {
    return text.empty() || text.size() > maximum_text_length || has_byte_order_mark(text)
        || std::memchr(text.data(), 0, text.size()) != nullptr;
}

void copy_for_reading(std::string_view text, std::vector<char> &copy) {
    // One NUL ends the text; from there, eight bytes may be read at once, or three as the rest of a character.
    constexpr size_t behind = 16;
    copy.resize(text.size() + behind);
    std::memcpy(copy.data(), text.data(), text.size());
    std::memset(copy.data() + text.size(), 0, behind);
}

std::optional<Number> read_number(std::string_view text) {
    const char *end = text.data() + text.size();
    int64_t integer = 0;
    const std::from_chars_result whole = std::from_chars(text.data(), end, integer);
    if (whole.ptr == end) {
        if (whole.ec == std::errc()) {
            return integer;
        }
        uint64_t large = 0;
        if (std::from_chars(text.data(), end, large).ec == std::errc()) {
            return large;
        }
    }
    double real = 0;
    if (std::from_chars(text.data(), end, real).ec != std::errc()) {
        // Too large, or so near to 0 that it is 0: from_chars does not say which. (The C locale is in force.)
        real = std::strtod(std::string(text).c_str(), nullptr);
        if (!std::isfinite(real)) {
            return std::nullopt;
        }
    }
    return real;
}

}  // namespace cjson
