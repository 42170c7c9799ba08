#pragma once

#include "CJSON.h"
#include "Pattern.hpp"
#include "Tree.hpp"

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cjson {

// URI references, as `$id` and `$ref` hold them (RFC 3986), see Reference.cpp.

/// What comes before the `#` of a reference.
std::string_view without_fragment(std::string_view reference);

/// What comes after the `#` of a reference, decoded; nothing where it has none. False for a `%` without two digits.
bool read_fragment(std::string_view reference, std::string &fragment);

/// The URI that a reference means where `base` is the base URI (RFC 3986, section 5.2), without a fragment.
std::string resolve(std::string_view base, std::string_view reference);

/// A value of `format` that is asserted.
struct SchemaFormat {
    std::string_view name;
    /// What a text of that format is, for a sentence.
    const char *phrase;
    bool (*matches)(const std::string &text);

    /// The format of that name, or NULL: others assert nothing.
    static const SchemaFormat *named(std::string_view name);

    /// All names, for a sentence.
    static std::string names();
};

struct Rule;
using Rules = std::vector<const Rule *>;

/// One subschema, compiled: what a value must be. A keyword that the subschema does not have is NULL or empty here.
///
/// Values of keywords are pointers into the schema's document, and rules refer to each other, also in circles.
struct Rule {
    struct Property {
        const std::string *name;
        const Rule *rule;
    };
    struct PatternProperty {
        const std::string *text;
        const Pattern *pattern;
        const Rule *rule;
    };
    struct Dependency {
        const std::string *name;
        /// Either a rule or an array of names.
        const Rule *rule;
        const json *names;
    };

    /// Where the subschema is in the document, and the base URI of references in it.
    std::string pointer;
    std::string base;
    /// Set for a `$ref`: this rule counts and no other keyword.
    const Rule *reference = nullptr;
    /// Whether a `$ref` leads here, as one does in every circle of rules.
    bool is_target = false;

    /// The bits of the types that are allowed; none for `false`.
    unsigned types = ~0U;
    const json *type = nullptr;
    const json *constant = nullptr;
    const json *choices = nullptr;

    const json *minimum = nullptr;
    const json *exclusive_minimum = nullptr;
    const json *maximum = nullptr;
    const json *exclusive_maximum = nullptr;
    const json *multiple_of = nullptr;

    const json *min_length = nullptr;
    const json *max_length = nullptr;
    const json *pattern_text = nullptr;
    const Pattern *pattern = nullptr;
    const SchemaFormat *format = nullptr;

    const json *min_items = nullptr;
    const json *max_items = nullptr;
    bool has_unique_items = false;
    Rules listed_items;
    /// The rule for the elements after the listed ones.
    const Rule *other_items = nullptr;
    const Rule *contains = nullptr;

    const json *min_properties = nullptr;
    const json *max_properties = nullptr;
    const json *required = nullptr;
    const Rule *property_names = nullptr;
    /// Sorted by name, as the members of objects are.
    std::vector<Property> properties;
    std::vector<PatternProperty> pattern_properties;
    const Rule *additional_properties = nullptr;
    std::vector<Dependency> dependencies;

    Rules all_of;
    Rules any_of;
    Rules one_of;
    const Rule *forbidden = nullptr;
    const Rule *condition = nullptr;
    const Rule *consequence = nullptr;
    const Rule *alternative = nullptr;

    /// The rule that counts.
    const Rule &resolved() const { return reference == nullptr ? *this : *reference; }
};

/// Something in a schema that its author may have meant otherwise.
struct SchemaNote {
    cjson_schema_note kind;
    std::string pointer;
    std::string detail;
};

/// A schema with its rules. It is only read after compiling, from any thread.
struct CompiledSchema {
    json document;
    /// Elements of a deque stay where they are.
    std::deque<Rule> rules;
    const Rule *root = nullptr;
    std::map<std::string, Pattern> patterns;
    std::vector<SchemaNote> notes;
};

/// What is wrong with a schema; thrown and caught inside this library.
struct SchemaProblem {
    std::string pointer;
    std::string detail;
};

/// The bit of a type's name, 0 for what is not one.
unsigned type_bit(std::string_view name);

/// The bits of all types that a value has: an integer is a number, too.
unsigned type_bits(const json &value);

/// Fills in the rules for the document of a schema. Throws `SchemaProblem`.
void compile(CompiledSchema &schema);

/// A JSON Pointer, and the rest of a sentence about that place.
using Report = std::function<void(const std::string &pointer, const std::string &detail)>;

/// How many violations a document has, up to `limit`. With an empty `report` none is reported, which is cheaper. Throws
/// `Undecided`.
size_t validate(
    const CompiledSchema &schema, const json &document, Work &work, size_t limit, const Report &report);

/// The keywords of draft 7, until NULL.
const char *schema_keyword(size_t index);

}  // namespace cjson
