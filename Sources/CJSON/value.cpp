#include "Internal.hpp"

#include <cmath>
#include <iterator>

// Making and reading values.

using cjson::bytes_of;
using cjson::guarded;
using cjson::json;
using cjson::Member;
using cjson::Members;
using cjson::own;
using cjson::text_of;
using cjson::unwrap;
using cjson::wrap;

namespace {

// The recursion is bounded, because parsing and patching bound the depth.
void weigh(const json &value, size_t &weight, size_t limit) {
    constexpr size_t bytes = 32;
    weight += 1 + value.text().size() / bytes;
    for (const json &element : value.elements()) {
        if (weight >= limit) {
            return;
        }
        weigh(element, weight, limit);
    }
    for (const Member &member : value.members()) {
        if (weight >= limit) {
            return;
        }
        weight += member.name.size() / bytes;
        weigh(member.value, weight, limit);
    }
}

}  // namespace

const uint8_t *cjson_text_bytes(const cjson_text *text, size_t *length) {
    return bytes_of(*reinterpret_cast<const std::string *>(text), length);
}

void cjson_text_free(cjson_text *text) { delete reinterpret_cast<std::string *>(text); }

cjson_value *cjson_new_null(void) {
    return guarded([] { return own(json()); });
}

cjson_value *cjson_new_bool(bool value) {
    return guarded([&] { return own(json(value)); });
}

cjson_value *cjson_new_integer(int64_t value) {
    return guarded([&] { return own(json(value)); });
}

cjson_value *cjson_new_unsigned(uint64_t value) {
    return guarded([&] { return own(json::whole(value)); });
}

cjson_value *cjson_new_double(double value) {
    return guarded([&] { return own(std::isfinite(value) ? json(value) : json()); });
}

cjson_value *cjson_new_string(const uint8_t *bytes, size_t length) {
    return guarded([&] { return own(json(std::string(text_of(bytes, length)))); });
}

cjson_value *cjson_new_array(void) {
    return guarded([] { return own(json(json::Elements())); });
}

cjson_value *cjson_new_object(void) {
    return guarded([] { return own(json(Members())); });
}

bool cjson_array_append(cjson_value *array, const cjson_value *element) {
    return guarded([&] {
        unwrap(array)->as<json::Elements>()->push_back(unwrap(element));
        return true;
    });
}

bool cjson_object_set(cjson_value *object, const uint8_t *name, size_t length, const cjson_value *member) {
    return guarded([&] {
        (*unwrap(object)->as<Members>())[text_of(name, length)] = unwrap(member);
        return true;
    });
}

cjson_value *cjson_copy(const cjson_value *value) {
    return guarded([&] { return own(json(unwrap(value))); });
}

void cjson_free(cjson_value *value) { delete unwrap(value); }

cjson_kind cjson_kind_of(const cjson_value *value) {
    static constexpr cjson_kind kinds[] = {CJSON_NULL,   CJSON_BOOL,   CJSON_INTEGER, CJSON_UNSIGNED,
                                           CJSON_DOUBLE, CJSON_STRING, CJSON_ARRAY,   CJSON_OBJECT};
    static_assert(std::size(kinds) == std::variant_size_v<json::Data>);
    return kinds[unwrap(value).data().index()];
}

bool cjson_bool(const cjson_value *value) { return unwrap(value).is_true(); }

bool cjson_integer(const cjson_value *value, int64_t *result) {
    const json &number = unwrap(value);
    if (const int64_t *whole = number.as<int64_t>()) {
        *result = *whole;
        return true;
    }
    if (const double *real = number.as<double>()) {
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
    *result = unwrap(value).number();
    return unwrap(value).is_number();
}

const uint8_t *cjson_string(const cjson_value *value, size_t *length) {
    const std::string *string = unwrap(value).as<std::string>();
    return string == nullptr ? nullptr : bytes_of(*string, length);
}

size_t cjson_count(const cjson_value *value) {
    return unwrap(value).elements().size() + unwrap(value).members().size();
}

const cjson_value *cjson_element(const cjson_value *array, size_t index) {
    const json::Elements &elements = unwrap(array).elements();
    return index < elements.size() ? wrap(&elements[index]) : nullptr;
}

const cjson_value *cjson_member(const cjson_value *object, const uint8_t *name, size_t length) {
    return wrap(unwrap(object).find(text_of(name, length)));
}

const cjson_value *cjson_member_at(const cjson_value *object, size_t index, const uint8_t **name, size_t *length) {
    const Member &member = unwrap(object).members().begin()[index];
    *name = bytes_of(member.name, length);
    return wrap(&member.value);
}

bool cjson_equal(const cjson_value *one, const cjson_value *other) { return unwrap(one) == unwrap(other); }

size_t cjson_depth(const cjson_value *value) { return cjson::depth(unwrap(value)); }

size_t cjson_weight(const cjson_value *value, size_t limit) {
    size_t weight = 0;
    weigh(unwrap(value), weight, limit);
    return weight;
}
