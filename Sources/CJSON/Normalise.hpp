#pragma once

#include "Internal.hpp"

#include <cmath>
#include <cstring>

// valijson reads some values otherwise than JSON means them. It is shown a copy in which these are replaced, and only
// when a document has one, which is seldom:
// - A whole number that is written as a fraction (`1.0`) becomes an integer, as draft 7 wants.
// - A number beyond a signed 64-bit integer becomes a double: it would become negative.
// - U+0000 in a string becomes U+FFFD: the string would end there, and a limit on its length would not hold.
namespace cjson {

inline bool is_whole(double number) {
    return std::trunc(number) == number && std::fabs(number) <= 9007199254740992.0;
}

inline bool is_beyond_signed(const json &value) {
    const uint64_t *number = value.get_ptr<const uint64_t *>();
    return number != nullptr && *number > static_cast<uint64_t>(INT64_MAX);
}

inline bool needs_normalising(const json &value) {
    switch (value.type()) {
    case json::value_t::number_float: return is_whole(*value.get_ptr<const double *>());
    case json::value_t::number_unsigned: return is_beyond_signed(value);
    case json::value_t::string: {
        const std::string &text = *value.get_ptr<const std::string *>();
        return std::memchr(text.data(), 0, text.size()) != nullptr;
    }
    case json::value_t::array:
        for (const json &element : *value.get_ptr<const json::array_t *>()) {
            if (needs_normalising(element)) return true;
        }
        return false;
    case json::value_t::object:
        for (const auto &member : *value.get_ptr<const json::object_t *>()) {
            if (needs_normalising(member.second)) return true;
        }
        return false;
    default: return false;
    }
}

inline void normalise(json &value) {
    if (value.is_structured()) {
        for (json &child : value) {
            normalise(child);
        }
    } else if (needs_normalising(value)) {
        if (value.is_number_float()) {
            value = static_cast<int64_t>(value.get<double>());
        } else if (value.is_number()) {
            value = value.get<double>();
        } else {
            std::string text;
            for (char character : value.get_ref<const std::string &>()) {
                character == '\0' ? text.append("\xEF\xBF\xBD") : text.append(1, character);
            }
            value = std::move(text);
        }
    }
}

}  // namespace cjson
