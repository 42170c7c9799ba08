#include "CompiledSchema.hpp"

#include <algorithm>
#include <charconv>

namespace cjson {

namespace {

/// The parts of a reference, each with its delimiter: `scheme:`, `//authority`, `path`, `?query`.
struct Parts {
    std::string_view scheme, authority, path, query;

    explicit Parts(std::string_view text) {
        text = without_fragment(text);
        const size_t colon = text.find_first_of(":/?");
        if (colon != std::string_view::npos && colon > 0 && text[colon] == ':') {
            scheme = take(text, colon + 1);
        }
        if (text.substr(0, 2) == "//") {
            authority = take(text, std::min(text.find_first_of("/?", 2), text.size()));
        }
        path = take(text, std::min(text.find('?'), text.size()));
        query = text;
    }

private:
    static std::string_view take(std::string_view &text, size_t length) {
        const std::string_view taken = text.substr(0, length);
        text.remove_prefix(length);
        return taken;
    }
};

/// The path without `.` and `..` (RFC 3986, section 5.2.4).
std::string without_dots(std::string_view path) {
    std::string result;
    while (!path.empty()) {
        const std::string_view segment = path.substr(0, path.find('/', 1));
        path.remove_prefix(segment.size());
        const std::string_view name = segment.substr(segment[0] == '/' ? 1 : 0);
        if (name == "..") {
            const size_t last = result.rfind('/');
            result.erase(last == std::string::npos ? 0 : last);
        }
        if (name != "." && name != "..") {
            result += segment;
        } else if (path.empty()) {
            result += '/';
        }
    }
    return result;
}

/// A relative path where a base path is in force (RFC 3986, section 5.2.3).
std::string merged(const Parts &base, std::string_view path) {
    if (path[0] == '/') {
        return std::string(path);
    }
    const std::string_view folder = base.path.substr(0, base.path.rfind('/') + 1);
    const bool is_bare = !base.authority.empty() && base.path.empty();
    return (is_bare ? "/" : std::string(folder)) + std::string(path);
}

}  // namespace

std::string_view without_fragment(std::string_view reference) { return reference.substr(0, reference.find('#')); }

bool read_fragment(std::string_view reference, std::string &fragment) {
    fragment.clear();
    reference.remove_prefix(std::min(without_fragment(reference).size() + 1, reference.size()));
    for (; !reference.empty(); reference.remove_prefix(1)) {
        if (reference[0] != '%') {
            fragment.push_back(reference[0]);
            continue;
        }
        unsigned char byte = 0;
        const char *digits = reference.data() + 1;
        if (reference.size() < 3 || std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2) {
            return false;
        }
        fragment.push_back(static_cast<char>(byte));
        reference.remove_prefix(2);
    }
    return true;
}

std::string resolve(std::string_view base_text, std::string_view reference_text) {
    const Parts base(base_text);
    const Parts reference(reference_text);
    const auto joined = [&](std::string_view scheme, std::string_view authority, std::string path, auto query) {
        return std::string(scheme).append(authority).append(path).append(query);
    };
    if (!reference.scheme.empty()) {
        return joined(reference.scheme, reference.authority, without_dots(reference.path), reference.query);
    }
    if (!reference.authority.empty()) {
        return joined(base.scheme, reference.authority, without_dots(reference.path), reference.query);
    }
    if (reference.path.empty()) {
        const std::string_view query = reference.query.empty() ? base.query : reference.query;
        return joined(base.scheme, base.authority, std::string(base.path), query);
    }
    return joined(base.scheme, base.authority, without_dots(merged(base, reference.path)), reference.query);
}

}  // namespace cjson
