#include "Tree.hpp"

#include <algorithm>

namespace cjson {

namespace {

bool comes_before(const Member &one, const Member &other) { return one.name < other.name; }

/// The first member that does not come before a name.
template <typename Iterator>
Iterator place_of(Iterator begin, Iterator end, std::string_view name) {
    return std::lower_bound(
        begin, end, name, [](const Member &member, std::string_view name) { return member.name < name; });
}

/// Two whole numbers or a whole number and a double, by value.
bool is_same_number(const json &one, const json &other) {
    if (one.is<double>() || other.is<double>()) {
        return one.number() == other.number();
    }
    // What does not fit a signed number is unsigned, and nothing else is.
    return one.is<int64_t>() && other.is<int64_t>() ? *one.as<int64_t>() == *other.as<int64_t>()
                                                    : one.is<uint64_t>() && other.is<uint64_t>()
            && *one.as<uint64_t>() == *other.as<uint64_t>();
}

/// Takes away what is null in a patch, which is then what merging it into nothing gives.
json without_nulls(const json &patch) {
    if (!patch.is_object()) {
        return patch;
    }
    Members result;
    for (const Member &member : patch.members()) {
        if (!member.value.is_null()) {
            result.append(member.name) = without_nulls(member.value);
        }
    }
    return json(std::move(result));
}

/// Goes through both in order, so that many members cost no more than there are.
Members merged(Members &&target, const Members &patch) {
    Members result;
    result.reserve(target.size() + patch.size());
    Member *old = target.begin();
    for (const Member &change : patch) {
        for (; old != target.end() && old->name < change.name; ++old) {
            result.append(std::move(old->name)) = std::move(old->value);
        }
        const bool replaces = old != target.end() && old->name == change.name;
        if (!change.value.is_null()) {
            json &value = result.append(change.name);
            if (replaces) {
                value = std::move(old->value);
            }
            merge(value, change.value);
        }
        old += replaces ? 1 : 0;
    }
    for (; old != target.end(); ++old) {
        result.append(std::move(old->name)) = std::move(old->value);
    }
    return result;
}

}  // namespace

const Member *Members::find_member(std::string_view name) const {
    // Few are compared faster one by one: most differ in their lengths already.
    constexpr size_t few = 8;
    if (size() <= few) {
        return std::find_if(begin(), end(), [&](const Member &member) { return member.name == name; });
    }
    const Member *found = place_of(begin(), end(), name);
    return found != end() && found->name == name ? found : end();
}

const json *Members::find(std::string_view name) const {
    const Member *found = find_member(name);
    return found == end() ? nullptr : &found->value;
}

json *Members::find(std::string_view name) {
    return const_cast<json *>(static_cast<const Members *>(this)->find(name));
}

json &Members::operator[](std::string_view name) {
    const auto place = place_of(list_.begin(), list_.end(), name);
    if (place != list_.end() && place->name == name) {
        return place->value;
    }
    return list_.emplace(place, name)->value;
}

void Members::erase(std::string_view name) {
    const auto place = place_of(list_.begin(), list_.end(), name);
    if (place != list_.end() && place->name == name) {
        list_.erase(place);
    }
}

size_t Members::behind(std::string_view name) const {
    return static_cast<size_t>(end() - place_of(begin(), end(), name));
}

json &Members::append(std::string_view name) { return append_any(name); }

json &Members::append(std::string &&name) { return append_any(std::move(name)); }

template <typename Name>
json &Members::append_any(Name &&name) {
    if (list_.empty()) {
        // Without that, room would be made for one, two and four.
        constexpr size_t usual = 4;
        list_.reserve(usual);
    }
    return list_.emplace_back(std::forward<Name>(name)).value;
}

bool Members::settle() {
    const auto is_disordered = [](const Member &one, const Member &next) { return !comes_before(one, next); };
    if (std::adjacent_find(list_.begin(), list_.end(), is_disordered) == list_.end()) {
        return true;
    }
    std::sort(list_.begin(), list_.end(), comes_before);
    return std::adjacent_find(list_.begin(), list_.end(), is_disordered) == list_.end();
}

double json::number() const {
    if (const double *real = as<double>()) return *real;
    if (const int64_t *integer = as<int64_t>()) return static_cast<double>(*integer);
    if (const uint64_t *whole = as<uint64_t>()) return static_cast<double>(*whole);
    return 0;
}

const std::string &json::text() const {
    static const std::string none;
    return is_string() ? *as<std::string>() : none;
}

const json::Elements &json::elements() const {
    static const Elements none;
    return is_array() ? *as<Elements>() : none;
}

const Members &json::members() const {
    static const Members none;
    return is_object() ? *as<Members>() : none;
}

bool operator==(const json &one, const json &other) {
    if (one.is_number() && other.is_number()) {
        return is_same_number(one, other);
    }
    if (one.data().index() != other.data().index()) {
        return false;
    }
    if (const bool *boolean = one.as<bool>()) {
        return *boolean == *other.as<bool>();
    }
    if (one.is_object()) {
        return std::equal(
            one.members().begin(), one.members().end(), other.members().begin(), other.members().end(),
            [](const Member &one, const Member &other) { return one.name == other.name && one.value == other.value; });
    }
    return one.text() == other.text() && one.elements() == other.elements();
}

void merge(json &target, const json &patch) {
    if (!patch.is_object()) {
        target = patch;
        return;
    }
    if (!target.is_object()) {
        target = without_nulls(patch);
        return;
    }
    // A few are put in where they belong, which moves what comes behind.
    constexpr size_t few = 4;
    Members &members = *target.as<Members>();
    if (patch.members().size() > few) {
        members = merged(std::move(members), patch.members());
        return;
    }
    for (const Member &change : patch.members()) {
        if (change.value.is_null()) {
            members.erase(change.name);
        } else {
            merge(members[change.name], change.value);
        }
    }
}

size_t depth(const json &value) {
    if (!value.is_structured()) {
        return 0;
    }
    size_t deepest = 0;
    for (const json &element : value.elements()) {
        deepest = std::max(deepest, depth(element));
    }
    for (const Member &member : value.members()) {
        deepest = std::max(deepest, depth(member.value));
    }
    return deepest + 1;
}

}  // namespace cjson
