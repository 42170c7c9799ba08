#pragma once

#include "CJSON.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>

// What the files of this target share. All of it is in the namespace `cjson`: outside that, the target defines no
// symbols but those of CJSON.h.
namespace cjson {

using json = nlohmann::json;

// `cjson_value` and `cjson_text` are never defined: they are these types under names that C can say.
inline json *unwrap(cjson_value *value) { return reinterpret_cast<json *>(value); }
inline const json &unwrap(const cjson_value *value) { return *reinterpret_cast<const json *>(value); }
inline cjson_value *wrap(json *value) { return reinterpret_cast<cjson_value *>(value); }
inline const cjson_value *wrap(const json *value) { return reinterpret_cast<const cjson_value *>(value); }

inline cjson_text *make_text(std::string text) noexcept {
    try {
        return reinterpret_cast<cjson_text *>(new std::string(std::move(text)));
    } catch (...) {
        return nullptr;
    }
}

/// Empties a value that is going. The library's destructor does not recurse, and moves everything to a list for that;
/// with a depth that is bounded it is faster to take away the innermost first.
inline void clear(json &value) noexcept {
    if (auto *members = value.get_ptr<json::object_t *>()) {
        for (auto &member : *members) {
            clear(member.second);
        }
        members->clear();
    } else if (auto *elements = value.get_ptr<json::array_t *>()) {
        for (json &element : *elements) {
            clear(element);
        }
        elements->clear();
    }
}

/// Moves a value to the heap for C to own.
inline cjson_value *own(json &&value) { return wrap(new json(std::move(value))); }

/// Adds `/token`, escaped as RFC 6901 wants it.
inline void append_token(std::string &pointer, const std::string &token) {
    pointer.push_back('/');
    for (char character : token) {
        if (character == '~') {
            pointer.append("~0");
        } else if (character == '/') {
            pointer.append("~1");
        } else {
            pointer.push_back(character);
        }
    }
}

/// `cjson_parse` into a value of the caller's; false and a filled `failure`.
bool parse(const uint8_t *bytes, size_t length, bool comments, json &result, cjson_parse_failure &failure) noexcept;

/// The value as compact text, which lasts until the thread serialises the next one. Throws when memory runs out.
const std::string &serialized(const json &value);

/// Container levels in a value. Recursive, but so is everything: depth is bounded when values come in.
inline size_t depth(const json &value) {
    if (!value.is_structured()) {
        return 0;
    }
    size_t deepest = 0;
    for (const json &child : value) {
        if (child.is_structured()) {
            deepest = std::max(deepest, depth(child));
        }
    }
    return deepest + 1;
}

}  // namespace cjson
