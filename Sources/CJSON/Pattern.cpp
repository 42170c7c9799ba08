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

/// What is counted while one text is gone through.
struct Count {
    size_t steps;
    PCRE2_SIZE place;
};

/// PCRE2 asks this before each item of a pattern that it tries.
int take_step(pcre2_callout_block *block, void *context) {
    Count &count = *static_cast<Count *>(context);
    // A run of characters is one item, however long it is: so the way from the last place counts, too.
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

Pattern::Pattern(const std::string &expression) {
    // As in ECMAScript: `\u` and `\x` are characters, `[]` matches nothing, a group that took no part is empty when it
    // is referred to, `$` is the very end and `.` no line's end. All patterns are counted, see `take_step`.
    constexpr uint32_t options = PCRE2_UTF | PCRE2_ALT_BSUX | PCRE2_ALLOW_EMPTY_CLASS | PCRE2_MATCH_UNSET_BACKREF
        | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C | PCRE2_AUTO_CALLOUT;
    const CompileContext context = made<CompileContext>(pcre2_compile_context_create(nullptr));
    pcre2_set_compile_extra_options(context.get(), PCRE2_EXTRA_ALT_BSUX);
    pcre2_set_newline(context.get(), PCRE2_NEWLINE_ANYCRLF);
    int error = 0;
    PCRE2_SIZE place = 0;
    code_.reset(pcre2_compile(
        reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(), options, &error, &place, context.get()));
    if (code_ == nullptr) {
        throw std::invalid_argument("pattern");
    }
}

Match Pattern::search(std::string_view text, MatchingWork &work) const {
    // For each place where a match may begin, what to go back to is kept, for this many kibibytes.
    constexpr uint32_t most_memory = 16 * 1024;
    Count count{work.steps, 0};
    const MatchContext context = made<MatchContext>(pcre2_match_context_create(nullptr));
    pcre2_set_callout(context.get(), take_step, &count);
    pcre2_set_match_limit(context.get(), UINT32_MAX);
    pcre2_set_depth_limit(context.get(), UINT32_MAX);
    pcre2_set_heap_limit(context.get(), most_memory);
    const MatchData data = made<MatchData>(pcre2_match_data_create(1, nullptr));
    const int result = pcre2_match(
        code_.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0, 0, data.get(), context.get());
    work.steps = count.steps;
    return result >= 0 ? Match::found : result == PCRE2_ERROR_NOMATCH ? Match::none : Match::undecided;
}

void Patterns::add(const std::string &expression) { patterns_.try_emplace(expression, expression); }

Match Patterns::search(const std::string &expression, std::string_view text, MatchingWork &work) const {
    const auto found = patterns_.find(expression);
    return found == patterns_.end() ? Match::undecided : found->second.search(text, work);
}

}  // namespace cjson
