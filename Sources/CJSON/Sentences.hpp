#pragma once

#include "Normalise.hpp"

#include <string>
#include <vector>

// The words that say what a value must be.
namespace cjson {

inline std::string written(const json &value) {
    if (value.is<double>() && is_whole(value.number())) {
        return std::to_string(static_cast<int64_t>(value.number()));
    }
    return std::string(serialized(value));
}

/// "1 character", "2 characters".
inline std::string counted(const json &number, const char *thing) {
    return written(number) + " " + thing + (number.number() == 1 ? "" : "s");
}

inline std::string with_article(const std::string &type) {
    if (type == "null") return "null";
    if (type == "boolean") return "true or false";
    return (type == "array" || type == "integer" || type == "object" ? "an " : "a ") + type;
}

inline std::string listed(const std::vector<std::string> &items) {
    std::string text;
    for (size_t index = 0; index < items.size(); ++index) {
        if (index != 0) {
            text += index + 1 == items.size() ? " or " : ", ";
        }
        text += items[index];
    }
    return text;
}

inline std::string must_be_type(const json &types) {
    std::vector<std::string> names;
    if (types.is_string()) {
        names.push_back(with_article(types.text()));
    }
    for (const json &type : types.elements()) {
        names.push_back(with_article(type.text()));
    }
    return "must be " + listed(names);
}

inline std::string must_be_value(const json::Elements &values) {
    // A sentence, not a catalogue.
    constexpr size_t longest = 200;
    std::vector<std::string> names;
    size_t length = 0;
    for (const json &value : values) {
        names.push_back(written(value));
        length += names.back().size();
        if (length > longest) {
            return "must be one of the allowed values";
        }
    }
    return (names.size() == 1 ? "must be " : "must be one of ") + listed(names);
}

}  // namespace cjson
