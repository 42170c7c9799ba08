#include "Internal.hpp"
#include "ReadingIterator.hpp"

#include <cstring>
#include <memory>
#include <vector>

// Reading without a tree: the library's parser tells what it comes to, and that is written down.

using cjson::json;
using cjson::ReadingIterator;

struct cjson_tokens {
    std::vector<cjson_token> list;
    std::string texts;
};

namespace {

/// What the parser tells. Whatever it refuses ends the reading: nobody asks why.
class TokenList {
public:
    TokenList(cjson_tokens &tokens, const char *begin, const char *const *reached)
        : tokens_(tokens), begin_(begin), reached_(reached) {}

    bool null() { return add(CJSON_TOKEN_NULL); }
    bool boolean(bool value) { return add(value ? CJSON_TOKEN_TRUE : CJSON_TOKEN_FALSE); }

    bool number_integer(json::number_integer_t value) {
        add(CJSON_TOKEN_INTEGER);
        tokens_.list.back().integer = value;
        return true;
    }

    bool number_unsigned(json::number_unsigned_t value) {
        // Up to there, both are the same bits.
        add(value > static_cast<uint64_t>(INT64_MAX) ? CJSON_TOKEN_UNSIGNED : CJSON_TOKEN_INTEGER);
        tokens_.list.back().whole = value;
        return true;
    }

    bool number_float(json::number_float_t value, const json::string_t &) {
        add(CJSON_TOKEN_DOUBLE);
        tokens_.list.back().real = value;
        return true;
    }

    bool string(json::string_t &value) { return add(CJSON_TOKEN_STRING, value); }
    bool key(json::string_t &name) { return add(CJSON_TOKEN_NAME, name); }
    bool binary(json::binary_t &) { return false; }
    bool start_object(std::size_t) { return add(CJSON_TOKEN_BEGIN_OBJECT); }
    bool start_array(std::size_t) { return add(CJSON_TOKEN_BEGIN_ARRAY); }
    bool end_object() { return add(CJSON_TOKEN_END_OBJECT); }
    bool end_array() { return add(CJSON_TOKEN_END_ARRAY); }
    bool parse_error(std::size_t, const std::string &, const nlohmann::detail::exception &) { return false; }

private:
    bool add(cjson_token_kind kind) {
        cjson_token token{};
        token.kind = kind;
        token.end = static_cast<size_t>(*reached_ - begin_);
        tokens_.list.push_back(token);
        return true;
    }

    bool add(cjson_token_kind kind, const json::string_t &text) {
        add(kind);
        tokens_.list.back().text = {tokens_.texts.size(), text.size()};
        tokens_.texts += text;
        return true;
    }

    cjson_tokens &tokens_;
    const char *begin_;
    const char *const *reached_;
};

}  // namespace

cjson_tokens *cjson_read_tokens(const uint8_t *bytes, size_t length) {
    // The library would skip a byte order mark, and take a NUL byte for the end.
    const bool has_mark = length >= 3 && bytes[0] == 0xEF && bytes[1] == 0xBB && bytes[2] == 0xBF;
    if (length == 0 || has_mark || std::memchr(bytes, 0, length) != nullptr) {
        return nullptr;
    }
    try {
        auto tokens = std::make_unique<cjson_tokens>();
        // In what journeys are kept as, a token takes four bytes or more, and no text gets longer when it is unescaped.
        tokens->list.reserve(length / 4);
        tokens->texts.reserve(length);
        const char *begin = reinterpret_cast<const char *>(bytes);
        const char *reached = begin;
        TokenList list(*tokens, begin, &reached);
        const bool is_sound = json::sax_parse(
            ReadingIterator(begin, &reached), ReadingIterator(begin + length, &reached), &list);
        return is_sound ? tokens.release() : nullptr;
    } catch (...) {
        return nullptr;
    }
}

const cjson_token *cjson_tokens_list(const cjson_tokens *tokens, size_t *count) {
    *count = tokens->list.size();
    return tokens->list.data();
}

const uint8_t *cjson_tokens_texts(const cjson_tokens *tokens) {
    return reinterpret_cast<const uint8_t *>(tokens->texts.data());
}

void cjson_tokens_free(cjson_tokens *tokens) { delete tokens; }
