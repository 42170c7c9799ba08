#pragma once

#include "CompiledSchema.hpp"

#include <functional>
#include <string>

namespace cjson {

/// Applies the rules of a schema to a document, and says where and why it does not fit.
class SchemaValidator {
public:
    /// A JSON Pointer, and the rest of a sentence about that place.
    using Report = std::function<void(const std::string &pointer, const std::string &detail)>;

    /// Reports up to `limit` violations; with an empty `report` none, which is cheaper. `work` and `report` must
    /// outlive the validator.
    SchemaValidator(Work &work, size_t limit, const Report &report) : work_(work), limit_(limit), report_(report) {}

    /// How many violations there are, up to the limit. Throws `Undecided`.
    size_t validate(const CompiledSchema &schema, const json &document) {
        apply(*schema.root, document, Place{nullptr, nullptr, 0});
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

    bool is_full() const { return found_ >= limit_; }

    /// `words` gives the detail: texts are made only when they are reported.
    template <typename Words>
    void violation(const Place &place, Words words);

    /// Whether a value fits, without reports.
    bool fits(const Rule &rule, const json &value) const;

    void apply(const Rule &rule, const json &value, const Place &place);
    void apply_keywords(const Rule &rule, const json &value, const Place &place);
    void apply_to_any(const Rule &rule, const json &value, const Place &place);
    void apply_to_number(const Rule &rule, const json &number, const Place &place);
    void apply_to_string(const Rule &rule, const std::string &text, const Place &place);
    void apply_to_array(const Rule &rule, const json::Elements &array, const Place &place);
    void apply_unique_items(const json::Elements &array, const Place &place);
    void apply_to_object(const Rule &rule, const json &object, const Place &place);
    void apply_properties(const Rule &rule, const Members &object, const Place &place);
    void apply_dependencies(const Rule &rule, const json &object, const Place &place);
    void apply_combinations(const Rule &rule, const json &value, const Place &place);
    void apply_alternatives(const Rules &alternatives, const json &value, const Place &place, bool only_one);
    void check_count(
        size_t count, const json *least, const json *most, const char *thing, const Place &place);
    bool matches(const Pattern &pattern, const std::string &source, const std::string &text, const Place &place);

    Work &work_;
    size_t limit_;
    const Report &report_;
    size_t found_ = 0;
};

}  // namespace cjson
