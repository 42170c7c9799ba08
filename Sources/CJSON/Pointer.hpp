#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// JSON Pointers (RFC 6901).
namespace cjson {

using Tokens = std::vector<std::string>;

/// Adds `/token`, escaped.
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

/// The reference tokens of a pointer, or nothing when the text is not a pointer.
inline std::optional<Tokens> parse_pointer(const std::string &text) {
    Tokens tokens;
    if (text.empty()) {
        return tokens;
    }
    if (text[0] != '/') {
        return std::nullopt;
    }
    for (size_t index = 0; index < text.size(); ++index) {
        const char character = text[index];
        if (character == '/') {
            tokens.emplace_back();
        } else if (character != '~') {
            tokens.back().push_back(character);
        } else if (index + 1 < text.size() && (text[index + 1] == '0' || text[index + 1] == '1')) {
            tokens.back().push_back(text[++index] == '0' ? '~' : '/');
        } else {
            return std::nullopt;
        }
    }
    return tokens;
}

/// An array index: digits without leading zeros.
inline std::optional<size_t> parse_index(const std::string &token) {
    if (token.empty() || token.size() > 18 || (token.size() > 1 && token[0] == '0')) {
        return std::nullopt;
    }
    size_t index = 0;
    for (char character : token) {
        if (character < '0' || character > '9') {
            return std::nullopt;
        }
        index = index * 10 + static_cast<size_t>(character - '0');
    }
    return index;
}

}  // namespace cjson
