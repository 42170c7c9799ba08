#pragma once

#include "PlainText.hpp"
#include "Tree.hpp"

#include <optional>
#include <stdexcept>
#include <string_view>
#include <variant>
#include <vector>

// How RapidJSON's reader is used: on a copy of the text, in which it unescapes strings in place, so that it allocates
// nothing, and with numbers left as text, because its own conversion is not exact in Debian's release. It is in a
// namespace of its own, so that a program may have another version elsewhere, and a failed assertion throws instead of
// ending the process.
#define RAPIDJSON_NAMESPACE cjson::rapidjson
#define RAPIDJSON_NAMESPACE_BEGIN namespace cjson { namespace rapidjson {
#define RAPIDJSON_NAMESPACE_END } }
#define RAPIDJSON_ASSERT(condition) ((condition) ? (void)0 : throw std::logic_error("RapidJSON"))

#include <rapidjson/reader.h>

namespace cjson {

/// What happens while reading that the reader's events do not tell.
struct Progress {
    /// The byte after the closing quotation mark of the last string.
    const char *end_of_string = nullptr;
    /// The first escape that is the second half of a surrogate pair without the first: RapidJSON accepts it.
    const char *lone_half = nullptr;
};

/// The stream that the library reads from and unescapes into.
class Input {
public:
    using Ch = char;

    Input(char *text, Progress &progress) : source_(text), begin_(text), progress_(&progress) {}

    char Peek() const { return *source_; }
    char Take() { return *source_++; }
    size_t Tell() const { return static_cast<size_t>(source_ - begin_); }
    char *PutBegin() { return target_ = source_; }
    void Put(char byte) { *target_++ = byte; }
    void Flush() {}
    size_t PutEnd(char *begin) {
        progress_->end_of_string = source_;
        return static_cast<size_t>(target_ - begin);
    }

    /// Takes a run of bytes that stand for themselves, all at once; false when there are none.
    bool take_plain() {
        const size_t length = plain_length(source_);
        if (target_ != source_) {
            std::memmove(target_, source_, length);
        }
        source_ += length;
        target_ += length;
        return length != 0;
    }

    /// Records the escape that has just been read as a lone half.
    void refuse_escape() {
        constexpr size_t length = 6;
        if (progress_->lone_half == nullptr) {
            progress_->lone_half = source_ - length;
        }
    }

private:
    char *source_;
    char *target_ = nullptr;
    char *begin_;
    Progress *progress_;
};

/// RapidJSON copies the stream for each string and each number, and the compiler keeps the copy in registers.
template <>
struct rapidjson::StreamTraits<Input> {
    enum { copyOptimization = 1 };
};

/// RapidJSON's UTF-8, but runs of plain bytes are taken at once, and lone halves of surrogate pairs are recorded.
struct Utf8 : rapidjson::UTF8<char> {
    // For code paths of RapidJSON that are compiled and never run.
    using rapidjson::UTF8<char>::Encode;
    using rapidjson::UTF8<char>::Validate;

    static bool Validate(Input &input, Input &output) {
        return input.take_plain() || rapidjson::UTF8<char>::Validate(input, output);
    }

    static void Encode(Input &output, unsigned character) {
        if (character >= 0xDC00 && character <= 0xDFFF) {
            output.refuse_escape();
        }
        rapidjson::UTF8<char>::Encode(output, character);
    }
};

/// The longest text that may be read: RapidJSON counts bytes, members and digits in 32 bits, some of them signed.
constexpr size_t maximum_text_length = 1 << 30;

/// Copies a text and adds the NUL bytes that the reader needs after it.
void copy_for_reading(std::string_view text, std::vector<char> &copy);

/// A number, as one of the types of values.
using Number = std::variant<int64_t, uint64_t, double>;

/// The value of a number in JSON text; nothing when it is beyond a double.
std::optional<Number> read_number(std::string_view text);

/// Whether a text begins with a byte order mark.
inline bool has_byte_order_mark(std::string_view text) { return text.substr(0, 3) == "\xEF\xBB\xBF"; }

/// Whether RapidJSON must not see a text, such as one with a NUL byte, which it would take for the end.
bool is_unreadable(std::string_view text);

/// The functions that RapidJSON wants for numbers that it has converted; it is told to convert none.
struct NumbersAsText {
    bool Int(int) { return false; }
    bool Uint(unsigned) { return false; }
    bool Int64(int64_t) { return false; }
    bool Uint64(uint64_t) { return false; }
    bool Double(double) { return false; }
};

/// Reads a text that is not unreadable. `Handler` has the functions that RapidJSON wants of a handler.
template <typename Handler>
rapidjson::ParseResult go_through(Input &input, bool comments, Handler &handler) {
    constexpr unsigned flags = rapidjson::kParseInsituFlag | rapidjson::kParseValidateEncodingFlag
        | rapidjson::kParseNumbersAsStringsFlag;
    rapidjson::GenericReader<Utf8, Utf8> reader;
    return comments ? reader.Parse<flags | rapidjson::kParseCommentsFlag>(input, handler)
                    : reader.Parse<flags>(input, handler);
}

}  // namespace cjson
