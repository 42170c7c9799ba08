#include "Internal.hpp"
#include "Writing.hpp"

// Serialising values.

using cjson::json;

namespace {

/// A writer and its buffer. Each thread keeps one for all its values.
class Serializer {
public:
    std::string_view write(const json &value) {
        text_.clear();
        writer_.Reset(text_);
        write_value(value);
        return text_.text();
    }

private:
    void write_value(const json &value) {
        if (const std::string *string = value.as<std::string>()) {
            writer_.String(string->data(), string->size());
        } else if (value.is_object()) {
            writer_.StartObject();
            for (const cjson::Member &member : value.members()) {
                writer_.String(member.name.data(), member.name.size());
                write_value(member.value);
            }
            writer_.EndObject();
        } else if (value.is_array()) {
            writer_.StartArray();
            for (const json &element : value.elements()) {
                write_value(element);
            }
            writer_.EndArray();
        } else if (const int64_t *integer = value.as<int64_t>()) {
            writer_.Int64(*integer);
        } else if (const uint64_t *whole = value.as<uint64_t>()) {
            writer_.Uint64(*whole);
        } else if (const double *real = value.as<double>()) {
            writer_.Double(*real);
        } else if (const bool *boolean = value.as<bool>()) {
            writer_.Bool(*boolean);
        } else {
            writer_.Null();
        }
    }

    cjson::Output text_;
    cjson::Writer writer_;
};

const uint8_t *bytes_of(std::string_view text, size_t *length) {
    *length = text.size();
    return reinterpret_cast<const uint8_t *>(text.data());
}

}  // namespace

std::string_view cjson::serialized(const json &value) {
    static thread_local Serializer serializer;
    return serializer.write(value);
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
        const json text(length == 0 ? std::string() : std::string(reinterpret_cast<const char *>(bytes), length));
        return bytes_of(cjson::serialized(text), quoted_length);
    } catch (...) {
        return nullptr;
    }
}
