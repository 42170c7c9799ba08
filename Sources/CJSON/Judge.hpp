#pragma once

#include "Adapter.hpp"
#include "Normalise.hpp"
#include "Pattern.hpp"

#include <valijson/schema.hpp>
#include <valijson/validation_visitor.hpp>

#include <algorithm>
#include <functional>

// valijson's judge, with some of its functions written anew for our values, which C++ calls specialising them.
//
// What it has for all kinds of values keeps a list of names for its sentences, which nobody reads here, makes strings
// of names and texts to look at them, and matches with std::regex, which bounds neither its work nor its stack. What
// these functions decide is what valijson decides, and the official tests hold for them.
namespace cjson {

using Judge = valijson::ValidationVisitor<Adapter>;

/// What goes along with a judge to wherever it goes in a schema. valijson hands its own expressions on from judge to
/// judge, and this is in their place.
struct Matching : std::unordered_map<std::string, std::regex> {
    Matching(const Patterns &patterns, MatchingWork &work) : patterns(patterns), work(work) {}

    /// Whether a text matches one of the schema's patterns. Throws `Undecided`.
    template <typename Expression>
    bool matches(const Expression &expression, const std::string &text) {
        const Match match = patterns.search(std::string(expression.data(), expression.size()), text, work);
        if (match == Match::undecided) {
            throw Undecided();
        }
        return match == Match::found;
    }

    const Patterns &patterns;
    MatchingWork &work;
};

/// How many characters valid UTF-8 has.
inline size_t count_characters(const std::string &text) {
    return static_cast<size_t>(
        std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; }));
}

}  // namespace cjson

namespace valijson {

template <>
inline bool cjson::Judge::validateSchema(const Subschema &subschema) {
    // It holds one address, for which a function needs no memory of its own.
    Subschema::ApplyFunction accept = [this](const Subschema::Constraint &constraint) {
        return constraint.accept(*this);
    };
    return !subschema.getAlwaysInvalid() && subschema.applyStrict(accept);
}

/// `properties`, `patternProperties` and `additionalProperties`: names in the schema are in the order of members, so
/// both are gone through at once.
template <>
inline bool cjson::Judge::visit(const PropertiesConstraint &constraint) {
    if (!m_target.isObject()) {
        return true;
    }
    auto &matching = static_cast<cjson::Matching &>(m_regexesCache);
    const auto fits = [&](const cjson::json &value, const Subschema &subschema) {
        return cjson::Judge(cjson::Adapter(value), {}, m_strictTypes, nullptr, matching).validateSchema(subschema);
    };
    const Subschema *additional = constraint.getAdditionalPropertiesSubschema();
    /// What there is to say about a member beside `properties`.
    const auto fits_others = [&](const cjson::Member &member, bool is_known) {
        bool fits_patterns = true;
        constraint.applyToPatternProperties([&](const auto &pattern, const Subschema *subschema) {
            if (matching.matches(pattern, member.name)) {
                is_known = true;
                fits_patterns = fits(member.value, *subschema);
            }
            return fits_patterns;
        });
        return fits_patterns && (is_known || (additional != nullptr && fits(member.value, *additional)));
    };
    const cjson::Members &members = m_target.value().members();
    const cjson::Member *member = members.begin();
    bool all_fit = true;
    constraint.applyToProperties([&](const auto &property, const Subschema *subschema) {
        const std::string_view name(property.data(), property.size());
        int order = -1;
        while (all_fit && member != members.end() && (order = member->name.compare(name)) < 0) {
            all_fit = fits_others(*member++, false);
        }
        if (all_fit && member != members.end() && order == 0) {
            all_fit = fits(member->value, *subschema) && fits_others(*member, true);
            ++member;
        }
        return all_fit;
    });
    while (all_fit && member != members.end()) {
        all_fit = fits_others(*member++, false);
    }
    return all_fit;
}

template <>
inline bool cjson::Judge::visit(const PropertyNamesConstraint &constraint) {
    const cjson::Members &members = m_target.value().members();
    return std::all_of(members.begin(), members.end(), [&](const cjson::Member &member) {
        const cjson::json name(member.name);
        return cjson::Judge(cjson::Adapter(name), {}, m_strictTypes, nullptr, m_regexesCache)
            .validateSchema(*constraint.getSubschema());
    });
}

template <>
inline bool cjson::Judge::visit(const PatternConstraint &constraint) {
    auto &matching = static_cast<cjson::Matching &>(m_regexesCache);
    return !m_target.isString()
        || matching.matches(constraint.getPattern<std::string::allocator_type>(), m_target.value().text());
}

template <>
inline bool cjson::Judge::visit(const MaxLengthConstraint &constraint) {
    // No text has more characters than bytes.
    const std::string &text = m_target.value().text();
    return text.size() <= constraint.getMaxLength() || cjson::count_characters(text) <= constraint.getMaxLength();
}

template <>
inline bool cjson::Judge::visit(const MinLengthConstraint &constraint) {
    return !m_target.isString() || cjson::count_characters(m_target.value().text()) >= constraint.getMinLength();
}

}  // namespace valijson
