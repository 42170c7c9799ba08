#include "Internal.hpp"
#include "Reading.hpp"

#include <memory>
#include <vector>

// Reading without a tree: a list of the parser's events.

struct cjson_tokens {
    std::vector<cjson_token> list;
    /// The text, with its strings unescaped in place.
    std::vector<char> texts;
};

namespace {

/// Collects the parser's events. The first mistake ends the reading; why is not recorded.
class TokenList : public cjson::NumbersAsText {
public:
    TokenList(cjson_tokens &tokens, const cjson::Input &input, const cjson::Progress &progress)
        : tokens_(tokens), begin_(tokens.texts.data()), input_(input), progress_(progress) {}

    bool Null() { return add(CJSON_TOKEN_NULL, input_.Tell()); }
    bool Bool(bool value) { return add(value ? CJSON_TOKEN_TRUE : CJSON_TOKEN_FALSE, input_.Tell()); }

    bool RawNumber(const char *text, unsigned length, bool) {
        const std::optional<cjson::Number> number = cjson::read_number({text, length});
        if (!number) {
            return false;
        }
        cjson_token &token = tokens_.list.emplace_back();
        token.end = offset_of(text) + length;
        if (const int64_t *integer = std::get_if<int64_t>(&*number)) {
            token.kind = CJSON_TOKEN_INTEGER;
            token.integer = *integer;
        } else if (const uint64_t *whole = std::get_if<uint64_t>(&*number)) {
            token.kind = CJSON_TOKEN_UNSIGNED;
            token.whole = *whole;
        } else {
            token.kind = CJSON_TOKEN_DOUBLE;
            token.real = std::get<double>(*number);
        }
        return true;
    }

    bool String(const char *text, unsigned length, bool) { return add(CJSON_TOKEN_STRING, text, length); }
    bool Key(const char *name, unsigned length, bool) { return add(CJSON_TOKEN_NAME, name, length); }
    bool StartObject() { return descend(CJSON_TOKEN_BEGIN_OBJECT); }
    bool StartArray() { return descend(CJSON_TOKEN_BEGIN_ARRAY); }
    bool EndObject(unsigned) { return ascend(CJSON_TOKEN_END_OBJECT); }
    bool EndArray(unsigned) { return ascend(CJSON_TOKEN_END_ARRAY); }

private:
    size_t offset_of(const char *place) const { return static_cast<size_t>(place - begin_); }

    bool add(cjson_token_kind kind, size_t end) {
        cjson_token &token = tokens_.list.emplace_back();
        token.kind = kind;
        token.end = end;
        return true;
    }

    bool add(cjson_token_kind kind, const char *text, size_t length) {
        add(kind, offset_of(progress_.end_of_string));
        tokens_.list.back().text = {offset_of(text), length};
        return progress_.lone_half == nullptr;
    }

    bool descend(cjson_token_kind kind) { return ++levels_ <= CJSON_MAXIMUM_TOKEN_DEPTH && add(kind, input_.Tell()); }

    bool ascend(cjson_token_kind kind) {
        --levels_;
        return add(kind, input_.Tell());
    }

    cjson_tokens &tokens_;
    const char *begin_;
    const cjson::Input &input_;
    const cjson::Progress &progress_;
    size_t levels_ = 0;
};

}  // namespace

cjson_tokens *cjson_read_tokens(const uint8_t *bytes, size_t length, bool comments) {
    const std::string_view text = cjson::text_of(bytes, length);
    return cjson::guarded([&]() -> cjson_tokens * {
        if (cjson::is_unreadable(text)) {
            return nullptr;
        }
        auto tokens = std::make_unique<cjson_tokens>();
        // A token of a stored journey takes four bytes or more.
        tokens->list.reserve(length / 4);
        cjson::copy_for_reading(text, tokens->texts);
        cjson::Progress progress;
        cjson::Input input(tokens->texts.data(), progress);
        TokenList list(*tokens, input, progress);
        return cjson::go_through(input, comments, list).IsError() ? nullptr : tokens.release();
    });
}

const cjson_token *cjson_tokens_list(const cjson_tokens *tokens, size_t *count) {
    *count = tokens->list.size();
    return tokens->list.data();
}

const uint8_t *cjson_tokens_texts(const cjson_tokens *tokens) {
    return reinterpret_cast<const uint8_t *>(tokens->texts.data());
}

void cjson_tokens_free(cjson_tokens *tokens) { delete tokens; }
