#include "Internal.hpp"
#include "PlainText.hpp"

#include <charconv>
#include <cmath>

// Serialising values. RapidJSON's writer would need as much code around it: the digits that it gives to doubles are not
// always the nearest, and it does not notice when memory runs out.

using cjson::guarded;
using cjson::json;

namespace {

/// Writes into a buffer that is kept for the next text. Each thread has one.
class Serializer {
public:
    std::string_view write(const json &value) {
        clear();
        add(value);
        return text_;
    }

    std::string_view quote(std::string_view text) {
        clear();
        add_string(text);
        return text_;
    }

private:
    void clear() {
        // A thread keeps no more than this after it has written a large text.
        constexpr size_t most_kept = 64 * 1024;
        if (text_.capacity() > most_kept) {
            std::string().swap(text_);
        }
        text_.clear();
    }

    void add(const json &value) {
        if (const std::string *string = value.as<std::string>()) {
            add_string(*string);
        } else if (value.is_object()) {
            add_list("{}", value.members(), [&](const cjson::Member &member) {
                add_string(member.name);
                text_ += ':';
                add(member.value);
            });
        } else if (value.is_array()) {
            add_list("[]", value.elements(), [&](const json &element) { add(element); });
        } else if (const int64_t *integer = value.as<int64_t>()) {
            add_digits(*integer);
        } else if (const uint64_t *whole = value.as<uint64_t>()) {
            add_digits(*whole);
        } else if (const double *real = value.as<double>()) {
            add_double(*real);
        } else if (const bool *boolean = value.as<bool>()) {
            text_ += *boolean ? "true" : "false";
        } else {
            text_ += "null";
        }
    }

    template <typename List, typename Add>
    void add_list(const char *brackets, const List &list, Add add_item) {
        text_ += brackets[0];
        bool is_first = true;
        for (const auto &item : list) {
            if (!is_first) {
                text_ += ',';
            }
            is_first = false;
            add_item(item);
        }
        text_ += brackets[1];
    }

    template <typename... Arguments>
    void add_digits(Arguments... arguments) {
        constexpr size_t longest = 32;
        char digits[longest];
        text_.append(digits, std::to_chars(digits, digits + longest, arguments...).ptr);
    }

    /// The shortest digits that read as the number, in a form that reads as a double again: `1.0`, `0.0001`, `1e-07`.
    void add_double(double number) {
        constexpr double least_plain = 1e-4;
        constexpr double end_of_plain = 1e15;
        const double magnitude = std::fabs(number);
        if (magnitude != 0 && (magnitude < least_plain || magnitude >= end_of_plain)) {
            return add_digits(number, std::chars_format::scientific);
        }
        const size_t start = text_.size();
        add_digits(number, std::chars_format::fixed);
        if (text_.find('.', start) == std::string::npos) {
            text_ += ".0";
        }
    }

    /// Bytes that are not UTF-8 become U+FFFD.
    void add_string(std::string_view text) {
        text_ += '"';
        while (!text.empty()) {
            size_t taken = cjson::plain_length(text.data(), text.size());
            bool is_whole = true;
            if (taken == 0 && static_cast<unsigned char>(text[0]) >= 0x80) {
                taken = cjson::well_formed_length(text.data(), text.size(), is_whole);
            }
            if (taken == 0 && is_whole) {
                add_escape(text[0]);
                taken = 1;
            } else if (is_whole) {
                text_ += text.substr(0, taken);
            } else {
                text_ += "\xEF\xBF\xBD";
                taken = std::max<size_t>(taken, 1);
            }
            text.remove_prefix(taken);
        }
        text_ += '"';
    }

    void add_escape(char byte) {
        text_ += '\\';
        switch (byte) {
        case '\b': text_ += 'b'; break;
        case '\t': text_ += 't'; break;
        case '\n': text_ += 'n'; break;
        case '\f': text_ += 'f'; break;
        case '\r': text_ += 'r'; break;
        case '"':
        case '\\': text_ += byte; break;
        default:
            text_ += "u00";
            text_ += byte < 0x10 ? '0' : '1';
            text_ += "0123456789abcdef"[byte & 0x0F];
        }
    }

    std::string text_;
};

thread_local Serializer serializer;

}  // namespace

std::string_view cjson::serialized(const json &value) { return serializer.write(value); }

const uint8_t *cjson_serialize(const cjson_value *value, size_t *length) {
    return guarded([&] { return cjson::bytes_of(serializer.write(cjson::unwrap(value)), length); });
}

const uint8_t *cjson_quote(const uint8_t *bytes, size_t length, size_t *quoted_length) {
    return guarded([&] { return cjson::bytes_of(serializer.quote(cjson::text_of(bytes, length)), quoted_length); });
}

bool cjson_is_plain(const uint8_t *bytes, size_t length) {
    return cjson::plain_length(reinterpret_cast<const char *>(bytes), length) == length;
}
