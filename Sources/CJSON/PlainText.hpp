#pragma once

#include "CJSON.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

// Plain JSON text: what nearly all of it is, and what can be patched without making values of it.
//
// A text is plain when it is sound (see cjson_parse) and each of its scalars is spelled as cjson_serialize would spell
// it, so that pieces of the text can be copied into another as they are. Escapes in names, needless ones in strings,
// numbers such as `1e2`, more values than there is room for: all that is not plain, and neither is any mistake. It is
// left to the library, which knows every case and says what is wrong. Nothing here decides about what is not plain.
namespace cjson {

enum class PlainKind : uint8_t { null, boolean, integer, real, string, array, object };

/// A piece of a text, without constructors: many are made room for and few are used.
struct Slice {
    const char *start;
    size_t length;

    std::string_view view() const { return {start, length}; }
};

/// A value of a plain text. Values are linked: the text holds what they say.
struct PlainValue {
    /// As it is written; of no meaning for an array or object.
    Slice text;
    /// A member's name without its quotation marks.
    Slice name;
    /// The first element or member. Members are sorted by name, by their bytes.
    PlainValue *first;
    /// The next value in the same array or object.
    PlainValue *next;
    uint32_t count;
    PlainKind kind;
};

/// Room for the values of a few texts, on the stack.
class PlainRoom {
public:
    /// Reads a text; NULL when it is not plain.
    PlainValue *read(const uint8_t *bytes, size_t length);

private:
    friend class PlainReader;
    static constexpr size_t maximum_values = 512;

    PlainValue *take() { return used_ == maximum_values ? nullptr : &values_[used_++]; }

    // Not filled with zeros beforehand: only those that were taken are ever read.
    PlainValue values_[maximum_values];
    size_t used_ = 0;
};

/// `patch` merged into `target` (RFC 7396); both are used up.
PlainValue *merge(PlainValue *target, PlainValue *patch);

/// Writes a value compactly and returns the end: never more than what it was read from.
char *write(const PlainValue &value, char *out);

}  // namespace cjson
