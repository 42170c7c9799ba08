#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

struct pcre2_real_code_8;

namespace cjson {

/// What is left of the work that patterns may take for one document, all of its texts together.
///
/// PCRE2 tries one way after the other, and a text that is made for it has more ways than there is time: its own limit
/// on them begins anew at every place where a match may begin. So steps are counted here.
struct MatchingWork {
    /// Some hundredths of a second at most. A sensible pattern takes a few steps for each character.
    size_t steps = 1'000'000;
};

/// What came of looking for a pattern in a text.
enum class Match { found, none, undecided };

/// Some pattern of a schema could not be looked for with the work that was left.
struct Undecided {};

/// A regular expression of ECMAScript's kind, compiled by PCRE2. Only read once it is, from any thread.
class Pattern {
public:
    /// Throws `std::invalid_argument` for what is no expression.
    explicit Pattern(const std::string &expression);

    /// Looks for the pattern anywhere in a text, and takes what that took from the work that is left.
    Match search(std::string_view text, MatchingWork &work) const;

private:
    struct Free {
        void operator()(pcre2_real_code_8 *code) const;
    };

    std::unique_ptr<pcre2_real_code_8, Free> code_;
};

/// Every expression of `pattern` and `patternProperties` in a schema.
class Patterns {
public:
    /// Throws `std::invalid_argument` for what is no expression.
    void add(const std::string &expression);

    /// What has not been added is never found out.
    Match search(const std::string &expression, std::string_view text, MatchingWork &work) const;

private:
    std::unordered_map<std::string, Pattern> patterns_;
};

}  // namespace cjson
