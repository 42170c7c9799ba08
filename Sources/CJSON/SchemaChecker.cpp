#include "SchemaChecker.hpp"

#include "Normalise.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace cjson {

namespace {

enum class Form {
    schema, names_schema, in_place_schema, in_place_schemas, map, pattern_map, items, dependencies, number,
    positive_number, count, text, pattern, names, type, values, boolean, obsolete,
};

struct Keyword {
    const char *name;
    Form form;
};

constexpr Keyword keywords[] = {
    {"additionalItems", Form::schema}, {"additionalProperties", Form::schema}, {"allOf", Form::in_place_schemas},
    {"anyOf", Form::in_place_schemas}, {"contains", Form::schema}, {"definitions", Form::map},
    {"dependencies", Form::dependencies}, {"description", Form::text}, {"disallow", Form::obsolete},
    {"divisibleBy", Form::obsolete}, {"else", Form::in_place_schema}, {"extends", Form::obsolete},
    {"enum", Form::values}, {"exclusiveMaximum", Form::number}, {"exclusiveMinimum", Form::number},
    {"format", Form::text}, {"if", Form::in_place_schema}, {"items", Form::items}, {"maxItems", Form::count},
    {"maxLength", Form::count}, {"maxProperties", Form::count}, {"maximum", Form::number}, {"minItems", Form::count},
    {"minLength", Form::count}, {"minProperties", Form::count}, {"minimum", Form::number},
    {"multipleOf", Form::positive_number}, {"not", Form::in_place_schema}, {"oneOf", Form::in_place_schemas},
    {"pattern", Form::pattern}, {"patternProperties", Form::pattern_map}, {"properties", Form::map},
    {"propertyNames", Form::names_schema}, {"required", Form::names}, {"then", Form::in_place_schema},
    {"title", Form::text}, {"type", Form::type}, {"uniqueItems", Form::boolean},
};

[[noreturn]] void fail(const std::string &pointer, std::string detail) {
    throw SchemaProblem{pointer, std::move(detail)};
}

std::string below(const std::string &pointer, const std::string &token) {
    std::string result = pointer;
    append_token(result, token);
    return result;
}

/// valijson knows a name by what is before a NUL byte.
void check_name(const std::string &name, const std::string &pointer) {
    if (name.find('\0') != std::string::npos) {
        fail(pointer, "A name here must not contain U+0000.");
    }
}

/// Lowers a limit to `maximum`, or sets it.
void limit(Members &node, const char *keyword, size_t maximum) {
    json &value = node[keyword];
    if (!value.is_number() || value.number() > static_cast<double>(maximum)) {
        value = json::whole(maximum);
    }
}

int hexadecimal(char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
    return -1;
}

void replace_all(std::string &text, const char *sought, char replacement) {
    for (size_t at = text.find(sought); at != std::string::npos; at = text.find(sought, at + 1)) {
        text.replace(at, std::strlen(sought), 1, replacement);
    }
}

/// Undoes the escapes of a token in a reference, in valijson's order, so that both mean the same place.
bool unescape(std::string &token) {
    replace_all(token, "~1", '/');
    replace_all(token, "~0", '~');
    for (size_t at = token.find('%'); at != std::string::npos; at = token.find('%', at + 1)) {
        const int high = at + 2 < token.size() ? hexadecimal(token[at + 1]) : -1;
        const int low = at + 2 < token.size() ? hexadecimal(token[at + 2]) : -1;
        if (high < 0 || low < 0) {
            return false;
        }
        token.replace(at, 3, 1, static_cast<char>(high * 16 + low));
    }
    return !token.empty();
}

/// Where the schemas of `propertyNames` are moved to.
constexpr char homes_of_property_names[] = "$checkedPropertyNames";

/// How many there are at most.
size_t count_property_names(const json &value) {
    size_t count = 0;
    for (const json &element : value.elements()) {
        count += count_property_names(element);
    }
    for (const Member &member : value.members()) {
        count += (member.name == "propertyNames" ? 1 : 0) + count_property_names(member.value);
    }
    return count;
}

}  // namespace

void SchemaChecker::check(CheckedSchema &schema) {
    normalise(schema.document);
    SchemaChecker checker(schema);
    Members *members = schema.document.as<Members>();
    if (const size_t count = count_property_names(schema.document); count != 0 && members != nullptr) {
        // Room for all of them, because addresses of subschemas are remembered.
        json &homes = (*members)[homes_of_property_names];
        homes = json(json::Elements());
        homes.as<json::Elements>()->reserve(count);
    }
    checker.waiting_.push_back({&schema.document, ""});
    while (!checker.waiting_.empty()) {
        const Visit next = std::move(checker.waiting_.back());
        checker.waiting_.pop_back();
        checker.visit(*next.node, next.pointer);
    }
    for (const auto &entry : checker.visited_) {
        checker.refuse_endless(entry.first);
    }
    // Only now: narrowing takes members away that something still to be visited might refer to, and moves others.
    checker.narrow_all(schema.document);
    for (const std::string &reference : checker.references_) {
        schema.references[reference] = &checker.resolve(reference, "");
    }
}

void SchemaChecker::visit(json &node, const std::string &pointer) {
    if (!visited_.emplace(&node, pointer).second) {
        return;
    }
    if (visited_.size() > maximum_subschemas) {
        fail("", "The schema has more than " + std::to_string(maximum_subschemas) + " subschemas.");
    }
    // valijson remembers subschemas by a path without escapes; two with one path would be taken for each other.
    std::string plain = pointer;
    replace_all(plain, "~1", '/');
    replace_all(plain, "~0", '~');
    if (!plain_paths_.insert(plain).second) {
        fail(pointer, "Names with slashes in them make this schema ambiguous.");
    }
    if (node.is<bool>()) {
        return;
    }
    if (!node.is_object()) {
        fail(pointer, "A schema is an object, true or false.");
    }
    if (const json *reference = node.find("$ref")) {
        // In draft 7 the siblings of a reference are ignored.
        follow(node, *reference, below(pointer, "$ref"));
        return;
    }
    for (Member &member : *node.as<Members>()) {
        visit_keyword(node, member.name, member.value, below(pointer, member.name));
    }
    sound_.insert(&node);
}

void SchemaChecker::visit_keyword(
    json &node, const std::string &keyword, json &value, const std::string &pointer) {
    const auto *found = std::find_if(
        std::begin(keywords), std::end(keywords), [&](const Keyword &known) { return keyword == known.name; });
    if (found == std::end(keywords)) {
        return;
    }
    switch (found->form) {
    case Form::schema: visit(value, pointer); break;
    case Form::names_schema: visit_property_names(value, pointer); break;
    case Form::in_place_schema: visit_in_place(node, value, pointer); break;
    case Form::in_place_schemas: visit_schemas(node, value, pointer, true); break;
    case Form::map: visit_map(value, pointer, false); break;
    case Form::pattern_map: visit_map(value, pointer, true); break;
    case Form::items: value.is_array() ? visit_schemas(node, value, pointer, false) : visit(value, pointer); break;
    case Form::dependencies: visit_dependencies(node, value, pointer); break;
    case Form::positive_number:
        if (!value.is_number() || value.number() <= 0) {
            fail(pointer, "This must be a number greater than 0.");
        }
        break;
    case Form::number:
        if (!value.is_number()) {
            fail(pointer, "This must be a number.");
        }
        break;
    case Form::count:
        if (!value.is_integer() || value.number() < 0) {
            fail(pointer, "This must be a whole number, 0 or greater.");
        }
        break;
    case Form::text:
        if (!value.is_string()) {
            fail(pointer, "This must be a string.");
        }
        break;
    case Form::pattern:
        if (!value.is_string()) {
            fail(pointer, "This must be a string.");
        }
        check_pattern(value.text(), pointer);
        break;
    case Form::names: check_names(value, pointer); break;
    case Form::type: check_type(value, pointer); break;
    case Form::values:
        if (value.elements().empty()) {
            fail(pointer, "This must be an array of at least one value.");
        }
        break;
    case Form::boolean:
        if (!value.is<bool>()) {
            fail(pointer, "This must be true or false.");
        }
        break;
    case Form::obsolete: fail(pointer, "This keyword is of an older draft and means nothing in draft 7.");
    }
}

/// Moves the schema of `propertyNames` to the top and leaves a reference: where `propertyNames` is itself inside
/// something referred to, valijson would confuse it with that. What it finds by reference it does not confuse.
void SchemaChecker::visit_property_names(json &value, const std::string &pointer) {
    if (!value.is_object() || value.find("$ref") != nullptr) {
        if (!value.is<bool>()) {
            visit(value, pointer);
            return;
        }
        // valijson has no boolean here that it would not confuse either.
        const bool takes_all = value.is_true();
        value = json(Members());
        if (!takes_all) {
            (*value.as<Members>())["not"] = json(Members());
        }
    }
    json::Elements &homes = *schema_.document.find(homes_of_property_names)->as<json::Elements>();
    const std::string reference = std::string("#/") + homes_of_property_names + "/" + std::to_string(homes.size());
    json &home = homes.emplace_back(std::move(value));
    value = json(Members());
    (*value.as<Members>())["$ref"] = json(reference);
    references_.insert(reference);
    visit(home, pointer);
}

void SchemaChecker::visit_in_place(json &node, json &child, const std::string &pointer) {
    in_place_[&node].push_back(&child);
    visit(child, pointer);
}

void SchemaChecker::visit_schemas(json &node, json &list, const std::string &pointer, bool in_place) {
    json::Elements *schemas = list.as<json::Elements>();
    if (schemas == nullptr || (in_place && schemas->empty())) {
        fail(pointer, "This must be an array of at least one schema.");
    }
    for (size_t index = 0; index < schemas->size(); ++index) {
        json &child = (*schemas)[index];
        const std::string place = below(pointer, std::to_string(index));
        in_place ? visit_in_place(node, child, place) : visit(child, place);
    }
}

void SchemaChecker::visit_map(json &map, const std::string &pointer, bool names_are_patterns) {
    if (!map.is_object()) {
        fail(pointer, "This must be an object of schemas.");
    }
    for (Member &member : *map.as<Members>()) {
        const std::string place = below(pointer, member.name);
        check_name(member.name, place);
        if (names_are_patterns) {
            check_pattern(member.name, place);
        }
        visit(member.value, place);
    }
}

void SchemaChecker::visit_dependencies(json &node, json &map, const std::string &pointer) {
    if (!map.is_object()) {
        fail(pointer, "This must be an object of schemas and arrays of names.");
    }
    for (Member &member : *map.as<Members>()) {
        const std::string place = below(pointer, member.name);
        check_name(member.name, place);
        member.value.is_array() ? check_names(member.value, place) : visit_in_place(node, member.value, place);
    }
}

void SchemaChecker::follow(json &node, const json &reference, const std::string &pointer) {
    if (!reference.is_string()) {
        fail(pointer, "This must be a string.");
    }
    const std::string &text = reference.text();
    json &target = resolve(text, pointer);
    references_.insert(text);
    in_place_[&node].push_back(&target);
    if (visited_.count(&target) == 0) {
        waiting_.push_back({&target, text.substr(1)});
    }
}

json &SchemaChecker::resolve(const std::string &reference, const std::string &pointer) {
    if (reference.empty() || reference[0] != '#' || (reference.size() > 1 && reference[1] != '/')) {
        fail(pointer, "A reference is \"#\" or begins with \"#/\": schemas elsewhere are not fetched.");
    }
    json *place = &schema_.document;
    for (size_t start = 1; start < reference.size();) {
        const size_t end = std::min(reference.find('/', start + 1), reference.size());
        std::string token = reference.substr(start + 1, end - start - 1);
        if (!unescape(token)) {
            fail(pointer, "This reference is not a JSON Pointer that can be followed.");
        }
        start = end;
        const bool is_index = token.size() < 10 && token.find_first_not_of("0123456789") == std::string::npos;
        if (json *member = place->find(token)) {
            place = member;
        } else if (is_index && std::stoul(token) < place->elements().size()) {
            place = &(*place->as<json::Elements>())[std::stoul(token)];
        } else {
            fail(pointer, "There is nothing at the place that this reference names.");
        }
    }
    return *place;
}

void SchemaChecker::check_pattern(const std::string &pattern, const std::string &pointer) {
    check_name(pattern, pointer);
    if (pattern.size() > maximum_pattern_length) {
        fail(pointer, "A pattern has at most " + std::to_string(maximum_pattern_length) + " bytes.");
    }
    try {
        schema_.patterns.add(pattern);
    } catch (const std::invalid_argument &) {
        fail(pointer, "This is not a regular expression that can be used here.");
    }
}

/// Depth-first search for a circle of references and combinations that never gets to another value.
void SchemaChecker::refuse_endless(const json *node) {
    int &progress = progress_[node];
    if (progress == 2) {
        return;
    }
    if (progress == 1) {
        fail(visited_[node], "This schema refers to itself without end.");
    }
    progress = 1;
    const auto edges = in_place_.find(node);
    if (edges != in_place_.end()) {
        for (const json *next : edges->second) {
            refuse_endless(next);
        }
    }
    progress = 2;
}

void SchemaChecker::check_type(const json &value, const std::string &pointer) {
    static constexpr std::string_view types[] = {"array", "boolean", "integer", "null", "number", "object", "string"};
    const auto known = [](const json &name) {
        return name.is_string() && std::find(std::begin(types), std::end(types), name.text()) != std::end(types);
    };
    const json::Elements &list = value.elements();
    const bool sound = value.is_array() ? !list.empty() && std::all_of(list.begin(), list.end(), known) : known(value);
    if (!sound) {
        fail(pointer, "This must be, or be an array of, array, boolean, integer, null, number, object or string.");
    }
}

void SchemaChecker::check_names(const json &value, const std::string &pointer) {
    if (!value.is_array()) {
        fail(pointer, "This must be an array of member names.");
    }
    for (const json &name : value.elements()) {
        if (!name.is_string()) {
            fail(pointer, "This must be an array of member names.");
        }
        check_name(name.text(), pointer);
    }
}

/// Narrows the sound subschemas in a part of the document. What is inside comes first: narrowing moves it.
void SchemaChecker::narrow_all(json &node) {
    if (json::Elements *elements = node.as<json::Elements>()) {
        for (json &element : *elements) {
            narrow_all(element);
        }
    } else if (Members *members = node.as<Members>()) {
        for (Member &member : *members) {
            narrow_all(member.value);
        }
        if (sound_.count(&node) != 0) {
            narrow(*members);
        }
    }
}

void SchemaChecker::narrow(Members &node) {
    node.erase("format");
    if (const json *id = node.find("id"); id != nullptr && id->is_string()) {
        node.erase("id");
    }
    if (json *divisor = node.find("multipleOf")) {
        // With a whole divisor valijson drops the fraction of what it divides.
        *divisor = json(divisor->number());
    }
    if (const json *unique = node.find("uniqueItems"); unique != nullptr && unique->is_true()) {
        limit(node, "maxItems", maximum_unique_items);
    }
}

}  // namespace cjson
