#pragma once

#include "SchemaChecker.hpp"

#include <functional>
#include <string>

namespace cjson {

/// Says in our own sentences why a document that valijson has refused does not fit its schema.
///
/// valijson stays the judge: this only runs after its no, and it walks schema and document again because valijson's
/// results name neither the keyword nor a JSON Pointer.
class SchemaExplainer {
public:
    using Report = std::function<void(const std::string &pointer, const std::string &detail)>;

    SchemaExplainer(const CheckedSchema &schema, MatchingWork &work, size_t limit, Report report)
        : schema_(schema), work_(work), limit_(limit), report_(std::move(report)) {}

    /// Reports up to the limit and returns how many violations it found.
    size_t explain(const json &document) {
        apply(schema_.document, document, Place{nullptr, nullptr, 0});
        return found_;
    }

private:
    /// A place in the document; written out as a JSON Pointer only for a violation.
    struct Place {
        const Place *parent;
        const std::string *name;
        size_t index;

        std::string pointer() const;
    };

    bool full() const { return found_ >= limit_; }
    void violation(const Place &place, const std::string &detail);
    void violation_at_member(const Place &place, const std::string &name, const std::string &detail);

    /// Whether a value fits, without reports.
    bool fits(const json &schema, const json &value) const;

    void apply(const json &schema, const json &value, const Place &place);
    void apply_to_any(const json &schema, const json &value, const Place &place);
    void apply_to_number(const json &schema, double number, const Place &place);
    void apply_to_string(const json &schema, const std::string &text, const Place &place);
    void apply_to_array(const json &schema, const json::Elements &array, const Place &place);
    void apply_to_object(const json &schema, const Members &object, const Place &place);
    void apply_properties(const json &schema, const Members &object, const Place &place);
    void apply_dependencies(const json &dependencies, const json &object, const Place &place);
    bool matches(const std::string &pattern, std::string_view text, const Place &place);
    void apply_combinations(const json &schema, const json &value, const Place &place);
    void apply_alternatives(const json::Elements &alternatives, const json &value, const Place &place, bool only_one);

    const json &resolved(const json &schema) const;
    bool may_be_meant(const json &alternative, const json &value) const;

    const CheckedSchema &schema_;
    MatchingWork &work_;
    size_t limit_;
    Report report_;
    size_t found_ = 0;
};

}  // namespace cjson
