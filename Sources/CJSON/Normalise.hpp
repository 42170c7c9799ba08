#pragma once

#include "Internal.hpp"

#include <algorithm>
#include <cmath>

// valijson reads some numbers otherwise than JSON means them. It is shown a copy in which these are replaced, and only
// when a document has one, which is seldom:
// - A whole number that is written as a fraction (`1.0`) becomes an integer, as draft 7 wants.
// - A number beyond a signed 64-bit integer becomes a double: it would become negative.
namespace cjson {

inline bool is_whole(double number) {
    return std::trunc(number) == number && std::fabs(number) <= 9007199254740992.0;
}

inline bool needs_normalising(const json &value) {
    if (const json::Elements *elements = value.as<json::Elements>()) {
        return std::any_of(elements->begin(), elements->end(), needs_normalising);
    }
    if (const Members *members = value.as<Members>()) {
        return std::any_of(
            members->begin(), members->end(), [](const Member &member) { return needs_normalising(member.value); });
    }
    return value.is<uint64_t>() || (value.is<double>() && is_whole(value.number()));
}

inline void normalise(json &value) {
    if (json::Elements *elements = value.as<json::Elements>()) {
        for (json &element : *elements) {
            normalise(element);
        }
    } else if (Members *members = value.as<Members>()) {
        for (Member &member : *members) {
            normalise(member.value);
        }
    } else if (needs_normalising(value)) {
        const double number = value.number();
        value = value.is<double>() ? json(static_cast<int64_t>(number)) : json(number);
    }
}

}  // namespace cjson
