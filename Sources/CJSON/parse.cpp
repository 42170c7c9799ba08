#include "Internal.hpp"
#include "ReadingIterator.hpp"

#include <cstring>
#include <new>
#include <utility>

// Strict parsing: the library's parser calls a handler that builds the tree and refuses, in the same pass, what the
// library by itself lets through (duplicate names, any depth).

using cjson::json;
using cjson::ReadingIterator;

namespace {

/// Builds the tree, with an explicit stack of the open containers.
class Builder {
public:
    Builder(json &root, const char *begin, const char *end, const char *const *reached)
        : root_(root), begin_(begin), end_(end), reached_(reached) {}

    cjson_parse_code code = CJSON_PARSE_OK;
    size_t offset = 0;
    std::string pointer;
    bool has_pointer = false;

    bool null() { return place(json(nullptr)); }
    bool boolean(bool value) { return place(json(value)); }
    bool number_integer(json::number_integer_t value) { return place(json(value)); }
    bool number_unsigned(json::number_unsigned_t value) { return place(json(value)); }
    bool number_float(json::number_float_t value, const json::string_t &) { return place(json(value)); }
    // A copy, which takes as much memory as it needs: the library's buffer takes more, and is used for the next string.
    bool string(json::string_t &value) { return place(json(std::as_const(value))); }
    bool binary(json::binary_t &) { return false; }
    bool start_object(std::size_t) { return descend(json::object()); }
    bool start_array(std::size_t) { return descend(json::array()); }
    bool end_object() { return ascend(); }
    bool end_array() { return ascend(); }

    bool key(json::string_t &name) {
        Level &level = innermost();
        json::object_t &members = *level.container->get_ptr<json::object_t *>();
        const auto inserted = members.try_emplace(std::move(name));
        level.member = &*inserted.first;
        if (!inserted.second) {
            return fail(CJSON_PARSE_DUPLICATE_MEMBER, start_of_name(), true);
        }
        return true;
    }

    bool parse_error(std::size_t position, const std::string &, const nlohmann::detail::exception &error) {
        // Positions count the bytes read, the offending one included; the end of the input counts as one more.
        const size_t length = static_cast<size_t>(end_ - begin_);
        const size_t at = position == 0 ? 0 : position - 1;
        if (error.id == 406) {
            return fail(CJSON_PARSE_NUMBER_TOO_LARGE, start_of_number(at), true);
        }
        const char *text = error.what();
        if (std::strstr(text, "surrogate") != nullptr) {
            return fail(CJSON_PARSE_LONE_SURROGATE, start_of_escape(at), true);
        }
        if (std::strstr(text, "ill-formed UTF-8") != nullptr) {
            return fail(CJSON_PARSE_INVALID_UTF8, std::min(at, length), false);
        }
        if (at >= length) {
            return fail(CJSON_PARSE_UNEXPECTED_END, length, false);
        }
        if (finished_) {
            return fail(CJSON_PARSE_TRAILING_TEXT, start_of_rest(), false);
        }
        return fail(CJSON_PARSE_SYNTAX, at, false);
    }

private:
    struct Level {
        json *container;
        json::object_t::value_type *member;
    };

    Level &innermost() { return open_[open_levels_ - 1]; }

    json *put(json &&value) {
        if (open_levels_ == 0) {
            root_ = std::move(value);
            return &root_;
        }
        Level &level = innermost();
        if (level.member != nullptr) {
            level.member->second = std::move(value);
            return &level.member->second;
        }
        json::array_t &elements = *level.container->get_ptr<json::array_t *>();
        elements.push_back(std::move(value));
        return &elements.back();
    }

    bool place(json &&value) {
        put(std::move(value));
        finish();
        return true;
    }

    bool descend(json &&container) {
        if (open_levels_ == CJSON_MAXIMUM_DEPTH) {
            return fail(CJSON_PARSE_TOO_DEEP, static_cast<size_t>(*reached_ - begin_) - 1, true);
        }
        // Growing an array moves its elements, but never while one of them is open: addresses on the stack hold.
        json *opened = put(std::move(container));
        open_[open_levels_++] = {opened, nullptr};
        return true;
    }

    bool ascend() {
        --open_levels_;
        finish();
        return true;
    }

    void finish() {
        if (open_levels_ == 0) {
            finished_ = true;
            end_of_value_ = static_cast<size_t>(*reached_ - begin_);
        }
    }

    bool fail(cjson_parse_code reason, size_t at, bool pointed) {
        code = reason;
        offset = at;
        has_pointer = pointed;
        if (pointed) {
            for (size_t index = 0; index < open_levels_; ++index) {
                const Level &level = open_[index];
                if (level.member != nullptr) {
                    cjson::append_token(pointer, level.member->first);
                } else if (level.container->is_array()) {
                    // The element being read is not in the array yet, but an open one below it is.
                    const size_t count = level.container->size();
                    cjson::append_token(pointer, std::to_string(index + 1 == open_levels_ ? count : count - 1));
                }
            }
        }
        return false;
    }

    /// The opening quotation mark of the string that has just been read: the nearest that no backslash escapes.
    size_t start_of_name() const {
        const char *quote = *reached_ - 1;
        while (--quote > begin_) {
            const char *slash = quote;
            while (slash > begin_ && slash[-1] == '\\') {
                --slash;
            }
            if (*quote == '"' && (quote - slash) % 2 == 0) {
                break;
            }
        }
        return static_cast<size_t>(quote - begin_);
    }

    size_t start_of_number(size_t at) const {
        at = std::min(at, static_cast<size_t>(end_ - begin_));
        while (at > 0 && std::strchr("+-.0123456789eE", begin_[at - 1]) != nullptr) {
            --at;
        }
        return at;
    }

    /// The first byte after the outermost value that is no white space.
    size_t start_of_rest() const {
        // Only the byte after a number tells that the number has ended, so it has been read too.
        size_t at = end_of_value_ - (root_.is_number() ? 1 : 0);
        while (begin_ + at < end_ && std::strchr(" \t\r\n", begin_[at]) != nullptr) {
            ++at;
        }
        return at;
    }

    /// The backslash of the escape that is a surrogate with no partner.
    size_t start_of_escape(size_t at) const {
        at = std::min(at, static_cast<size_t>(end_ - begin_));
        while (at > 0 && begin_[at] != '\\') {
            --at;
        }
        return at;
    }

    json &root_;
    const char *begin_;
    const char *end_;
    const char *const *reached_;
    // Not filled with zeros beforehand: only the first `open_levels_` are ever read.
    Level open_[CJSON_MAXIMUM_DEPTH];
    size_t open_levels_ = 0;
    bool finished_ = false;
    size_t end_of_value_ = 0;
};

bool fail(cjson_parse_failure &failure, cjson_parse_code code, size_t offset) {
    failure = {code, offset, nullptr};
    return false;
}

}  // namespace

bool cjson::parse(
    const uint8_t *bytes, size_t length, bool comments, json &result, cjson_parse_failure &failure) noexcept {
    failure = {CJSON_PARSE_OK, 0, nullptr};
    if (length == 0) {
        return fail(failure, CJSON_PARSE_EMPTY, 0);
    }
    // The library would skip the one and take the other for the end of the input.
    if (length >= 3 && bytes[0] == 0xEF && bytes[1] == 0xBB && bytes[2] == 0xBF) {
        return fail(failure, CJSON_PARSE_BYTE_ORDER_MARK, 0);
    }
    if (const void *nul = std::memchr(bytes, 0, length)) {
        return fail(failure, CJSON_PARSE_NUL_BYTE, static_cast<size_t>(static_cast<const uint8_t *>(nul) - bytes));
    }
    try {
        const char *begin = reinterpret_cast<const char *>(bytes);
        const char *end = begin + length;
        const char *reached = begin;
        Builder builder(result, begin, end, &reached);
        const bool parsed = json::sax_parse(
            ReadingIterator(begin, &reached), ReadingIterator(end, &reached), &builder, json::input_format_t::json,
            true, comments);
        if (parsed) {
            return true;
        }
        failure = {builder.code, builder.offset, nullptr};
        if (builder.has_pointer) {
            failure.pointer = cjson::make_text(std::move(builder.pointer));
        }
        return false;
    } catch (...) {
        return fail(failure, CJSON_PARSE_OUT_OF_MEMORY, 0);
    }
}

cjson_value *cjson_parse(const uint8_t *bytes, size_t length, bool comments, cjson_parse_failure *failure) {
    json *value = new (std::nothrow) json;
    if (value == nullptr) {
        *failure = {CJSON_PARSE_OUT_OF_MEMORY, 0, nullptr};
        return nullptr;
    }
    if (cjson::parse(bytes, length, comments, *value, *failure)) {
        return cjson::wrap(value);
    }
    cjson_free(cjson::wrap(value));
    return nullptr;
}
