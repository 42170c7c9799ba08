#include "PlainText.hpp"

#include "Internal.hpp"

#include <array>
#include <charconv>

namespace cjson {

namespace {

constexpr std::array<bool, 256> make_ordinary() {
    std::array<bool, 256> table{};
    for (unsigned byte = 0x20; byte < 0x80; ++byte) {
        table[byte] = byte != '"' && byte != '\\';
    }
    return table;
}

constexpr std::array<bool, 256> ordinary = make_ordinary();

}  // namespace

/// Reads one text into a room. Every function returns false, or NULL, for what is not plain.
class PlainReader {
public:
    PlainReader(const char *start, size_t length, PlainRoom &room) : at_(start), end_(start + length), room_(room) {}

    PlainValue *text() {
        PlainValue *root = room_.take();
        skip_space();
        if (root == nullptr || !value(*root, 0)) {
            return nullptr;
        }
        skip_space();
        return at_ == end_ ? root : nullptr;
    }

private:
    bool value(PlainValue &value, size_t levels) {
        value.first = nullptr;
        value.count = 0;
        value.text.start = at_;
        if (!scalar_or_container(value, levels)) {
            return false;
        }
        value.text.length = static_cast<size_t>(at_ - value.text.start);
        return true;
    }

    bool scalar_or_container(PlainValue &value, size_t levels) {
        switch (peek()) {
        case '"': {
            bool has_escapes = false;
            value.kind = PlainKind::string;
            return string(has_escapes);
        }
        case '{':
            value.kind = PlainKind::object;
            return levels < CJSON_MAXIMUM_DEPTH && object(value, levels + 1);
        case '[':
            value.kind = PlainKind::array;
            return levels < CJSON_MAXIMUM_DEPTH && array(value, levels + 1);
        case 'n':
            value.kind = PlainKind::null;
            return word("null");
        case 't':
            value.kind = PlainKind::boolean;
            return word("true");
        case 'f':
            value.kind = PlainKind::boolean;
            return word("false");
        default:
            return number(value);
        }
    }

    bool object(PlainValue &object, size_t levels) {
        ++at_;
        skip_space();
        if (skip('}')) {
            return true;
        }
        PlainValue *last = nullptr;
        do {
            PlainValue *member = room_.take();
            skip_space();
            if (member == nullptr || !name(*member) || !value(*member, levels) || !insert(object, last, *member)) {
                return false;
            }
            ++object.count;
            skip_space();
        } while (skip(','));
        return skip('}');
    }

    bool array(PlainValue &array, size_t levels) {
        ++at_;
        skip_space();
        if (skip(']')) {
            return true;
        }
        PlainValue **place = &array.first;
        do {
            PlainValue *element = room_.take();
            skip_space();
            if (element == nullptr || !value(*element, levels)) {
                return false;
            }
            *place = element;
            place = &element->next;
            ++array.count;
            skip_space();
        } while (skip(','));
        *place = nullptr;
        return skip(']');
    }

    bool name(PlainValue &member) {
        const char *start = at_ + 1;
        bool has_escapes = false;
        if (peek() != '"' || !string(has_escapes) || has_escapes) {
            return false;
        }
        member.name = {start, static_cast<size_t>(at_ - 1 - start)};
        skip_space();
        const bool has_value = skip(':');
        skip_space();
        return has_value;
    }

    /// Puts a member where its name belongs; false when there is one of that name. Mostly they come sorted.
    static bool insert(PlainValue &object, PlainValue *&last, PlainValue &member) {
        const std::string_view name = member.name.view();
        if (last == nullptr || last->name.view() < name) {
            (last == nullptr ? object.first : last->next) = &member;
            member.next = nullptr;
            last = &member;
            return true;
        }
        PlainValue **place = &object.first;
        while ((*place)->name.view() < name) {
            place = &(*place)->next;
        }
        member.next = *place;
        const bool is_new = (*place)->name.view() != name;
        *place = &member;
        return is_new;
    }

    bool string(bool &has_escapes) {
        for (++at_;;) {
            skip_ordinary();
            const unsigned char byte = static_cast<unsigned char>(peek());
            if (byte == '"') {
                ++at_;
                return true;
            }
            if (byte == '\\') {
                // Only what has to be escaped, and as the library escapes it.
                if (end_ - at_ < 2 || at_[1] == 0 || std::strchr("\"\\bfnrt", at_[1]) == nullptr) {
                    return false;
                }
                has_escapes = true;
                at_ += 2;
            } else if (byte < 0x80 || !character(byte)) {
                return false;
            }
        }
    }

    /// Skips what is nearly all of a string: ASCII that neither ends it nor needs an escape.
    void skip_ordinary() {
        const char *at = at_;
        const char *const end = end_;
        while (at != end && ordinary[static_cast<unsigned char>(*at)]) {
            ++at;
        }
        at_ = at;
    }

    /// A character of several bytes: well-formed UTF-8 (Unicode, table 3-7).
    bool character(unsigned char first) {
        if (first < 0xC2 || first > 0xF4) {
            return false;
        }
        const ptrdiff_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
        if (end_ - at_ < length) {
            return false;
        }
        const unsigned char second = static_cast<unsigned char>(at_[1]);
        const unsigned char least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
        const unsigned char most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
        if (second < least || second > most) {
            return false;
        }
        for (ptrdiff_t index = 2; index < length; ++index) {
            if ((at_[index] & 0xC0) != 0x80) {
                return false;
            }
        }
        at_ += length;
        return true;
    }

    bool number(PlainValue &value) {
        // So many digits fit 64 bits.
        constexpr ptrdiff_t maximum_digits = 18;
        const char *start = at_;
        const bool is_negative = skip('-');
        const char *digits = at_;
        while (is_digit(peek())) {
            ++at_;
        }
        const ptrdiff_t count = at_ - digits;
        if (count == 0 || (*digits == '0' && count > 1)) {
            return false;
        }
        const char next = peek();
        if (next == '.' || next == 'e' || next == 'E') {
            value.kind = PlainKind::real;
            return real(start);
        }
        value.kind = PlainKind::integer;
        return count <= maximum_digits && !(is_negative && *digits == '0');
    }

    /// A number with a fraction or an exponent, when the library writes it in the same way.
    bool real(const char *start) {
        double number = 0;
        const std::from_chars_result read = std::from_chars(start, end_, number);
        if (read.ec != std::errc()) {
            return false;
        }
        at_ = read.ptr;
        return json(number).dump() == std::string_view(start, static_cast<size_t>(at_ - start));
    }

    bool word(std::string_view word) {
        if (std::string_view(at_, std::min(word.size(), static_cast<size_t>(end_ - at_))) != word) {
            return false;
        }
        at_ += word.size();
        return true;
    }

    static bool is_digit(char character) { return character >= '0' && character <= '9'; }

    /// The next byte; 0, which no text may contain, at the end.
    char peek() const { return at_ < end_ ? *at_ : 0; }

    bool skip(char character) {
        const bool is_there = peek() == character;
        at_ += is_there ? 1 : 0;
        return is_there;
    }

    void skip_space() {
        while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) {
            ++at_;
        }
    }

    const char *at_;
    const char *end_;
    PlainRoom &room_;
};

PlainValue *PlainRoom::read(const uint8_t *bytes, size_t length) {
    return PlainReader(reinterpret_cast<const char *>(bytes), length, *this).text();
}

namespace {

/// Both are objects, and so both lists are sorted.
void merge_members(PlainValue &target, const PlainValue &patch) {
    PlainValue **place = &target.first;
    for (PlainValue *change = patch.first; change != nullptr;) {
        PlainValue *next_change = change->next;
        const std::string_view name = change->name.view();
        while (*place != nullptr && (*place)->name.view() < name) {
            place = &(*place)->next;
        }
        PlainValue *former = *place != nullptr && (*place)->name.view() == name ? *place : nullptr;
        if (change->kind == PlainKind::null) {
            if (former != nullptr) {
                *place = former->next;
                --target.count;
            }
        } else {
            PlainValue *rest = former == nullptr ? *place : former->next;
            *place = merge(former, change);
            (*place)->name = change->name;
            (*place)->next = rest;
            target.count += former == nullptr ? 1 : 0;
        }
        change = next_change;
    }
}

}  // namespace

PlainValue *merge(PlainValue *target, PlainValue *patch) {
    if (patch->kind != PlainKind::object) {
        return patch;
    }
    if (target != nullptr && target->kind == PlainKind::object) {
        merge_members(*target, *patch);
        return target;
    }
    // What is merged into nothing loses its nulls.
    const PlainValue changes = *patch;
    patch->first = nullptr;
    patch->count = 0;
    merge_members(*patch, changes);
    return patch;
}

char *write(const PlainValue &value, char *out) {
    if (value.kind < PlainKind::array) {
        std::memcpy(out, value.text.start, value.text.length);
        return out + value.text.length;
    }
    const bool is_object = value.kind == PlainKind::object;
    *out++ = is_object ? '{' : '[';
    for (const PlainValue *child = value.first; child != nullptr; child = child->next) {
        if (child != value.first) {
            *out++ = ',';
        }
        if (is_object) {
            *out++ = '"';
            std::memcpy(out, child->name.start, child->name.length);
            out += child->name.length;
            *out++ = '"';
            *out++ = ':';
        }
        out = write(*child, out);
    }
    *out++ = is_object ? '}' : ']';
    return out;
}

}  // namespace cjson
