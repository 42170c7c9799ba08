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

/// The patch without its nulls: the result of merging it into an empty object.
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

/// Walks both in order, so that the cost is linear in the number of members.
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

const json *Members::find(std::string_view name) const {
    // A few members are compared faster one by one: most names differ in length already.
    constexpr size_t few = 8;
    if (size() <= few) {
        const Member *found = std::find_if(begin(), end(), [&](const Member &member) { return member.name == name; });
        return found == end() ? nullptr : &found->value;
    }
    const Member *found = place_of(begin(), end(), name);
    return found != end() && found->name == name ? &found->value : nullptr;
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
        // The vector would grow by one, two and four otherwise.
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

int compare(const json &one, const json &other) {
    if (one.is_number() && other.is_number()) {
        return compare_numbers(one, other);
    }
    if (one.data().index() != other.data().index()) {
        return one.data().index() < other.data().index() ? -1 : 1;
    }
    if (one.is<bool>()) {
        return one.is_true() - other.is_true();
    }
    if (one.is_string()) {
        return one.text().compare(other.text());
    }
    const auto counts = [](size_t left, size_t right) { return (left > right) - (left < right); };
    if (one.is_array()) {
        const json::Elements &left = one.elements();
        const json::Elements &right = other.elements();
        int order = counts(left.size(), right.size());
        for (size_t index = 0; order == 0 && index < left.size(); ++index) {
            order = compare(left[index], right[index]);
        }
        return order;
    }
    const Members &left = one.members();
    const Members &right = other.members();
    int order = counts(left.size(), right.size());
    for (size_t index = 0; order == 0 && index < left.size(); ++index) {
        order = left.begin()[index].name.compare(right.begin()[index].name);
        order = order != 0 ? order : compare(left.begin()[index].value, right.begin()[index].value);
    }
    return order;
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
    // A few members are inserted where they belong, which moves those after them.
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
