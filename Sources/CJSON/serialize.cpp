#include "Internal.hpp"

// Serialising values.

using cjson::json;

namespace {

/// The library's serialiser with the text that it writes to. `json::dump` makes both anew for every value, which is
/// most of the work for a small one: so a thread keeps its own.
class Writer {
public:
    const std::string &write(const json &value) {
        if (text_.capacity() > most_kept) {
            text_ = std::string();
        }
        text_.clear();
        serializer_.dump(value, false, false, 0);
        return text_;
    }

private:
    /// A thread does not hold on to more than that for a large text that it wrote once.
    static constexpr size_t most_kept = 64 * 1024;

    std::string text_;
    nlohmann::detail::serializer<json> serializer_{
        nlohmann::detail::output_adapter<char, std::string>(text_), ' ', json::error_handler_t::replace};
};

const uint8_t *bytes_of(const std::string &text, size_t *length) {
    *length = text.size();
    return reinterpret_cast<const uint8_t *>(text.data());
}

}  // namespace

const std::string &cjson::serialized(const json &value) {
    static thread_local Writer writer;
    return writer.write(value);
}

const uint8_t *cjson_serialize(const cjson_value *value, size_t *length) {
    try {
        return bytes_of(cjson::serialized(cjson::unwrap(value)), length);
    } catch (...) {
        return nullptr;
    }
}

const uint8_t *cjson_quote(const uint8_t *bytes, size_t length, size_t *quoted_length) {
    try {
        const json text = length == 0 ? std::string() : std::string(reinterpret_cast<const char *>(bytes), length);
        return bytes_of(cjson::serialized(text), quoted_length);
    } catch (...) {
        return nullptr;
    }
}
