#include "CompiledSchema.hpp"
#include "Internal.hpp"
#include "Pointer.hpp"

#include <algorithm>
#include <stdexcept>
#include <unordered_map>

namespace cjson {

namespace {

// Compiling a longer pattern costs memory in proportion; no sensible one is.
constexpr size_t maximum_pattern_length = 256;

// A generous bound for a schema that people write.
constexpr size_t maximum_subschemas = 2000;

// Validating recurses for each level of the document and for each subschema that applies to the same value. The
// product of both bounds the stack.
constexpr size_t maximum_combinations = 32;

[[noreturn]] void fail(const std::string &pointer, std::string detail) {
    throw SchemaProblem{pointer, std::move(detail)};
}

std::string below(const std::string &pointer, std::string_view token) {
    std::string result = pointer;
    append_token(result, token);
    return result;
}

std::string written(const json &value) { return std::string(serialized(value)); }

/// Checks a schema keyword by keyword, and makes its rules.
class Compiler {
public:
    explicit Compiler(CompiledSchema &schema) : schema_(schema) {}

    void compile() {
        Rule &root = visit(schema_.document, "", "");
        schema_.root = &root;
        documents_.emplace(root.base, &schema_.document);
        // A target may hold references of its own.
        for (size_t index = 0; index < references_.size(); ++index) {
            follow(references_[index]);
        }
        for (const Rule &rule : schema_.rules) {
            measure(rule);
        }
        for (Rule &rule : schema_.rules) {
            while (rule.reference != nullptr && rule.reference->reference != nullptr) {
                rule.reference = rule.reference->reference;
            }
        }
    }

    using Read = void (Compiler::*)(Rule &, const json &, const std::string &pointer);

    struct Keyword {
        std::string_view name;
        Read read;
        /// Whether it means something beside a `$ref`, which makes draft 7 ignore the others.
        bool is_annotation = false;
    };

    static const std::vector<Keyword> &keywords();

private:
    /// A `$ref` that is followed when all subschemas are known.
    struct Reference {
        Rule *rule;
        const std::string *text;
        std::string pointer;
    };

    void note(cjson_schema_note kind, const std::string &pointer, std::string detail = "") {
        schema_.notes.push_back({kind, pointer, std::move(detail)});
    }

    Rule &visit(const json &node, const std::string &pointer, const std::string &base) {
        if (const auto found = rules_.find(&node); found != rules_.end()) {
            return *found->second;
        }
        if (schema_.rules.size() == maximum_subschemas) {
            fail("", "The schema has more than " + std::to_string(maximum_subschemas) + " subschemas.");
        }
        Rule &rule = schema_.rules.emplace_back();
        rules_[&node] = &rule;
        rule.pointer = pointer;
        rule.base = base;
        if (node.is_false()) {
            rule.types = 0;
        } else if (!node.is_true()) {
            visit_object(rule, node);
        }
        return rule;
    }

    void visit_object(Rule &rule, const json &node) {
        if (!node.is_object()) {
            fail(rule.pointer, "A schema must be an object or a boolean.");
        }
        const json *reference = node.find("$ref");
        if (reference != nullptr) {
            const std::string pointer = below(rule.pointer, "$ref");
            require(reference->is_string(), pointer, "This must be a string.");
            references_.push_back({&rule, &reference->text(), pointer});
        } else if (const json *id = node.find("$id")) {
            identify(rule, node, *id);
        }
        for (const Member &member : node.members()) {
            const std::string pointer = below(rule.pointer, member.name);
            const auto known = std::find_if(
                keywords().begin(), keywords().end(), [&](const Keyword &known) { return known.name == member.name; });
            if (known == keywords().end()) {
                read_unknown(member.name, pointer);
            } else if (reference == nullptr || known->is_annotation) {
                (this->*known->read)(rule, member.value, pointer);
            } else if (member.name != "$ref") {
                note(CJSON_SCHEMA_WITHOUT_EFFECT, pointer, "has no effect beside $ref");
            }
        }
        if (reference == nullptr) {
            check_companions(rule, node);
        }
    }

    /// Some keywords mean something beside another one only.
    void check_companions(Rule &rule, const json &node) {
        const json *items = node.find("items");
        if (items == nullptr) {
            rule.other_items = nullptr;
        }
        const auto check = [&](const char *keyword, bool has_effect, const char *detail) {
            if (!has_effect && node.find(keyword) != nullptr) {
                note(CJSON_SCHEMA_WITHOUT_EFFECT, below(rule.pointer, keyword), detail);
            }
        };
        check("additionalItems", items != nullptr && items->is_array(), "has no effect unless items is an array");
        check("then", rule.condition != nullptr, "has no effect without if");
        check("else", rule.condition != nullptr, "has no effect without if");
        check("if", rule.consequence != nullptr || rule.alternative != nullptr, "has no effect without then or else");
    }

    /// `$id` names a schema by a URI, by a plain name (`#name`) or both; a URI is the base of the references inside.
    void identify(Rule &rule, const json &node, const json &id) {
        const std::string pointer = below(rule.pointer, "$id");
        std::string name;
        require(id.is_string() && read_fragment(id.text(), name), pointer, "This must be a URI reference.");
        bool is_new = true;
        if (!without_fragment(id.text()).empty()) {
            rule.base = resolve(rule.base, id.text());
            is_new = documents_.emplace(rule.base, &node).second;
        }
        if (!name.empty()) {
            is_new = documents_.emplace(rule.base + "#" + name, &node).second && is_new;
        }
        require(is_new, pointer, "Another schema has this $id already.");
    }

    void follow(Reference reference) {
        std::string fragment;
        require(
            read_fragment(*reference.text, fragment), reference.pointer, "A % here must be followed by two digits.");
        const std::string uri = resolve(reference.rule->base, *reference.text);
        const bool is_name = !fragment.empty() && fragment[0] != '/';
        const auto found = documents_.find(is_name ? uri + "#" + fragment : uri);
        if (found == documents_.end()) {
            fail(
                reference.pointer,
                is_name ? "No schema here has this name as its $id."
                        : "No schema here has this URI as its $id; references to other documents are not fetched.");
        }
        const std::optional<Tokens> tokens = parse_pointer(is_name ? "" : fragment);
        require(tokens.has_value(), reference.pointer, "The part after # is not a JSON Pointer.");
        const json *place = found->second;
        std::string pointer = rules_.at(place)->pointer;
        std::string base = rules_.at(place)->base;
        for (const std::string &token : *tokens) {
            const std::optional<size_t> index = parse_index(token);
            const json *next = place->find(token);
            if (next == nullptr && index && *index < place->elements().size()) {
                next = &place->elements()[*index];
            }
            require(next != nullptr, reference.pointer, "The schema has nothing at the place that this refers to.");
            place = next;
            append_token(pointer, token);
            if (const auto rule = rules_.find(place); rule != rules_.end()) {
                base = rule->second->base;
            }
        }
        Rule &target = visit(*place, pointer, base);
        target.is_target = true;
        reference.rule->reference = &target;
    }

    /// How many rules may apply to one value below this one. A circle of such rules would never end.
    size_t measure(const Rule &rule) {
        const auto [place, is_new] = heights_.try_emplace(&rule, 0);
        if (!is_new) {
            if (place->second == 0) {
                fail(rule.pointer, "This schema refers to itself without end.");
            }
            return place->second;
        }
        size_t height = 0;
        const auto add = [&](const Rule *next) {
            height = next == nullptr ? height : std::max(height, measure(*next));
        };
        for (const Rules *rules : {&rule.all_of, &rule.any_of, &rule.one_of}) {
            std::for_each(rules->begin(), rules->end(), add);
        }
        for (const Rule *next : {rule.forbidden, rule.condition, rule.consequence, rule.alternative, rule.reference}) {
            add(next);
        }
        for (const Rule::Dependency &dependency : rule.dependencies) {
            add(dependency.rule);
        }
        height += rule.reference == nullptr ? 1 : 0;
        if (height > maximum_combinations) {
            fail(
                rule.pointer,
                "More than " + std::to_string(maximum_combinations)
                    + " subschemas inside each other apply to one value.");
        }
        return heights_[&rule] = height;
    }

    static void require(bool holds, const std::string &pointer, const char *detail) {
        if (!holds) {
            fail(pointer, detail);
        }
    }

    // MARK: Keywords

    void read_unknown(const std::string &name, const std::string &pointer) {
        static constexpr std::string_view later[] = {
            "$anchor", "$defs", "$dynamicAnchor", "$dynamicRef", "$recursiveAnchor", "$recursiveRef", "$vocabulary",
            "contentSchema", "dependentRequired", "dependentSchemas", "deprecated", "maxContains", "minContains",
            "prefixItems", "unevaluatedItems", "unevaluatedProperties",
        };
        static constexpr std::string_view obsolete[] = {"disallow", "divisibleBy", "extends"};
        const auto is_in = [&](const auto &names) {
            return std::find(std::begin(names), std::end(names), name) != std::end(names);
        };
        require(!is_in(obsolete), pointer, "This keyword is of an older draft and means nothing in draft 7.");
        if (name == "id") {
            note(CJSON_SCHEMA_OTHER_DRAFT, pointer, "is a keyword of draft 4 and has no effect; draft 7 has $id");
        } else if (is_in(later)) {
            note(CJSON_SCHEMA_OTHER_DRAFT, pointer, "is a keyword of a later draft and has no effect in draft 7");
        } else if (name.compare(0, 2, "x-") != 0) {
            note(CJSON_SCHEMA_UNKNOWN_KEYWORD, pointer);
        }
    }

    void read_draft(Rule &, const json &value, const std::string &pointer) {
        require(value.is_string(), pointer, "This must be a string.");
        std::string_view draft = value.text();
        if (!draft.empty() && draft.back() == '#') {
            draft.remove_suffix(1);
        }
        if (draft != "http://json-schema.org/draft-07/schema") {
            note(
                CJSON_SCHEMA_OTHER_DRAFT, pointer,
                written(value) + " is not draft 7 (http://json-schema.org/draft-07/schema#), which is in force here");
        }
    }

    void read_anything(Rule &, const json &, const std::string &) {}

    void read_text(Rule &, const json &value, const std::string &pointer) {
        require(value.is_string(), pointer, "This must be a string.");
    }

    void read_content(Rule &rule, const json &value, const std::string &pointer) {
        read_text(rule, value, pointer);
        note(CJSON_SCHEMA_WITHOUT_EFFECT, pointer, "is not checked");
    }

    void read_format(Rule &rule, const json &value, const std::string &pointer) {
        read_text(rule, value, pointer);
        rule.format = SchemaFormat::named(value.text());
        if (rule.format == nullptr) {
            note(
                CJSON_SCHEMA_WITHOUT_EFFECT, pointer,
                written(value) + " is not checked; the formats that are checked are " + SchemaFormat::names());
        }
    }

    void read_type(Rule &rule, const json &value, const std::string &pointer) {
        rule.type = &value;
        rule.types = type_bit(value.text());
        bool is_sound = value.is_array() || rule.types != 0;
        for (const json &name : value.elements()) {
            const unsigned bit = type_bit(name.text());
            rule.types |= bit;
            is_sound = is_sound && bit != 0;
        }
        require(
            is_sound && rule.types != 0, pointer,
            "This must be array, boolean, integer, null, number, object or string, or an array of these.");
    }

    void read_enum(Rule &rule, const json &value, const std::string &pointer) {
        require(!value.elements().empty(), pointer, "This must be an array of at least one value.");
        rule.choices = &value;
    }

    template <const json *Rule::*Target>
    void read_value(Rule &rule, const json &value, const std::string &) {
        rule.*Target = &value;
    }

    template <const json *Rule::*Target>
    void read_number(Rule &rule, const json &value, const std::string &pointer) {
        require(value.is_number(), pointer, "This must be a number.");
        rule.*Target = &value;
    }

    void read_multiple_of(Rule &rule, const json &value, const std::string &pointer) {
        require(value.is_number() && value.number() > 0, pointer, "This must be a number greater than 0.");
        rule.multiple_of = &value;
    }

    template <const json *Rule::*Target>
    void read_count(Rule &rule, const json &value, const std::string &pointer) {
        require(
            value.is_number() && is_integer(value) && value.number() >= 0, pointer,
            "This must be an integer, 0 or greater.");
        rule.*Target = &value;
    }

    void read_unique_items(Rule &rule, const json &value, const std::string &pointer) {
        require(value.is<bool>(), pointer, "This must be a boolean.");
        rule.has_unique_items = value.is_true();
    }

    void read_required(Rule &rule, const json &value, const std::string &pointer) {
        check_names(value, pointer);
        rule.required = &value;
    }

    static void check_names(const json &value, const std::string &pointer) {
        const json::Elements &names = value.elements();
        const auto is_name = [](const json &name) { return name.is_string(); };
        const bool is_sound = value.is_array() && std::all_of(names.begin(), names.end(), is_name);
        require(is_sound, pointer, "This must be an array of member names.");
    }

    void read_pattern(Rule &rule, const json &value, const std::string &pointer) {
        require(value.is_string(), pointer, "This must be a string.");
        rule.pattern_text = &value;
        rule.pattern = &pattern(value.text(), pointer);
    }

    const Pattern &pattern(const std::string &text, const std::string &pointer) {
        if (text.size() > maximum_pattern_length) {
            fail(pointer, "A pattern must have at most " + std::to_string(maximum_pattern_length) + " bytes.");
        }
        try {
            return schema_.patterns.try_emplace(text, text).first->second;
        } catch (const std::invalid_argument &) {
            fail(pointer, "This is not a regular expression that can be used here.");
        }
    }

    template <const Rule *Rule::*Target>
    void read_schema(Rule &rule, const json &value, const std::string &pointer) {
        rule.*Target = &visit(value, pointer, rule.base);
    }

    template <Rules Rule::*Target>
    void read_schemas(Rule &rule, const json &value, const std::string &pointer) {
        require(!value.elements().empty(), pointer, "This must be an array of at least one schema.");
        (rule.*Target) = visit_all(rule, value, pointer);
    }

    Rules visit_all(const Rule &rule, const json &list, const std::string &pointer) {
        Rules rules;
        for (const json &element : list.elements()) {
            rules.push_back(&visit(element, below(pointer, std::to_string(rules.size())), rule.base));
        }
        return rules;
    }

    void read_items(Rule &rule, const json &value, const std::string &pointer) {
        if (value.is_array()) {
            rule.listed_items = visit_all(rule, value, pointer);
        } else {
            rule.other_items = &visit(value, pointer, rule.base);
        }
    }

    /// Calls `add` with each member of an object and its rule.
    template <typename Add>
    void visit_members(const Rule &rule, const json &map, const std::string &pointer, Add add) {
        require(map.is_object(), pointer, "This must be an object of schemas.");
        for (const Member &member : map.members()) {
            const std::string place = below(pointer, member.name);
            add(member, visit(member.value, place, rule.base), place);
        }
    }

    void read_definitions(Rule &rule, const json &value, const std::string &pointer) {
        visit_members(rule, value, pointer, [](const Member &, const Rule &, const std::string &) {});
    }

    void read_properties(Rule &rule, const json &value, const std::string &pointer) {
        visit_members(rule, value, pointer, [&](const Member &member, const Rule &property, const std::string &) {
            rule.properties.push_back({&member.name, &property});
        });
    }

    void read_pattern_properties(Rule &rule, const json &value, const std::string &pointer) {
        visit_members(rule, value, pointer, [&](const Member &member, const Rule &property, const std::string &place) {
            rule.pattern_properties.push_back({&member.name, &pattern(member.name, place), &property});
        });
    }

    void read_dependencies(Rule &rule, const json &value, const std::string &pointer) {
        require(value.is_object(), pointer, "This must be an object of schemas and arrays of names.");
        for (const Member &member : value.members()) {
            const std::string place = below(pointer, member.name);
            const bool is_names = member.value.is_array();
            if (is_names) {
                check_names(member.value, place);
            }
            rule.dependencies.push_back(
                {&member.name, is_names ? nullptr : &visit(member.value, place, rule.base),
                 is_names ? &member.value : nullptr});
        }
    }

    CompiledSchema &schema_;
    std::unordered_map<const json *, Rule *> rules_;
    std::vector<Reference> references_;
    /// Schemas by their `$id`, resolved, and by that with a plain name: `URI#name`.
    std::map<std::string, const json *> documents_;
    /// 0 while a rule is being measured.
    std::unordered_map<const Rule *, size_t> heights_;
};

const std::vector<Compiler::Keyword> &Compiler::keywords() {
    using C = Compiler;
    static const std::vector<Keyword> keywords = {
        {"$comment", &C::read_text, true}, {"$id", &C::read_anything}, {"$ref", &C::read_anything},
        {"$schema", &C::read_draft, true}, {"additionalItems", &C::read_schema<&Rule::other_items>},
        {"additionalProperties", &C::read_schema<&Rule::additional_properties>},
        {"allOf", &C::read_schemas<&Rule::all_of>}, {"anyOf", &C::read_schemas<&Rule::any_of>},
        {"const", &C::read_value<&Rule::constant>}, {"contains", &C::read_schema<&Rule::contains>},
        {"contentEncoding", &C::read_content}, {"contentMediaType", &C::read_content},
        {"default", &C::read_anything, true}, {"definitions", &C::read_definitions, true},
        {"dependencies", &C::read_dependencies}, {"description", &C::read_text, true},
        {"else", &C::read_schema<&Rule::alternative>}, {"enum", &C::read_enum}, {"examples", &C::read_anything, true},
        {"exclusiveMaximum", &C::read_number<&Rule::exclusive_maximum>},
        {"exclusiveMinimum", &C::read_number<&Rule::exclusive_minimum>}, {"format", &C::read_format},
        {"if", &C::read_schema<&Rule::condition>}, {"items", &C::read_items},
        {"maxItems", &C::read_count<&Rule::max_items>}, {"maxLength", &C::read_count<&Rule::max_length>},
        {"maxProperties", &C::read_count<&Rule::max_properties>}, {"maximum", &C::read_number<&Rule::maximum>},
        {"minItems", &C::read_count<&Rule::min_items>}, {"minLength", &C::read_count<&Rule::min_length>},
        {"minProperties", &C::read_count<&Rule::min_properties>}, {"minimum", &C::read_number<&Rule::minimum>},
        {"multipleOf", &C::read_multiple_of}, {"not", &C::read_schema<&Rule::forbidden>},
        {"oneOf", &C::read_schemas<&Rule::one_of>}, {"pattern", &C::read_pattern},
        {"patternProperties", &C::read_pattern_properties}, {"properties", &C::read_properties},
        {"propertyNames", &C::read_schema<&Rule::property_names>}, {"readOnly", &C::read_anything, true},
        {"required", &C::read_required}, {"then", &C::read_schema<&Rule::consequence>}, {"title", &C::read_text, true},
        {"type", &C::read_type}, {"uniqueItems", &C::read_unique_items}, {"writeOnly", &C::read_anything, true},
    };
    return keywords;
}

}  // namespace

unsigned type_bit(std::string_view name) {
    static constexpr std::string_view names[] = {"null", "boolean", "integer", "number", "string", "array", "object"};
    const auto found = std::find(std::begin(names), std::end(names), name);
    return found == std::end(names) ? 0 : 1U << (found - std::begin(names));
}

unsigned type_bits(const json &value) {
    // By the order of types in the variant; the bits are those of `type_bit`.
    constexpr unsigned integer = 1 << 2;
    constexpr unsigned number = 1 << 3;
    constexpr unsigned bits[] = {1 << 0, 1 << 1, integer | number, integer | number, number, 1 << 4, 1 << 5, 1 << 6};
    static_assert(std::size(bits) == std::variant_size_v<json::Data>);
    const unsigned result = bits[value.data().index()];
    return result == number && is_integer(value) ? integer | number : result;
}

void compile(CompiledSchema &schema) { Compiler(schema).compile(); }

const char *schema_keyword(size_t index) {
    // The names are literals, which end with NUL.
    return index < Compiler::keywords().size() ? Compiler::keywords()[index].name.data() : nullptr;
}

}  // namespace cjson
