#include "PlainSchema.hpp"

#include <algorithm>
#include <charconv>

namespace cjson {

namespace {

enum Counted { characters, elements, members };

constexpr unsigned bit(PlainKind kind) { return 1U << static_cast<unsigned>(kind); }

unsigned kinds_of(const std::string &type) {
    if (type == "null") return bit(PlainKind::null);
    if (type == "boolean") return bit(PlainKind::boolean);
    // A whole number that is written as a fraction is one too. It is left to those who know all about numbers.
    if (type == "integer") return bit(PlainKind::integer);
    if (type == "number") return bit(PlainKind::integer) | bit(PlainKind::real);
    if (type == "string") return bit(PlainKind::string);
    if (type == "array") return bit(PlainKind::array);
    return type == "object" ? bit(PlainKind::object) : 0;
}

unsigned kinds_of(const json &types) {
    if (types.is_string()) {
        return kinds_of(types.get_ref<const std::string &>());
    }
    unsigned kinds = 0;
    for (const json &type : types) {
        kinds |= kinds_of(type.get_ref<const std::string &>());
    }
    return kinds;
}

bool is_annotation(const std::string &keyword) {
    static constexpr const char *annotations[] = {
        "$comment", "$schema", "default", "definitions", "description", "examples", "readOnly", "title", "writeOnly",
    };
    return std::any_of(
        std::begin(annotations), std::end(annotations), [&](const char *name) { return keyword == name; });
}

bool is_within(const size_t least[3], const size_t most[3], Counted counted, size_t count) {
    return count >= least[counted] && count <= most[counted];
}

}  // namespace

void PlainSchema::prepare(const CheckedSchema &schema) {
    schema_ = &schema;
    // Names that are matched or measured may be anywhere, also where no keyword asks for it.
    root_ = schema.examines_names ? nullptr : compile(schema.document);
}

const PlainSchema::Rule *PlainSchema::compile(const json &schema) {
    const auto reference = schema_->references.find(&schema);
    if (reference != schema_->references.end()) {
        return compile(*reference->second);
    }
    const auto inserted = rules_.try_emplace(&schema);
    Rule &rule = inserted.first->second;
    if (!inserted.second) {
        return &rule;
    }
    if (!schema.is_object()) {
        rule.is_unknown = schema != true;
        return &rule;
    }
    for (auto keyword = schema.begin(); keyword != schema.end(); ++keyword) {
        add_keyword(rule, keyword.key(), *keyword);
    }
    add_members(rule, schema);
    return &rule;
}

void PlainSchema::add_keyword(Rule &rule, const std::string &keyword, const json &value) {
    const auto lower = [](double &bound, double to) { bound = std::min(bound, to); };
    const auto raise = [](double &bound, double to) { bound = std::max(bound, to); };
    if (keyword == "type") {
        rule.kinds = kinds_of(value);
    } else if (keyword == "minLength") {
        rule.least[characters] = value.get<size_t>();
    } else if (keyword == "maxLength") {
        rule.most[characters] = value.get<size_t>();
    } else if (keyword == "minItems") {
        rule.least[elements] = value.get<size_t>();
    } else if (keyword == "maxItems") {
        rule.most[elements] = value.get<size_t>();
    } else if (keyword == "minProperties") {
        rule.least[members] = value.get<size_t>();
    } else if (keyword == "maxProperties") {
        rule.most[members] = value.get<size_t>();
    } else if (keyword == "minimum") {
        raise(rule.minimum, value.get<double>());
    } else if (keyword == "maximum") {
        lower(rule.maximum, value.get<double>());
    } else if (keyword == "exclusiveMinimum") {
        raise(rule.minimum, std::nextafter(value.get<double>(), std::numeric_limits<double>::infinity()));
    } else if (keyword == "exclusiveMaximum") {
        lower(rule.maximum, std::nextafter(value.get<double>(), -std::numeric_limits<double>::infinity()));
    } else if (keyword == "items" && !value.is_array()) {
        rule.items = compile(value);
    } else if (keyword == "const") {
        rule.allowed.push_back(value.dump());
    } else if (keyword == "enum" && rule.allowed.empty()) {
        for (const json &each : value) {
            rule.allowed.push_back(each.dump());
        }
    } else if (keyword == "pattern") {
        rule.pattern = &schema_->patterns.at(value.get_ref<const std::string &>());
    } else if (keyword != "properties" && keyword != "required" && keyword != "additionalProperties") {
        rule.is_unknown = rule.is_unknown || !is_annotation(keyword);
    }
}

void PlainSchema::add_members(Rule &rule, const json &schema) {
    if (const auto rest = schema.find("additionalProperties"); rest != schema.end()) {
        rule.rest = compile(*rest);
    }
    if (const auto required = schema.find("required"); required != schema.end()) {
        for (const json &name : *required) {
            Member &added = member(rule, name.get_ref<const std::string &>());
            added.rule = rule.rest;
            added.is_required = true;
        }
    }
    if (const auto properties = schema.find("properties"); properties != schema.end()) {
        for (auto property = properties->begin(); property != properties->end(); ++property) {
            member(rule, property.key()).rule = compile(*property);
        }
    }
    // valijson's names end at U+0000.
    rule.is_unknown = rule.is_unknown || std::any_of(rule.members.begin(), rule.members.end(), [](const Member &each) {
        return each.name.find('\0') != std::string::npos;
    });
}

/// The one of that name, which is added where it belongs if there is none.
PlainSchema::Member &PlainSchema::member(Rule &rule, const std::string &name) {
    const auto place = std::lower_bound(
        rule.members.begin(), rule.members.end(), name,
        [](const Member &each, const std::string &sought) { return each.name < sought; });
    if (place != rule.members.end() && place->name == name) {
        return *place;
    }
    return *rule.members.insert(place, {name, nullptr, false});
}

bool PlainSchema::fits(const Rule &rule, const PlainValue &value) {
    if (rule.is_unknown || (rule.kinds & bit(value.kind)) == 0) {
        return false;
    }
    if (!rule.allowed.empty()) {
        // Text by text only scalars can be compared.
        if (value.kind >= PlainKind::array
            || std::find(rule.allowed.begin(), rule.allowed.end(), value.text.view()) == rule.allowed.end()) {
            return false;
        }
    }
    switch (value.kind) {
    case PlainKind::null:
    case PlainKind::boolean: return true;
    case PlainKind::integer:
    case PlainKind::real: return number_fits(rule, value);
    case PlainKind::string: return string_fits(rule, value);
    case PlainKind::array: return elements_fit(rule, value);
    case PlainKind::object: return members_fit(rule, value);
    }
    return false;
}

bool PlainSchema::number_fits(const Rule &rule, const PlainValue &value) {
    double number = 0;
    std::from_chars(value.text.start, value.text.start + value.text.length, number);
    return number >= rule.minimum && number <= rule.maximum;
}

bool PlainSchema::string_fits(const Rule &rule, const PlainValue &value) {
    const char *start = value.text.start + 1;
    const char *end = value.text.start + value.text.length - 1;
    if (rule.pattern != nullptr || rule.least[characters] > 0 || rule.most[characters] < value.text.length) {
        size_t count = 0;
        bool has_escapes = false;
        for (const char *at = start; at < end; ++at) {
            if (*at == '\\') {
                has_escapes = true;
                ++at;
            }
            // Every byte of a character but its first begins with the bits 10.
            count += (*at & 0xC0) != 0x80 ? 1 : 0;
        }
        if (!is_within(rule.least, rule.most, characters, count)) {
            return false;
        }
        // The expression is about what the escapes stand for.
        return rule.pattern == nullptr || (!has_escapes && std::regex_search(start, end, *rule.pattern));
    }
    return true;
}

bool PlainSchema::elements_fit(const Rule &rule, const PlainValue &array) {
    if (!is_within(rule.least, rule.most, elements, array.count)) {
        return false;
    }
    if (rule.items != nullptr) {
        for (const PlainValue *element = array.first; element != nullptr; element = element->next) {
            if (!fits(*rule.items, *element)) {
                return false;
            }
        }
    }
    return true;
}

bool PlainSchema::members_fit(const Rule &rule, const PlainValue &object) {
    if (!is_within(rule.least, rule.most, members, object.count)) {
        return false;
    }
    // Both are sorted: one walk sees what is listed and missing, what is both, and what is not listed.
    auto listed = rule.members.begin();
    for (const PlainValue *member = object.first; member != nullptr; member = member->next) {
        const std::string_view name = member->name.view();
        int order = -1;
        while (listed != rule.members.end() && (order = listed->name.compare(name)) < 0) {
            if (listed->is_required) {
                return false;
            }
            ++listed;
        }
        const bool is_listed = listed != rule.members.end() && order == 0;
        const Rule *expected = is_listed ? listed->rule : rule.rest;
        if (expected != nullptr && !fits(*expected, *member)) {
            return false;
        }
        listed += is_listed ? 1 : 0;
    }
    return std::none_of(listed, rule.members.end(), [](const Member &each) { return each.is_required; });
}

}  // namespace cjson
