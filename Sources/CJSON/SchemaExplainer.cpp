#include "SchemaExplainer.hpp"

#include "Sentences.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cjson {

namespace {

const json *keyword(const json &schema, const char *name) { return schema.find(name); }

/// Whether a number of things is beyond a limit in a schema.
bool is_less(size_t count, const json &limit) { return static_cast<double>(count) < limit.number(); }
bool is_more(size_t count, const json &limit) { return static_cast<double>(count) > limit.number(); }

size_t length_of(const std::string &text) {
    return static_cast<size_t>(
        std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; }));
}

bool has_type(const json &value, const std::string &type) {
    if (type == "integer") return value.is_integer();
    if (type == "number") return value.is_number();
    if (type == "string") return value.is_string();
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "boolean") return value.is<bool>();
    return type == "null" && value.is_null();
}

bool has_one_of(const json &value, const json &types) {
    const json::Elements &list = types.elements();
    return types.is_string()
        ? has_type(value, types.text())
        : std::any_of(list.begin(), list.end(), [&](const json &type) { return has_type(value, type.text()); });
}

const char *const not_allowed = "is not allowed";

}  // namespace

std::string SchemaExplainer::Place::pointer() const {
    if (parent == nullptr) {
        return "";
    }
    std::string text = parent->pointer();
    append_token(text, name == nullptr ? std::to_string(index) : *name);
    return text;
}

void SchemaExplainer::violation(const Place &place, const std::string &detail) {
    if (full()) {
        return;
    }
    ++found_;
    if (report_) {
        report_(place.pointer(), detail);
    }
}

void SchemaExplainer::violation_at_member(const Place &place, const std::string &name, const std::string &detail) {
    violation(Place{&place, &name, 0}, detail);
}

bool SchemaExplainer::fits(const json &schema, const json &value) const {
    SchemaExplainer silent(schema_, work_, 1, nullptr);
    silent.apply(schema, value, Place{nullptr, nullptr, 0});
    return silent.found_ == 0;
}

const json &SchemaExplainer::resolved(const json &schema) const {
    const json *place = &schema;
    while (const json *reference = place->find("$ref")) {
        place = schema_.references.at(reference->text());
    }
    return *place;
}

void SchemaExplainer::apply(const json &unresolved, const json &value, const Place &place) {
    if (full()) {
        return;
    }
    const json &schema = resolved(unresolved);
    if (schema.is<bool>()) {
        if (schema.is_false()) {
            violation(place, not_allowed);
        }
        return;
    }
    const json *type = keyword(schema, "type");
    if (type != nullptr && !has_one_of(value, *type)) {
        // What else it should be, had it the right type, is of no help.
        violation(place, must_be_type(*type));
        return;
    }
    apply_to_any(schema, value, place);
    if (value.is_number()) {
        apply_to_number(schema, value.number(), place);
    } else if (value.is_string()) {
        apply_to_string(schema, value.text(), place);
    } else if (value.is_array()) {
        apply_to_array(schema, value.elements(), place);
    } else if (value.is_object()) {
        apply_to_object(schema, value.members(), place);
        if (const json *dependencies = keyword(schema, "dependencies")) {
            apply_dependencies(*dependencies, value, place);
        }
    }
    apply_combinations(schema, value, place);
}

void SchemaExplainer::apply_to_any(const json &schema, const json &value, const Place &place) {
    if (const json *expected = keyword(schema, "const")) {
        if (*expected != value) {
            violation(place, must_be_value({*expected}));
        }
    }
    if (const json *allowed = keyword(schema, "enum")) {
        const json::Elements &values = allowed->elements();
        if (std::find(values.begin(), values.end(), value) == values.end()) {
            violation(place, must_be_value(values));
        }
    }
}

void SchemaExplainer::apply_to_number(const json &schema, double number, const Place &place) {
    const auto bound = [&](const char *name, bool (*holds)(double, double), const char *words) {
        const json *limit = keyword(schema, name);
        if (limit != nullptr && !holds(number, limit->number())) {
            violation(place, words + written(*limit));
        }
    };
    bound("minimum", [](double a, double b) { return a >= b; }, "must be at least ");
    bound("exclusiveMinimum", [](double a, double b) { return a > b; }, "must be greater than ");
    bound("maximum", [](double a, double b) { return a <= b; }, "must be at most ");
    bound("exclusiveMaximum", [](double a, double b) { return a < b; }, "must be less than ");
    bound(
        "multipleOf",
        [](double a, double b) { return std::fabs(std::remainder(a, b)) <= std::numeric_limits<double>::epsilon(); },
        "must be a multiple of ");
}

void SchemaExplainer::apply_to_string(const json &schema, const std::string &text, const Place &place) {
    const size_t length = length_of(text);
    if (const json *least = keyword(schema, "minLength")) {
        if (is_less(length, *least)) {
            violation(place, "must have at least " + counted(*least, "character"));
        }
    }
    if (const json *most = keyword(schema, "maxLength")) {
        if (is_more(length, *most)) {
            violation(place, "must have at most " + counted(*most, "character"));
            return;
        }
    }
    if (const json *pattern = keyword(schema, "pattern")) {
        if (!matches(pattern->text(), text, place)) {
            violation(place, "must match the pattern " + pattern->text());
        }
    }
}

/// Whether a text matches one of the schema's patterns. What cannot be found out is a violation of its own, and is
/// taken for a match then.
bool SchemaExplainer::matches(const std::string &pattern, std::string_view text, const Place &place) {
    switch (schema_.patterns.search(pattern, text, work_)) {
    case Match::found: return true;
    case Match::none: return false;
    case Match::undecided: violation(place, "cannot be checked against the pattern " + pattern); return true;
    }
    return true;
}

void SchemaExplainer::apply_to_array(const json &schema, const json::Elements &array, const Place &place) {
    if (const json *least = keyword(schema, "minItems")) {
        if (is_less(array.size(), *least)) {
            violation(place, "must have at least " + counted(*least, "element"));
        }
    }
    if (const json *most = keyword(schema, "maxItems")) {
        if (is_more(array.size(), *most)) {
            violation(place, "must have at most " + counted(*most, "element"));
            return;
        }
    }
    const json *items = keyword(schema, "items");
    const json *rest = items == nullptr || items->is_array() ? keyword(schema, "additionalItems") : items;
    const size_t listed = items != nullptr ? items->elements().size() : 0;
    for (size_t index = 0; items != nullptr && index < array.size() && !full(); ++index) {
        if (index < listed) {
            apply(items->elements()[index], array[index], Place{&place, nullptr, index});
        } else if (rest != nullptr) {
            apply(*rest, array[index], Place{&place, nullptr, index});
        }
    }
    const json *unique = keyword(schema, "uniqueItems");
    if (unique != nullptr && unique->is_true()) {
        for (size_t index = 1; index < array.size() && !full(); ++index) {
            const auto end = array.begin() + static_cast<std::ptrdiff_t>(index);
            if (std::find(array.begin(), end, array[index]) != end) {
                violation(Place{&place, nullptr, index}, "must not repeat an earlier element");
            }
        }
    }
    if (const json *wanted = keyword(schema, "contains")) {
        if (std::none_of(array.begin(), array.end(), [&](const json &element) { return fits(*wanted, element); })) {
            violation(place, "must contain at least one element of the required form");
        }
    }
}

void SchemaExplainer::apply_to_object(const json &schema, const Members &object, const Place &place) {
    if (const json *required = keyword(schema, "required")) {
        for (const json &name : required->elements()) {
            if (object.find(name.text()) == nullptr) {
                violation_at_member(place, name.text(), "is required");
            }
        }
    }
    if (const json *least = keyword(schema, "minProperties")) {
        if (is_less(object.size(), *least)) {
            violation(place, "must have at least " + counted(*least, "member"));
        }
    }
    if (const json *most = keyword(schema, "maxProperties")) {
        if (is_more(object.size(), *most)) {
            violation(place, "must have at most " + counted(*most, "member"));
        }
    }
    if (const json *names = keyword(schema, "propertyNames")) {
        for (const Member &member : object) {
            if (!full() && !fits(*names, json(member.name))) {
                violation_at_member(place, member.name, "has a name that is not allowed");
            }
        }
    }
    apply_properties(schema, object, place);
}

void SchemaExplainer::apply_properties(const json &schema, const Members &object, const Place &place) {
    const json *properties = keyword(schema, "properties");
    const json *patterns = keyword(schema, "patternProperties");
    const json *additional = keyword(schema, "additionalProperties");
    for (const Member &member : object) {
        if (full()) {
            return;
        }
        const Place here{&place, &member.name, 0};
        const json *property = properties == nullptr ? nullptr : properties->find(member.name);
        bool matched = property != nullptr;
        if (matched) {
            apply(*property, member.value, here);
        }
        if (patterns != nullptr) {
            for (const Member &pattern : patterns->members()) {
                if (matches(pattern.name, member.name, here)) {
                    matched = true;
                    apply(pattern.value, member.value, here);
                }
            }
        }
        if (!matched && additional != nullptr) {
            apply(*additional, member.value, here);
        }
    }
}

void SchemaExplainer::apply_dependencies(const json &dependencies, const json &object, const Place &place) {
    for (const Member &dependency : dependencies.members()) {
        if (object.find(dependency.name) == nullptr) {
            continue;
        }
        if (!dependency.value.is_array()) {
            apply(dependency.value, object, place);
        }
        for (const json &name : dependency.value.elements()) {
            if (object.find(name.text()) == nullptr) {
                violation_at_member(
                    place, name.text(), "is required where there is " + written(json(dependency.name)));
            }
        }
    }
}

void SchemaExplainer::apply_combinations(const json &schema, const json &value, const Place &place) {
    if (const json *all = keyword(schema, "allOf")) {
        for (const json &each : all->elements()) {
            apply(each, value, place);
        }
    }
    if (const json *any = keyword(schema, "anyOf")) {
        apply_alternatives(any->elements(), value, place, false);
    }
    if (const json *one = keyword(schema, "oneOf")) {
        apply_alternatives(one->elements(), value, place, true);
    }
    if (const json *forbidden = keyword(schema, "not")) {
        if (fits(*forbidden, value)) {
            violation(place, "has a form that is not allowed");
        }
    }
    if (const json *condition = keyword(schema, "if")) {
        if (const json *consequence = keyword(schema, fits(*condition, value) ? "then" : "else")) {
            apply(*consequence, value, place);
        }
    }
}

void SchemaExplainer::apply_alternatives(
    const json::Elements &alternatives, const json &value, const Place &place, bool only_one) {
    size_t fitting = 0;
    for (const json &alternative : alternatives) {
        fitting += fits(alternative, value) ? 1 : 0;
    }
    if (fitting == 1 || (fitting > 1 && !only_one)) {
        return;
    }
    if (fitting > 1) {
        violation(place, "must have only one of the allowed forms, and has several");
        return;
    }
    // When only one alternative can have been meant, its violations say more. Only when somebody reads them, though:
    // a silent walk would double its work at every level.
    if (report_) {
        const json *meant = nullptr;
        size_t candidates = 0;
        for (const json &alternative : alternatives) {
            if (may_be_meant(alternative, value)) {
                meant = &alternative;
                ++candidates;
            }
        }
        if (candidates == 1) {
            apply(*meant, value, place);
            return;
        }
    }
    violation(place, "must have one of the allowed forms");
}

/// Whether a value looks like an alternative: its type fits, and so does each member that tells alternatives apart by
/// a constant.
bool SchemaExplainer::may_be_meant(const json &alternative, const json &value) const {
    const json &schema = resolved(alternative);
    if (!schema.is_object()) {
        return false;
    }
    const json *type = keyword(schema, "type");
    if (type != nullptr && !has_one_of(value, *type)) {
        return false;
    }
    const json *properties = keyword(schema, "properties");
    if (properties == nullptr || !value.is_object()) {
        return true;
    }
    for (const Member &property : properties->members()) {
        const json *member = value.find(property.name);
        const json *expected = keyword(property.value, "const");
        if (expected != nullptr && member != nullptr && *member != *expected) {
            return false;
        }
    }
    return true;
}

}  // namespace cjson
