#pragma once

#include <string>
#include <string_view>

// URI references, as `$id` and `$ref` hold them (RFC 3986).
namespace cjson {

/// What comes before the `#` of a reference.
std::string_view without_fragment(std::string_view reference);

/// What comes after the `#` of a reference, decoded; nothing where it has none. False for a `%` without two digits.
bool read_fragment(std::string_view reference, std::string &fragment);

/// The URI that a reference means where `base` is the base URI (RFC 3986, section 5.2), without a fragment.
std::string resolve(std::string_view base, std::string_view reference);

}  // namespace cjson
