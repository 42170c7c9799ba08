#pragma once

#include "PlainText.hpp"
#include "SchemaChecker.hpp"

#include <limits>
#include <map>
#include <regex>
#include <string>
#include <vector>

namespace cjson {

/// A schema, prepared to say yes fast.
///
/// valijson stays the judge. Of a plain value that certainly fits this knows it beforehand, and allocates nothing; of
/// any other, and of keywords that are not looked at here, it knows nothing, which is never a no.
class PlainSchema {
public:
    /// - schema: found sound; lives as long as this.
    void prepare(const CheckedSchema &schema);

    bool surely_fits(const PlainValue &value) const { return root_ != nullptr && fits(*root_, value); }

private:
    struct Rule;

    struct Member {
        std::string name;
        const Rule *rule;
        bool is_required;
    };

    /// What one subschema asks for. Without further ado everything fits.
    struct Rule {
        bool is_unknown = false;
        unsigned kinds = ~0U;
        /// Sorted by name, as those of a value.
        std::vector<Member> members;
        /// For members that are not listed; NULL when anything goes. So it is for the elements of an array.
        const Rule *rest = nullptr;
        const Rule *items = nullptr;
        /// Bounds of what a text, an array and an object count.
        size_t least[3] = {0, 0, 0};
        size_t most[3] = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
        double minimum = -std::numeric_limits<double>::infinity();
        double maximum = std::numeric_limits<double>::infinity();
        /// As they are serialised; empty when there is no choice.
        std::vector<std::string> allowed;
        const std::regex *pattern = nullptr;
    };

    const Rule *compile(const json &schema);
    void add_keyword(Rule &rule, const std::string &keyword, const json &value);
    void add_members(Rule &rule, const json &schema);
    static Member &member(Rule &rule, const std::string &name);

    static bool fits(const Rule &rule, const PlainValue &value);
    static bool number_fits(const Rule &rule, const PlainValue &value);
    static bool string_fits(const Rule &rule, const PlainValue &value);
    static bool elements_fit(const Rule &rule, const PlainValue &array);
    static bool members_fit(const Rule &rule, const PlainValue &object);

    const CheckedSchema *schema_ = nullptr;
    /// A map, because its values stay where they are: rules refer to each other, in circles too.
    std::map<const json *, Rule> rules_;
    const Rule *root_ = nullptr;
};

}  // namespace cjson
