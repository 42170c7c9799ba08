#include "Pattern.hpp"

#include <algorithm>
#include <new>
#include <stdexcept>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace cjson {

namespace {

/// Frees what PCRE2 made.
template <typename Thing, void (*free)(Thing *)>
struct Freeing {
    void operator()(Thing *thing) const { free(thing); }
};

using CompileContext =
    std::unique_ptr<pcre2_compile_context, Freeing<pcre2_compile_context, pcre2_compile_context_free>>;
using MatchContext = std::unique_ptr<pcre2_match_context, Freeing<pcre2_match_context, pcre2_match_context_free>>;
using MatchData = std::unique_ptr<pcre2_match_data, Freeing<pcre2_match_data, pcre2_match_data_free>>;

template <typename Pointer>
Pointer made(typename Pointer::pointer thing) {
    if (thing == nullptr) {
        throw std::bad_alloc();
    }
    return Pointer(thing);
}

/// The short names of general categories, which PCRE2 knows, by the long ones, which ECMAScript knows, too.
constexpr std::string_view categories[][2] = {
    {"Letter", "L"}, {"Cased_Letter", "L&"}, {"Uppercase_Letter", "Lu"}, {"Lowercase_Letter", "Ll"},
    {"Titlecase_Letter", "Lt"}, {"Modifier_Letter", "Lm"}, {"Other_Letter", "Lo"}, {"Mark", "M"},
    {"Combining_Mark", "M"}, {"Nonspacing_Mark", "Mn"}, {"Spacing_Mark", "Mc"}, {"Enclosing_Mark", "Me"},
    {"Number", "N"}, {"Decimal_Number", "Nd"}, {"digit", "Nd"}, {"Letter_Number", "Nl"}, {"Other_Number", "No"},
    {"Punctuation", "P"}, {"punct", "P"}, {"Connector_Punctuation", "Pc"}, {"Dash_Punctuation", "Pd"},
    {"Open_Punctuation", "Ps"}, {"Close_Punctuation", "Pe"}, {"Initial_Punctuation", "Pi"},
    {"Final_Punctuation", "Pf"}, {"Other_Punctuation", "Po"}, {"Symbol", "S"}, {"Math_Symbol", "Sm"},
    {"Currency_Symbol", "Sc"}, {"Modifier_Symbol", "Sk"}, {"Other_Symbol", "So"}, {"Separator", "Z"},
    {"Space_Separator", "Zs"}, {"Line_Separator", "Zl"}, {"Paragraph_Separator", "Zp"}, {"Other", "C"},
    {"Control", "Cc"}, {"cntrl", "Cc"}, {"Format", "Cf"}, {"Surrogate", "Cs"}, {"Private_Use", "Co"},
    {"Unassigned", "Cn"},
};

/// What stands in the braces of `\p{…}`, as PCRE2 writes it.
std::string property(std::string_view name) {
    for (const std::string_view prefix : {"General_Category=", "gc="}) {
        if (name.substr(0, prefix.size()) == prefix) {
            name.remove_prefix(prefix.size());
        }
    }
    for (const auto &[longer, shorter] : categories) {
        if (name == longer) {
            return std::string(shorter);
        }
    }
    return std::string(name);
}

/// The expression with what PCRE2 reads otherwise than ECMAScript written out: which characters `\s` and `.` match, and
/// the names of properties.
std::string translated(const std::string &expression) {
    const std::string spaces = "\\t-\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff";
    const std::string others =
        "\\x00-\\x08\\x0e-\\x1f!-\\u009f\\u00a1-\\u167f\\u1681-\\u1fff\\u200b-\\u2027\\u202a-\\u202e\\u2030-\\u205e"
        "\\u2060-\\u2fff\\u3001-\\ufefe\\uff00-\\u{10ffff}";
    std::string result;
    bool is_in_class = false;
    const auto add_set = [&](const std::string &set) { result += is_in_class ? set : "[" + set + "]"; };
    for (size_t index = 0; index < expression.size(); ++index) {
        const char character = expression[index];
        if (character != '\\' || index + 1 == expression.size()) {
            if (character == '.' && !is_in_class) {
                result += "[^\\n\\r\\u2028\\u2029]";
            } else {
                // PCRE2 reads `[:alpha:]` inside a class as a class of its own.
                result.append(character == '[' && is_in_class ? "\\[" : std::string(1, character));
            }
            is_in_class = character == '[' || (is_in_class && character != ']');
            continue;
        }
        const char escaped = expression[++index];
        const size_t end = expression.find('}', index);
        if (escaped == 's' || escaped == 'S') {
            add_set(escaped == 's' ? spaces : others);
        } else if ((escaped == 'p' || escaped == 'P') && expression[index + 1] == '{' && end != std::string::npos) {
            const std::string name = property(expression.substr(index + 2, end - index - 2));
            result.append({'\\', escaped, '{'}).append(name).append("}");
            index = end;
        } else {
            result.append({'\\', escaped});
        }
    }
    return result;
}

/// What is counted while one text is searched.
struct Count {
    size_t steps;
    PCRE2_SIZE place;
};

/// PCRE2 calls this before each item of a pattern that it tries.
int take_step(pcre2_callout_block *block, void *context) {
    Count &count = *static_cast<Count *>(context);
    // A run of characters is one item, however long it is, so the distance from the last place counts, too.
    constexpr PCRE2_SIZE characters_in_a_step = 16;
    const PCRE2_SIZE place = block->current_position;
    const PCRE2_SIZE way = place > count.place ? place - count.place : count.place - place;
    const size_t steps = 1 + way / characters_in_a_step;
    count.place = place;
    count.steps -= std::min(steps, count.steps);
    return count.steps == 0 ? PCRE2_ERROR_CALLOUT : 0;
}

}  // namespace

void Pattern::Free::operator()(pcre2_real_code_8 *code) const { pcre2_code_free(code); }

Pattern::Pattern(const std::string &source) {
    // As in ECMAScript: `\u` and `\x` are characters, `[]` matches nothing, a reference to a group that took no part
    // matches the empty text, and `$` is the very end. Automatic callouts count the steps, see `take_step`.
    const std::string expression = translated(source);
    constexpr uint32_t options = PCRE2_UTF | PCRE2_ALT_BSUX | PCRE2_ALLOW_EMPTY_CLASS | PCRE2_MATCH_UNSET_BACKREF
        | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C | PCRE2_AUTO_CALLOUT;
    const CompileContext context = made<CompileContext>(pcre2_compile_context_create(nullptr));
    pcre2_set_compile_extra_options(context.get(), PCRE2_EXTRA_ALT_BSUX);
    int error = 0;
    PCRE2_SIZE place = 0;
    code_.reset(pcre2_compile(
        reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(), options, &error, &place, context.get()));
    if (code_ == nullptr) {
        throw std::invalid_argument("pattern");
    }
}

Match Pattern::search(std::string_view text, Work &work) const {
    // In kibibytes, for the places to go back to from one start of a match.
    constexpr uint32_t most_memory = 16 * 1024;
    // A sensible pattern takes two or three.
    constexpr size_t steps_for_a_character = 8;
    const size_t added = std::min(text.size() * steps_for_a_character, work.pattern_reserve);
    work.pattern_reserve -= added;
    Count count{work.pattern_steps + added, 0};
    const MatchContext context = made<MatchContext>(pcre2_match_context_create(nullptr));
    pcre2_set_callout(context.get(), take_step, &count);
    pcre2_set_match_limit(context.get(), UINT32_MAX);
    pcre2_set_depth_limit(context.get(), UINT32_MAX);
    pcre2_set_heap_limit(context.get(), most_memory);
    const MatchData data = made<MatchData>(pcre2_match_data_create(1, nullptr));
    const int result = pcre2_match(
        code_.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0, 0, data.get(), context.get());
    work.pattern_steps = count.steps;
    return result >= 0 ? Match::found : result == PCRE2_ERROR_NOMATCH ? Match::none : Match::undecided;
}

}  // namespace cjson
