#include "Internal.hpp"

#include <cmath>

// Making and reading values.

using cjson::json;
using cjson::own;
using cjson::unwrap;
using cjson::wrap;

namespace {

/// Runs `make`; an exception, which can only be want of memory, becomes NULL.
template <typename Make>
auto guarded(Make make) noexcept -> decltype(make()) {
    try {
        return make();
    } catch (...) {
        return {};
    }
}

std::string string_of(const uint8_t *bytes, size_t length) {
    return length == 0 ? std::string() : std::string(reinterpret_cast<const char *>(bytes), length);
}

}  // namespace

const uint8_t *cjson_text_bytes(const cjson_text *text, size_t *length) {
    const std::string &string = *reinterpret_cast<const std::string *>(text);
    *length = string.size();
    return reinterpret_cast<const uint8_t *>(string.data());
}

void cjson_text_free(cjson_text *text) { delete reinterpret_cast<std::string *>(text); }

cjson_value *cjson_new_null(void) {
    return guarded([] { return own(json(nullptr)); });
}

cjson_value *cjson_new_bool(bool value) {
    return guarded([&] { return own(json(value)); });
}

// Parsing makes every whole number that is not negative unsigned; what is made here is the same kind.
cjson_value *cjson_new_integer(int64_t value) {
    return guarded([&] { return own(value < 0 ? json(value) : json(static_cast<uint64_t>(value))); });
}

cjson_value *cjson_new_unsigned(uint64_t value) {
    return guarded([&] { return own(json(value)); });
}

cjson_value *cjson_new_double(double value) {
    return guarded([&] { return own(std::isfinite(value) ? json(value) : json(nullptr)); });
}

cjson_value *cjson_new_string(const uint8_t *bytes, size_t length) {
    return guarded([&] { return own(json(string_of(bytes, length))); });
}

cjson_value *cjson_new_array(void) {
    return guarded([] { return own(json::array()); });
}

cjson_value *cjson_new_object(void) {
    return guarded([] { return own(json::object()); });
}

bool cjson_array_append(cjson_value *array, const cjson_value *element) {
    return guarded([&] {
        unwrap(array)->push_back(unwrap(element));
        return true;
    });
}

bool cjson_object_set(cjson_value *object, const uint8_t *name, size_t length, const cjson_value *member) {
    return guarded([&] {
        (*unwrap(object))[string_of(name, length)] = unwrap(member);
        return true;
    });
}

void cjson_free(cjson_value *value) {
    if (value != nullptr) {
        cjson::clear(*unwrap(value));
        delete unwrap(value);
    }
}

cjson_kind cjson_kind_of(const cjson_value *value) {
    switch (unwrap(value).type()) {
    case json::value_t::boolean: return CJSON_BOOL;
    case json::value_t::number_integer: return CJSON_INTEGER;
    case json::value_t::number_unsigned: return CJSON_UNSIGNED;
    case json::value_t::number_float: return CJSON_DOUBLE;
    case json::value_t::string: return CJSON_STRING;
    case json::value_t::array: return CJSON_ARRAY;
    case json::value_t::object: return CJSON_OBJECT;
    case json::value_t::null:
    case json::value_t::binary:
    case json::value_t::discarded: return CJSON_NULL;
    }
    return CJSON_NULL;
}

bool cjson_bool(const cjson_value *value) {
    const bool *boolean = unwrap(value).get_ptr<const bool *>();
    return boolean != nullptr && *boolean;
}

bool cjson_integer(const cjson_value *value, int64_t *result) {
    const json &number = unwrap(value);
    if (const uint64_t *whole = number.get_ptr<const uint64_t *>()) {
        if (*whole > static_cast<uint64_t>(INT64_MAX)) {
            return false;
        }
        *result = static_cast<int64_t>(*whole);
        return true;
    }
    if (const int64_t *whole = number.get_ptr<const int64_t *>()) {
        *result = *whole;
        return true;
    }
    if (const double *real = number.get_ptr<const double *>()) {
        // 2^63 itself is a double and does not fit.
        if (!(*real >= -9223372036854775808.0 && *real < 9223372036854775808.0) || std::trunc(*real) != *real) {
            return false;
        }
        *result = static_cast<int64_t>(*real);
        return true;
    }
    return false;
}

bool cjson_double(const cjson_value *value, double *result) {
    const json &number = unwrap(value);
    if (!number.is_number()) {
        return false;
    }
    return guarded([&] {
        *result = number.get<double>();
        return true;
    });
}

const uint8_t *cjson_string(const cjson_value *value, size_t *length) {
    const std::string *string = unwrap(value).get_ptr<const std::string *>();
    if (string == nullptr) {
        return nullptr;
    }
    *length = string->size();
    return reinterpret_cast<const uint8_t *>(string->data());
}

size_t cjson_count(const cjson_value *value) {
    const json &container = unwrap(value);
    return container.is_structured() ? container.size() : 0;
}

const cjson_value *cjson_element(const cjson_value *array, size_t index) {
    const json::array_t *elements = unwrap(array).get_ptr<const json::array_t *>();
    return elements != nullptr && index < elements->size() ? wrap(&(*elements)[index]) : nullptr;
}

const cjson_value *cjson_member(const cjson_value *object, const uint8_t *name, size_t length) {
    const json::object_t *members = unwrap(object).get_ptr<const json::object_t *>();
    if (members == nullptr) {
        return nullptr;
    }
    return guarded([&]() -> const cjson_value * {
        const auto found = members->find(string_of(name, length));
        return found == members->end() ? nullptr : wrap(&found->second);
    });
}

void cjson_each_member(
    const cjson_value *object, void *context,
    bool (*visit)(void *context, const uint8_t *name, size_t length, const cjson_value *member)) {
    const json::object_t *members = unwrap(object).get_ptr<const json::object_t *>();
    if (members == nullptr) {
        return;
    }
    for (const auto &member : *members) {
        const uint8_t *name = reinterpret_cast<const uint8_t *>(member.first.data());
        if (!visit(context, name, member.first.size(), wrap(&member.second))) {
            return;
        }
    }
}

bool cjson_equal(const cjson_value *one, const cjson_value *other) {
    return guarded([&] { return unwrap(one) == unwrap(other); });
}

size_t cjson_depth(const cjson_value *value) {
    return guarded([&] { return cjson::depth(unwrap(value)); });
}
