#include "Internal.hpp"
#include "Pointer.hpp"
#include "Reading.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace cjson {

namespace {

/// Reads a text once more, keeps track of the place, and stops at mistakes that RapidJSON accepts.
class Observer : public NumbersAsText {
public:
    Observer(const Input &input, const char *begin, const Progress &progress)
        : input_(input), begin_(begin), progress_(progress) {}

    std::optional<cjson_parse_code> code;
    size_t offset = 0;

    bool Null() { return value(); }
    bool Bool(bool) { return value(); }
    bool RawNumber(const char *text, unsigned length, bool) {
        return read_number({text, length}) ? value() : stop(CJSON_PARSE_NUMBER_TOO_LARGE, offset_of(text));
    }
    bool String(const char *, unsigned, bool) { return progress_.lone_half == nullptr && value(); }
    bool Key(const char *name, unsigned length, bool) {
        if (progress_.lone_half != nullptr) {
            return false;
        }
        Level &level = levels_.back();
        level.name = std::string(name, length);
        // The quotation mark is before the name, which was unescaped in place.
        return level.names.insert(*level.name).second || stop(CJSON_PARSE_DUPLICATE_MEMBER, offset_of(name) - 1);
    }
    bool StartObject() { return descend(false); }
    bool StartArray() { return descend(true); }
    bool EndObject(unsigned) { return ascend(); }
    bool EndArray(unsigned) { return ascend(); }

    /// A JSON Pointer to the value that is being read.
    std::string pointer() const {
        std::string text;
        for (const Level &level : levels_) {
            if (level.is_array) {
                append_token(text, std::to_string(level.elements));
            } else if (level.name) {
                append_token(text, *level.name);
            }
        }
        return text;
    }

private:
    struct Level {
        bool is_array;
        size_t elements = 0;
        std::optional<std::string> name{};
        std::set<std::string> names{};
    };

    size_t offset_of(const char *place) const { return static_cast<size_t>(place - begin_); }

    bool stop(cjson_parse_code reason, size_t at) {
        code = reason;
        offset = at;
        return false;
    }

    bool value() {
        if (!levels_.empty()) {
            ++levels_.back().elements;
        }
        return true;
    }

    bool descend(bool is_array) {
        if (levels_.size() == CJSON_MAXIMUM_DEPTH) {
            return stop(CJSON_PARSE_TOO_DEEP, input_.Tell() - 1);
        }
        levels_.push_back(Level{is_array});
        return true;
    }

    bool ascend() {
        levels_.pop_back();
        return value();
    }

    const Input &input_;
    const char *begin_;
    const Progress &progress_;
    std::vector<Level> levels_;
};

bool is_hexadecimal(char byte) {
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f') || (byte >= 'A' && byte <= 'F');
}

/// The first wrong byte in the escape at `at`, or in the second half of the surrogate pair that it begins.
size_t wrong_in_escape(std::string_view text, size_t at) {
    size_t place = at + 2;
    while (place < text.size() && place < at + 6 && is_hexadecimal(text[place])) {
        ++place;
    }
    return place == at + 6 ? wrong_in_escape(text, place) : place;
}

/// Translates RapidJSON's error into ours.
cjson_parse_failure explain(std::string_view text, const rapidjson::ParseResult &result, const Observer &observer) {
    const size_t at = result.Offset();
    const auto failed = [&](cjson_parse_code code, size_t offset, bool has_pointer = false) {
        return cjson_parse_failure{
            code, std::min(offset, text.size()), has_pointer ? make_text(observer.pointer()) : nullptr};
    };
    const auto syntax = [&](size_t offset) {
        return failed(offset < text.size() ? CJSON_PARSE_SYNTAX : CJSON_PARSE_UNEXPECTED_END, offset);
    };
    bool is_whole;
    switch (result.Code()) {
    case rapidjson::kParseErrorNumberTooBig: return failed(CJSON_PARSE_NUMBER_TOO_LARGE, at, true);
    case rapidjson::kParseErrorDocumentRootNotSingular: return failed(CJSON_PARSE_TRAILING_TEXT, at);
    case rapidjson::kParseErrorStringUnicodeSurrogateInvalid:
        // Where another escape stands in place of the second half, that is at fault, otherwise the first half.
        return failed(CJSON_PARSE_LONE_SURROGATE, at + (text.substr(at + 6, 2) == "\\u" ? 6 : 0), true);
    case rapidjson::kParseErrorStringInvalidEncoding:
        return failed(
            CJSON_PARSE_INVALID_UTF8, at + well_formed_length(text.data() + at, text.size() - at, is_whole));
    case rapidjson::kParseErrorStringUnicodeEscapeInvalidHex: return syntax(wrong_in_escape(text, at));
    case rapidjson::kParseErrorStringEscapeInvalid:
        // At the backslash of a wrong escape, or at a control character.
        return syntax(at + (text[at] == '\\' ? 1 : 0));
    default: return syntax(at);
    }
}

}  // namespace

cjson_parse_failure diagnose(std::string_view text, bool comments) {
    if (text.empty()) {
        return {CJSON_PARSE_EMPTY, 0, nullptr};
    }
    if (text.size() > maximum_text_length) {
        return {CJSON_PARSE_OUT_OF_MEMORY, 0, nullptr};
    }
    if (has_byte_order_mark(text)) {
        return {CJSON_PARSE_BYTE_ORDER_MARK, 0, nullptr};
    }
    const size_t nul = text.find('\0');
    if (nul != std::string_view::npos) {
        return {CJSON_PARSE_NUL_BYTE, nul, nullptr};
    }
    std::vector<char> copy;
    copy_for_reading(text, copy);
    Progress progress;
    Input input(copy.data(), progress);
    Observer observer(input, copy.data(), progress);
    const rapidjson::ParseResult result = go_through(input, comments, observer);
    if (progress.lone_half != nullptr) {
        const size_t offset = static_cast<size_t>(progress.lone_half - copy.data());
        return {CJSON_PARSE_LONE_SURROGATE, offset, make_text(observer.pointer())};
    }
    if (observer.code) {
        return {*observer.code, observer.offset, make_text(observer.pointer())};
    }
    return explain(text, result, observer);
}

}  // namespace cjson
