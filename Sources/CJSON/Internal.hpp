#pragma once

#include "CJSON.h"
#include "Tree.hpp"

#include <cstdint>
#include <string>

// What the files of this target share. All of it is in the namespace `cjson`: outside that, the target defines no
// symbols but those of CJSON.h.
namespace cjson {

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

/// Moves a value to the heap for C to own.
inline cjson_value *own(json &&value) { return wrap(new json(std::move(value))); }

/// Adds `/token`, escaped as RFC 6901 wants it.
inline void append_token(std::string &pointer, std::string_view token) {
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

/// Reads text that is JSON; false for any other, and when the text is that long that the library cannot count it.
/// Throws when memory runs out.
bool read(std::string_view text, bool comments, json &result);

/// The value as compact text, which lasts until the thread serialises the next one. Throws when memory runs out.
std::string_view serialized(const json &value);

}  // namespace cjson
