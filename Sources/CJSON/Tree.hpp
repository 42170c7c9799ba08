#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace cjson {

class json;
struct Member;

/// The members of an object, sorted by name, in one block of memory: most objects have a few members, and are read more
/// often than they are changed.
class Members {
public:
    const json *find(std::string_view name) const;
    json *find(std::string_view name);
    /// The member of that name, made with null when there is none.
    json &operator[](std::string_view name);
    void erase(std::string_view name);
    /// How many members come after that name: they move when a member is added or removed there.
    size_t behind(std::string_view name) const;

    /// Adds a member at the end, whatever its name. Call nothing but `append` until `settle` has been called.
    json &append(std::string_view name);
    json &append(std::string &&name);
    /// Sorts the members after appending; false when a name occurs twice.
    bool settle();

    // Defined below, where `Member` is complete.
    Member *begin();
    Member *end();
    const Member *begin() const;
    const Member *end() const;
    size_t size() const;
    void reserve(size_t count);

private:
    template <typename Name>
    json &append_any(Name &&name);

    std::vector<Member> list_;
};

/// One JSON value with everything in it.
///
/// RapidJSON's own tree is not used: in Debian's release, its objects reserve room for 16 members at once, are searched
/// from the beginning, and are not sorted.
class json {
public:
    using Elements = std::vector<json>;
    /// Integers are signed where they fit, and unsigned only beyond that.
    using Data = std::variant<std::nullptr_t, bool, int64_t, uint64_t, double, std::string, Elements, Members>;

    json() noexcept = default;

    /// A value of exactly one of the types in `Data`; nothing is converted.
    template <typename T, typename = std::enable_if_t<!std::is_same_v<std::decay_t<T>, json>>>
    explicit json(T &&value) : data_(std::in_place_type<std::decay_t<T>>, std::forward<T>(value)) {}

    static json whole(uint64_t value) {
        return value > static_cast<uint64_t>(INT64_MAX) ? json(value) : json(static_cast<int64_t>(value));
    }

    const Data &data() const { return data_; }

    /// Replaces the value by one of the types in `Data`.
    template <typename T, typename... Arguments>
    T &emplace(Arguments &&...arguments) {
        return data_.template emplace<T>(std::forward<Arguments>(arguments)...);
    }

    /// The value as one of the types in `Data`, or NULL.
    template <typename T>
    T *as() {
        return std::get_if<T>(&data_);
    }
    template <typename T>
    const T *as() const {
        return std::get_if<T>(&data_);
    }
    template <typename T>
    bool is() const {
        return std::holds_alternative<T>(data_);
    }

    bool is_null() const { return is<std::nullptr_t>(); }
    bool is_string() const { return is<std::string>(); }
    bool is_array() const { return is<Elements>(); }
    bool is_object() const { return is<Members>(); }
    bool is_structured() const { return is_array() || is_object(); }
    bool is_integer() const { return is<int64_t>() || is<uint64_t>(); }
    bool is_number() const { return is_integer() || is<double>(); }
    bool is_true() const { return as<bool>() != nullptr && *as<bool>(); }
    bool is_false() const { return as<bool>() != nullptr && !*as<bool>(); }

    /// Any number, rounded to the nearest double; 0 for other kinds.
    double number() const;
    /// The text of a string, empty for other kinds.
    const std::string &text() const;
    /// The elements of an array, empty for other kinds.
    const Elements &elements() const;
    /// The members of an object, empty for other kinds.
    const Members &members() const;
    /// A member of an object; NULL when it has none of that name and for other kinds.
    const json *find(std::string_view name) const { return members().find(name); }
    json *find(std::string_view name) { return is_object() ? as<Members>()->find(name) : nullptr; }

private:
    Data data_;
};

struct Member {
    explicit Member(std::string_view name) : name(name) {}
    explicit Member(std::string &&name) : name(std::move(name)) {}

    std::string name;
    json value;
};

inline Member *Members::begin() { return list_.data(); }
inline Member *Members::end() { return list_.data() + list_.size(); }
inline const Member *Members::begin() const { return list_.data(); }
inline const Member *Members::end() const { return list_.data() + list_.size(); }
inline size_t Members::size() const { return list_.size(); }
inline void Members::reserve(size_t count) { list_.reserve(count); }

/// An order of all values, in which those are equal that JSON calls equal: numbers by value, objects whatever the order
/// of their members.
int compare(const json &one, const json &other);
inline bool operator==(const json &one, const json &other) { return compare(one, other) == 0; }
inline bool operator!=(const json &one, const json &other) { return !(one == other); }

// Exact questions about numbers (Numbers.cpp). A number is what it is kept as: an integer of up to 64 bits, or a
// double, which stands for the shortest decimal that reads as that double.

/// Whether a number has no fraction, however it is written: `1.0` and `1e20` are integers.
bool is_integer(const json &number);

/// Less than, equal to or greater than 0, as `one` is less than, equal to or greater than `other`.
int compare_numbers(const json &one, const json &other);

/// Whether `number` is a whole multiple of `divisor`, which is greater than 0, both taken as decimals.
bool is_multiple(const json &number, const json &divisor);

/// Merges `patch` into `target` (RFC 7396).
void merge(json &target, const json &patch);

/// How deep arrays and objects are nested. The recursion is bounded, because parsing and patching bound the depth.
size_t depth(const json &value);

}  // namespace cjson
