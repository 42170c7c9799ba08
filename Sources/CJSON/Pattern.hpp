#pragma once

#include "Tree.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>

struct pcre2_real_code_8;

namespace cjson {

/// Thrown when the work that is left does not suffice to validate a document.
struct Undecided {};

/// The work that is left for validating one document.
///
/// PCRE2 tries one way after the other, and a hostile text has more ways than there is time; PCRE2's own limit begins
/// anew at every place where a match may begin. A recursive schema leads to a value in exponentially many ways, so the
/// results are remembered once there is much work.
class Work {
public:
    Work() = default;
    explicit Work(const json &document) : document(&document) {}

    /// What patterns may still take: about a millisecond for the first texts, and more with each text by its length.
    size_t pattern_steps = 30'000;
    /// What may be added to that: some hundredths of a second.
    size_t pattern_reserve = 970'000;
    /// A step is a rule applied to a value, or an element or member looked at. These take some milliseconds.
    size_t steps = 100'000;
    /// A document that needs more steps gets more once, by its size.
    const json *document = nullptr;
    /// Whether a value fits a rule, by both and whether violations are reported.
    std::map<std::tuple<const void *, const void *, bool>, bool> known;

    /// Small documents are not worth remembering results for.
    bool is_much() const { return document == nullptr || steps < 90'000; }

    void spend(size_t count) {
        if (count >= steps) {
            refill(count);
        }
        steps -= count;
    }

private:
    void refill(size_t needed);
};

/// The result of looking for a pattern in a text.
enum class Match { found, none, undecided };

/// A regular expression as ECMAScript writes it, compiled by PCRE2. Searching is safe from any thread.
class Pattern {
public:
    /// Throws `std::invalid_argument` for what is not an expression.
    explicit Pattern(const std::string &source);

    /// Looks for the pattern anywhere in a text, with the work that is left.
    Match search(std::string_view text, Work &work) const;

private:
    struct Free {
        void operator()(pcre2_real_code_8 *code) const;
    };

    std::unique_ptr<pcre2_real_code_8, Free> code_;
};

}  // namespace cjson
