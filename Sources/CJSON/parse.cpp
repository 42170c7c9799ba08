#include "Internal.hpp"
#include "Reading.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>

// Strict parsing. The first pass over a text makes the value, or fails; only then a second pass finds out why and where
// (Diagnosis.cpp), so that the first one keeps no record.

using cjson::json;
using cjson::Members;

namespace {

/// Builds the tree with an explicit stack of open arrays and objects.
class Builder : public cjson::NumbersAsText {
public:
    Builder(json &root, const cjson::Progress &progress) : root_(root), progress_(progress) {}

    bool Null() { return put<std::nullptr_t>(); }
    bool Bool(bool value) { return put<bool>(value); }
    bool RawNumber(const char *text, unsigned length, bool) {
        const std::optional<cjson::Number> number = cjson::read_number({text, length});
        return number && std::visit([&](auto value) { return put<decltype(value)>(value); }, *number);
    }
    bool String(const char *text, unsigned length, bool) {
        return put<std::string>(text, length) && progress_.lone_half == nullptr;
    }
    bool Key(const char *name, unsigned length, bool) {
        place_ = &innermost().as<Members>()->append(std::string_view(name, length));
        return progress_.lone_half == nullptr;
    }
    bool StartObject() { return descend<Members>(); }
    bool StartArray() { return descend<json::Elements>(); }
    bool EndObject(unsigned) { return innermost().as<Members>()->settle() && ascend(); }
    bool EndArray(unsigned) { return ascend(); }

private:
    json &innermost() { return *open_[open_levels_ - 1]; }

    json &make_place() {
        if (open_levels_ == 0) {
            return root_;
        }
        json::Elements *elements = innermost().as<json::Elements>();
        return elements == nullptr ? *place_ : elements->emplace_back();
    }

    template <typename Kind, typename... Arguments>
    bool put(Arguments... arguments) {
        make_place().emplace<Kind>(arguments...);
        return true;
    }

    template <typename Kind>
    bool descend() {
        if (open_levels_ == CJSON_MAXIMUM_DEPTH) {
            return false;
        }
        // Growing a container moves its elements, but it never grows while one of them is open: addresses stay valid.
        json &opened = make_place();
        opened.emplace<Kind>();
        open_[open_levels_++] = &opened;
        return true;
    }

    bool ascend() {
        --open_levels_;
        return true;
    }

    json &root_;
    const cjson::Progress &progress_;
    /// The place for the value of the member whose name was read last.
    json *place_ = nullptr;
    // Not initialised: only the first `open_levels_` are ever read.
    json *open_[CJSON_MAXIMUM_DEPTH];
    size_t open_levels_ = 0;
};

}  // namespace

namespace cjson {

bool is_unreadable(std::string_view text) {
    return text.empty() || text.size() > maximum_text_length || has_byte_order_mark(text)
        || std::memchr(text.data(), 0, text.size()) != nullptr;
}

void copy_for_reading(std::string_view text, std::vector<char> &copy) {
    // One NUL ends the text; from there, eight bytes may be read at once, or three as the rest of a character.
    constexpr size_t behind = 16;
    copy.resize(text.size() + behind);
    std::memcpy(copy.data(), text.data(), text.size());
    std::memset(copy.data() + text.size(), 0, behind);
}

std::optional<Number> read_number(std::string_view text) {
    const char *end = text.data() + text.size();
    int64_t integer = 0;
    const std::from_chars_result whole = std::from_chars(text.data(), end, integer);
    if (whole.ptr == end) {
        if (whole.ec == std::errc()) {
            return integer;
        }
        uint64_t large = 0;
        if (std::from_chars(text.data(), end, large).ec == std::errc()) {
            return large;
        }
    }
    double real = 0;
    if (std::from_chars(text.data(), end, real).ec != std::errc()) {
        // Too large, or so near to 0 that it is 0: from_chars does not say which. (The C locale is in force.)
        real = std::strtod(std::string(text).c_str(), nullptr);
        if (!std::isfinite(real)) {
            return std::nullopt;
        }
    }
    return real;
}

bool read(std::string_view text, bool comments, json &result) {
    if (is_unreadable(text)) {
        return false;
    }
    static thread_local std::vector<char> copy;
    copy_for_reading(text, copy);
    Progress progress;
    Input input(copy.data(), progress);
    Builder builder(result, progress);
    const bool is_sound = !go_through(input, comments, builder).IsError();
    // A thread keeps no more than this after it has read a large text.
    constexpr size_t most_kept = 64 * 1024;
    if (copy.capacity() > most_kept) {
        copy = std::vector<char>();
    }
    return is_sound;
}

}  // namespace cjson

cjson_value *cjson_parse(const uint8_t *bytes, size_t length, bool comments, cjson_parse_failure *failure) {
    const std::string_view text = cjson::text_of(bytes, length);
    try {
        auto value = std::make_unique<json>();
        if (cjson::read(text, comments, *value)) {
            return cjson::wrap(value.release());
        }
        value.reset();
        *failure = cjson::diagnose(text, comments);
    } catch (...) {
        *failure = {CJSON_PARSE_OUT_OF_MEMORY, 0, nullptr};
    }
    return nullptr;
}
