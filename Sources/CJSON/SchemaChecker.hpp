#pragma once

#include "Internal.hpp"
#include "Pattern.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace cjson {

// A pattern this long is a mistake, and compiling one costs memory in proportion.
constexpr size_t maximum_pattern_length = 256;

// Comparing every element with every other is quadratic; this many take milliseconds.
constexpr size_t maximum_unique_items = 1024;

// Compiling recurses along references: a generous bound for a schema that people write.
constexpr size_t maximum_subschemas = 2000;

/// What is wrong with a schema; thrown and caught inside this library.
struct SchemaProblem {
    std::string pointer;
    std::string detail;
};

/// A schema that has been found sound, prepared for valijson and for explanations.
struct CheckedSchema {
    json document;
    /// Every expression of `pattern` and `patternProperties`.
    Patterns patterns;
    /// From the text of a `$ref` to the subschema that it means.
    std::map<std::string, const json *> references;
};

/// Checks a draft 7 schema, keyword by keyword, with our own sentences, because valijson's are not for clients and it
/// misses some mistakes; and narrows what is dangerous at run time (see the constants above).
///
/// The prepared document differs from the original: numbers are normalised, `format` (an annotation in draft 7) and
/// the `id` of older drafts are gone, and `uniqueItems` brings a `maxItems`.
class SchemaChecker {
public:
    /// Checks `schema.document` and fills in the rest.
    static void check(CheckedSchema &schema);

private:
    explicit SchemaChecker(CheckedSchema &schema) : schema_(schema) {}

    struct Visit {
        json *node;
        std::string pointer;
    };

    void visit(json &node, const std::string &pointer);
    void visit_keyword(json &node, const std::string &keyword, json &value, const std::string &pointer);
    void visit_property_names(json &value, const std::string &pointer);
    void visit_in_place(json &node, json &child, const std::string &pointer);
    void visit_schemas(json &node, json &list, const std::string &pointer, bool in_place);
    void visit_map(json &map, const std::string &pointer, bool names_are_patterns);
    void visit_dependencies(json &node, json &map, const std::string &pointer);
    void follow(json &node, const json &reference, const std::string &pointer);
    json &resolve(const std::string &reference, const std::string &pointer);
    void check_pattern(const std::string &pattern, const std::string &pointer);
    void refuse_endless(const json *node);
    static void check_type(const json &value, const std::string &pointer);
    static void check_names(const json &value, const std::string &pointer);
    void narrow_all(json &node);
    static void narrow(Members &node);

    CheckedSchema &schema_;
    std::map<const json *, std::string> visited_;
    std::set<const json *> sound_;
    std::set<std::string> references_;
    std::set<std::string> plain_paths_;
    /// Targets of references, visited after what is being visited: no recursion along references here.
    std::vector<Visit> waiting_;
    /// Subschemas that apply to the same value as the subschema they belong to: a circle of these never ends.
    std::map<const json *, std::vector<const json *>> in_place_;
    std::map<const json *, int> progress_;
};

}  // namespace cjson
