#include "CompiledSchema.hpp"
#include "Internal.hpp"
#include "Pointer.hpp"

#include <algorithm>
#include <cmath>

namespace cjson {

namespace {

// Looking at that much of a text is a step.
constexpr size_t bytes_in_a_step = 64;

// MARK: Words

std::string written(const json &value) {
    // Such as 1 for 1.0: integers up to here are exact.
    if (value.is<double>() && is_integer(value) && std::fabs(value.number()) <= 9007199254740992.0) {
        return std::to_string(static_cast<int64_t>(value.number()));
    }
    return std::string(serialized(value));
}

/// `a, b or c`.
std::string listed(const std::vector<std::string> &items) {
    std::string text;
    for (size_t index = 0; index < items.size(); ++index) {
        if (index != 0) {
            text += index + 1 == items.size() ? " or " : ", ";
        }
        text += items[index];
    }
    return text;
}

std::string with_article(const std::string &type) {
    if (type == "null") return "null";
    return (type == "array" || type == "integer" || type == "object" ? "an " : "a ") + type;
}

std::string must_be_type(const json &types) {
    std::vector<std::string> names;
    if (types.is_string()) {
        names.push_back(with_article(types.text()));
    }
    for (const json &type : types.elements()) {
        names.push_back(with_article(type.text()));
    }
    return "must be " + listed(names);
}

std::string must_be_one_of(const json::Elements &values) {
    // A sentence, not a catalogue.
    constexpr size_t longest = 200;
    std::vector<std::string> names;
    size_t length = 0;
    for (const json &value : values) {
        names.push_back(written(value));
        length += names.back().size();
        if (length > longest) {
            return "must be one of the allowed values";
        }
    }
    return (names.size() == 1 ? "must be " : "must be one of ") + listed(names);
}

/// The steps that comparing a value with another may take.
size_t steps_of(const json &value) {
    size_t steps = 1 + value.text().size() / bytes_in_a_step;
    for (const json &element : value.elements()) {
        steps += steps_of(element);
    }
    for (const Member &member : value.members()) {
        steps += 1 + steps_of(member.value);
    }
    return steps;
}

/// Whether a value looks like what an alternative describes: its type is allowed, and so is each member for which the
/// alternative has a constant.
bool may_be_meant(const Rule &alternative, const json &value) {
    const Rule &rule = alternative.resolved();
    return (rule.types & type_bits(value)) != 0
        && std::all_of(rule.properties.begin(), rule.properties.end(), [&](const Rule::Property &property) {
               const json *member = value.find(*property.name);
               return property.rule->constant == nullptr || member == nullptr || *member == *property.rule->constant;
           });
}

/// Applies the rules of a schema to a document, and says where and why it does not fit.
class Validator {
public:
    Validator(Work &work, size_t limit, const Report &report) : work_(work), limit_(limit), report_(report) {}

    size_t validate(const Rule &root, const json &document) {
        apply(root, document, Place{nullptr, nullptr, 0});
        return found_;
    }

private:
    /// A place in the document; written out as a JSON Pointer only for a violation.
    struct Place {
        const Place *parent;
        const std::string *name;
        size_t index;

        std::string pointer() const {
            if (parent == nullptr) {
                return "";
            }
            std::string text = parent->pointer();
            append_token(text, name == nullptr ? std::to_string(index) : *name);
            return text;
        }
    };

    bool is_full() const { return found_ >= limit_; }

    /// `words` gives the detail: texts are made only when they are reported.
    template <typename Words>
    void violation(const Place &place, Words words) {
        if (is_full()) {
            return;
        }
        ++found_;
        if (report_) {
            report_(place.pointer(), words());
        }
    }

    /// Whether a value fits, without reports.
    bool fits(const Rule &rule, const json &value) const {
        static const Report silence;
        Validator silent(work_, 1, silence);
        silent.apply(rule, value, Place{nullptr, nullptr, 0});
        return silent.found_ == 0;
    }

    void apply(const Rule &stated, const json &value, const Place &place) {
        if (is_full()) {
            return;
        }
        work_.spend(1);
        const Rule &rule = stated.resolved();
        if (!rule.is_target || !value.is_structured() || !work_.is_much()) {
            return apply_keywords(rule, value, place);
        }
        const std::tuple key(static_cast<const void *>(&rule), static_cast<const void *>(&value), report_ != nullptr);
        if (const auto known = work_.known.find(key); known != work_.known.end()) {
            // A report need not be repeated.
            found_ += !known->second && !report_ ? 1 : 0;
            return;
        }
        constexpr size_t steps_to_remember = 10;
        work_.spend(steps_to_remember);
        const size_t before = found_;
        apply_keywords(rule, value, place);
        work_.known.emplace(key, found_ == before);
    }

    void apply_keywords(const Rule &rule, const json &value, const Place &place) {
        if ((rule.types & type_bits(value)) == 0) {
            // What else it would have to be, had it the right type, is of no help.
            return violation(place, [&] { return rule.type == nullptr ? "is not allowed" : must_be_type(*rule.type); });
        }
        apply_to_any(rule, value, place);
        if (value.is_number()) {
            apply_to_number(rule, value, place);
        } else if (value.is_string()) {
            apply_to_string(rule, value.text(), place);
        } else if (value.is_array()) {
            apply_to_array(rule, value.elements(), place);
        } else if (value.is_object()) {
            apply_to_object(rule, value, place);
        }
        apply_combinations(rule, value, place);
    }

    void apply_to_any(const Rule &rule, const json &value, const Place &place) {
        if (rule.constant != nullptr && value != *rule.constant) {
            violation(place, [&] { return must_be_one_of({*rule.constant}); });
        }
        if (rule.choices != nullptr) {
            const json::Elements &choices = rule.choices->elements();
            // Most choices differ from a value in their first bytes.
            constexpr size_t choices_in_a_step = 8;
            work_.spend(choices.size() / choices_in_a_step);
            if (std::find(choices.begin(), choices.end(), value) == choices.end()) {
                violation(place, [&] { return must_be_one_of(choices); });
            }
        }
    }

    void apply_to_number(const Rule &rule, const json &number, const Place &place) {
        const auto check = [&](const json *limit, auto is_beyond, const char *words) {
            if (limit != nullptr && is_beyond(compare_numbers(number, *limit))) {
                violation(place, [&] { return words + written(*limit); });
            }
        };
        check(rule.minimum, [](int order) { return order < 0; }, "must be at least ");
        check(rule.exclusive_minimum, [](int order) { return order <= 0; }, "must be greater than ");
        check(rule.maximum, [](int order) { return order > 0; }, "must be at most ");
        check(rule.exclusive_maximum, [](int order) { return order >= 0; }, "must be less than ");
        if (rule.multiple_of != nullptr && !is_multiple(number, *rule.multiple_of)) {
            violation(place, [&] { return "must be a multiple of " + written(*rule.multiple_of); });
        }
    }

    void check_count(
        size_t count, const json *least, const json *most, const char *thing, const Place &place) {
        const auto say = [&](const char *words, const json &limit) {
            violation(place, [&] { return words + written(limit) + thing + (limit.number() == 1 ? "" : "s"); });
        };
        if (least != nullptr && static_cast<double>(count) < least->number()) {
            say("must have at least ", *least);
        }
        if (most != nullptr && static_cast<double>(count) > most->number()) {
            say("must have at most ", *most);
        }
    }

    void apply_to_string(const Rule &rule, const std::string &text, const Place &place) {
        work_.spend(text.size() / bytes_in_a_step);
        const auto is_first_byte = [](char byte) { return (byte & 0xC0) != 0x80; };
        if (rule.min_length != nullptr || rule.max_length != nullptr) {
            const auto length = static_cast<size_t>(std::count_if(text.begin(), text.end(), is_first_byte));
            check_count(length, rule.min_length, rule.max_length, " character", place);
            if (rule.max_length != nullptr && static_cast<double>(length) > rule.max_length->number()) {
                return;
            }
        }
        if (rule.pattern != nullptr && !matches(*rule.pattern, rule.pattern_text->text(), text, place)) {
            violation(place, [&] { return "must match the pattern " + rule.pattern_text->text(); });
        }
        if (rule.format != nullptr && !rule.format->matches(text)) {
            violation(place, [&] { return std::string("must be ") + rule.format->phrase; });
        }
    }

    /// Whether a text matches a pattern. One that takes too long is a violation of its own, and then counts as a match.
    bool matches(
        const Pattern &pattern, const std::string &source, const std::string &text, const Place &place) {
        const Match match = pattern.search(text, work_);
        if (match == Match::undecided && !report_) {
            throw Undecided();
        }
        if (match == Match::undecided) {
            violation(place, [&] { return "cannot be checked against the pattern " + source; });
        }
        return match != Match::none;
    }

    void apply_to_array(const Rule &rule, const json::Elements &array, const Place &place) {
        check_count(array.size(), rule.min_items, rule.max_items, " element", place);
        if (rule.max_items != nullptr && static_cast<double>(array.size()) > rule.max_items->number()) {
            return;
        }
        const size_t listed = std::min(array.size(), rule.listed_items.size());
        const size_t end = rule.other_items != nullptr ? array.size() : listed;
        for (size_t index = 0; index < end && !is_full(); ++index) {
            const Rule *item = index < rule.listed_items.size() ? rule.listed_items[index] : rule.other_items;
            apply(*item, array[index], Place{&place, nullptr, index});
        }
        if (rule.has_unique_items) {
            apply_unique_items(array, place);
        }
        const auto is_wanted = [&](const json &element) { return fits(*rule.contains, element); };
        if (rule.contains != nullptr && std::none_of(array.begin(), array.end(), is_wanted)) {
            violation(place, [] { return "must contain at least one element of the required form"; });
        }
    }

    void apply_unique_items(const json::Elements &array, const Place &place) {
        for (const json &element : array) {
            work_.spend(steps_of(element));
        }
        // Sorting puts equal elements side by side, in the order of the array.
        std::vector<const json *> sorted(array.size());
        std::transform(array.begin(), array.end(), sorted.begin(), [](const json &element) { return &element; });
        std::sort(sorted.begin(), sorted.end(), [](const json *one, const json *other) {
            const int order = compare(*one, *other);
            return order != 0 ? order < 0 : one < other;
        });
        std::vector<const json *> repeated;
        for (size_t index = 1; index < sorted.size(); ++index) {
            if (*sorted[index] == *sorted[index - 1]) {
                repeated.push_back(sorted[index]);
            }
        }
        std::sort(repeated.begin(), repeated.end());
        for (const json *element : repeated) {
            const Place here{&place, nullptr, static_cast<size_t>(element - array.data())};
            violation(here, [] { return "must not repeat an earlier element"; });
        }
    }

    void apply_to_object(const Rule &rule, const json &object, const Place &place) {
        const Members &members = object.members();
        work_.spend(members.size());
        if (rule.required != nullptr) {
            for (const json &name : rule.required->elements()) {
                if (members.find(name.text()) == nullptr) {
                    violation(Place{&place, &name.text(), 0}, [] { return "is required"; });
                }
            }
        }
        check_count(members.size(), rule.min_properties, rule.max_properties, " member", place);
        if (rule.property_names != nullptr) {
            for (const Member &member : members) {
                if (!is_full() && !fits(*rule.property_names, json(member.name))) {
                    violation(Place{&place, &member.name, 0}, [] { return "has a name that is not allowed"; });
                }
            }
        }
        apply_properties(rule, members, place);
        apply_dependencies(rule, object, place);
    }

    void apply_properties(const Rule &rule, const Members &object, const Place &place) {
        if (rule.properties.empty() && rule.pattern_properties.empty() && rule.additional_properties == nullptr) {
            return;
        }
        // Both are sorted by name, so one walk over both finds all pairs.
        auto property = rule.properties.begin();
        for (const Member &member : object) {
            if (is_full()) {
                return;
            }
            const Place here{&place, &member.name, 0};
            bool is_known = false;
            int order = 1;
            while (property != rule.properties.end() && (order = property->name->compare(member.name)) < 0) {
                ++property;
            }
            if (property != rule.properties.end() && order == 0) {
                is_known = true;
                apply(*property->rule, member.value, here);
            }
            for (const Rule::PatternProperty &pattern : rule.pattern_properties) {
                if (matches(*pattern.pattern, *pattern.text, member.name, here)) {
                    is_known = true;
                    apply(*pattern.rule, member.value, here);
                }
            }
            if (!is_known && rule.additional_properties != nullptr) {
                apply(*rule.additional_properties, member.value, here);
            }
        }
    }

    void apply_dependencies(const Rule &rule, const json &object, const Place &place) {
        for (const Rule::Dependency &dependency : rule.dependencies) {
            if (object.find(*dependency.name) == nullptr) {
                continue;
            }
            if (dependency.rule != nullptr) {
                apply(*dependency.rule, object, place);
                continue;
            }
            for (const json &name : dependency.names->elements()) {
                if (object.find(name.text()) == nullptr) {
                    violation(Place{&place, &name.text(), 0}, [&] {
                        return "is required where there is " + written(json(*dependency.name));
                    });
                }
            }
        }
    }

    void apply_combinations(const Rule &rule, const json &value, const Place &place) {
        for (const Rule *each : rule.all_of) {
            apply(*each, value, place);
        }
        apply_alternatives(rule.any_of, value, place, false);
        apply_alternatives(rule.one_of, value, place, true);
        if (rule.forbidden != nullptr && fits(*rule.forbidden, value)) {
            violation(place, [] { return "has a form that is not allowed"; });
        }
        if (rule.condition != nullptr) {
            const Rule *next = fits(*rule.condition, value) ? rule.consequence : rule.alternative;
            if (next != nullptr) {
                apply(*next, value, place);
            }
        }
    }

    void apply_alternatives(
        const Rules &alternatives, const json &value, const Place &place, bool only_one) {
        const size_t enough = only_one ? 2 : 1;
        size_t fitting = 0;
        for (const Rule *alternative : alternatives) {
            fitting += fits(*alternative, value) ? 1 : 0;
            if (fitting == enough) {
                break;
            }
        }
        if (fitting == 1 || alternatives.empty()) {
            return;
        }
        if (fitting > 1) {
            return violation(place, [] { return "must have only one of the allowed forms, and has several"; });
        }
        // When only one alternative can have been meant, its violations say more. A silent walk does not need them, and
        // would double its work at every level.
        const auto is_meant = [&](const Rule *alternative) { return may_be_meant(*alternative, value); };
        if (report_ && std::count_if(alternatives.begin(), alternatives.end(), is_meant) == 1) {
            return apply(**std::find_if(alternatives.begin(), alternatives.end(), is_meant), value, place);
        }
        violation(place, [] { return "must have one of the allowed forms"; });
    }

    Work &work_;
    size_t limit_;
    const Report &report_;
    size_t found_ = 0;
};

}  // namespace

void Work::refill(size_t needed) {
    // The rules of a sensible schema look at a value some dozens of times. The upper bound is some hundredths of a
    // second.
    constexpr size_t steps_for_a_value = 200;
    constexpr size_t maximum = 2'000'000;
    if (document != nullptr) {
        steps += std::min(steps_of(*document) * steps_for_a_value, maximum);
        document = nullptr;
    }
    if (needed >= steps) {
        throw Undecided();
    }
}

size_t validate(
    const CompiledSchema &schema, const json &document, Work &work, size_t limit, const Report &report) {
    return Validator(work, limit, report).validate(*schema.root, document);
}

}  // namespace cjson
