#pragma once

#include <string>
#include <string_view>

namespace cjson {

/// A value of `format` that is asserted.
struct SchemaFormat {
    std::string_view name;
    /// What a text of that format is, for a sentence.
    const char *phrase;
    bool (*matches)(const std::string &text);

    /// The format of that name, or NULL: others assert nothing.
    static const SchemaFormat *named(std::string_view name);

    /// All names, for a sentence.
    static std::string names();
};

}  // namespace cjson
