#pragma once

#include "CJSON.h"
#include "Tree.hpp"

#include <cstdint>
#include <string>

// What the files of this target share. Outside the namespace `cjson`, the target defines only the symbols of CJSON.h.
namespace cjson {

// `cjson_value` and `cjson_text` are never defined: they are C's names for these types.
inline json *unwrap(cjson_value *value) { return reinterpret_cast<json *>(value); }
inline const json &unwrap(const cjson_value *value) { return *reinterpret_cast<const json *>(value); }
inline cjson_value *wrap(json *value) { return reinterpret_cast<cjson_value *>(value); }
inline const cjson_value *wrap(const json *value) { return reinterpret_cast<const cjson_value *>(value); }

/// Runs `make`; an exception becomes NULL or false. Only want of memory throws, where no comment says otherwise.
template <typename Make>
auto guarded(Make make) noexcept -> decltype(make()) {
    try {
        return make();
    } catch (...) {
        return {};
    }
}

inline cjson_text *make_text(std::string text) noexcept {
    return guarded([&] { return reinterpret_cast<cjson_text *>(new std::string(std::move(text))); });
}

inline std::string_view text_of(const uint8_t *bytes, size_t length) {
    return length == 0 ? std::string_view() : std::string_view(reinterpret_cast<const char *>(bytes), length);
}

inline const uint8_t *bytes_of(std::string_view text, size_t *length) {
    *length = text.size();
    return reinterpret_cast<const uint8_t *>(text.data());
}

/// Moves a value to the heap for C to own.
inline cjson_value *own(json &&value) { return wrap(new json(std::move(value))); }

/// Reads JSON text; false when it is not JSON, or is too long to be read. Throws when memory runs out.
bool read(std::string_view text, bool comments, json &result);

/// Why a text that could not be read is not JSON, and where. Throws when memory runs out.
cjson_parse_failure diagnose(std::string_view text, bool comments);

/// The value as compact text, which is valid until this thread serialises the next one. Throws when memory runs out.
std::string_view serialized(const json &value);

}  // namespace cjson
