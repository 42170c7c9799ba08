#pragma once

#include "Tree.hpp"

#include <valijson/adapters/std_string_adapter.hpp>
#include <valijson/internal/adapter.hpp>
#include <valijson/internal/basic_adapter.hpp>
#include <valijson/internal/frozen_value.hpp>
#include <valijson/internal/optional.hpp>

#include <string>

// How valijson sees values: classes with the names and functions that it asks for. They refer to the value and copy
// nothing; and members are looked up in their order, where the adapter for RapidJSON's tree goes over all of them.
namespace cjson {

class Adapter;
class ElementIterator;
class MemberIterator;
struct AdaptedMember;

class AdaptedArray {
public:
    AdaptedArray() : elements_(json().elements()) {}
    explicit AdaptedArray(const json &value) : elements_(value.elements()) {}

    using const_iterator = ElementIterator;
    ElementIterator begin() const;
    ElementIterator end() const;
    size_t size() const { return elements_.size(); }

private:
    const json::Elements &elements_;
};

class AdaptedObject {
public:
    AdaptedObject() : members_(json().members()) {}
    explicit AdaptedObject(const json &value) : members_(value.members()) {}

    using const_iterator = MemberIterator;
    MemberIterator begin() const;
    MemberIterator end() const;
    MemberIterator find(std::string_view name) const;
    size_t size() const { return members_.size(); }

private:
    const Members &members_;
};

/// What the adapter asks of a value.
class AdaptedValue {
public:
    AdaptedValue() : value_(null()) {}
    explicit AdaptedValue(const json &value) : value_(value) {}

    const json &value() const { return value_; }
    valijson::adapters::FrozenValue *freeze() const;

    opt::optional<AdaptedArray> getArrayOptional() const {
        return isArray() ? opt::make_optional(AdaptedArray(value_)) : opt::nullopt;
    }
    opt::optional<AdaptedObject> getObjectOptional() const {
        return isObject() ? opt::make_optional(AdaptedObject(value_)) : opt::nullopt;
    }
    bool getArraySize(size_t &result) const {
        result = value_.elements().size();
        return isArray();
    }
    bool getObjectSize(size_t &result) const {
        result = value_.members().size();
        return isObject();
    }
    bool getBool(bool &result) const {
        result = value_.is_true();
        return isBool();
    }
    bool getDouble(double &result) const {
        result = value_.number();
        return isDouble();
    }
    /// What is beyond a signed number has been made a double (Normalise.hpp).
    bool getInteger(int64_t &result) const {
        const int64_t *integer = value_.as<int64_t>();
        result = integer == nullptr ? 0 : *integer;
        return isInteger();
    }
    bool getString(std::string &result) const {
        result = value_.text();
        return isString();
    }

    static bool hasStrictTypes() { return true; }
    bool isArray() const { return value_.is_array(); }
    bool isBool() const { return value_.is<bool>(); }
    bool isDouble() const { return value_.is<double>(); }
    bool isInteger() const { return value_.is<int64_t>(); }
    bool isNull() const { return value_.is_null(); }
    bool isNumber() const { return value_.is_number(); }
    bool isObject() const { return value_.is_object(); }
    bool isString() const { return value_.is_string(); }

private:
    static const json &null() {
        static const json null;
        return null;
    }

    const json &value_;
};

class Adapter : public valijson::adapters::BasicAdapter<
                    Adapter, AdaptedArray, AdaptedMember, AdaptedObject, AdaptedValue> {
public:
    Adapter() : value_(AdaptedValue().value()) {}
    explicit Adapter(const json &value) : BasicAdapter(AdaptedValue(value)), value_(value) {}

    const json &value() const { return value_; }

private:
    const json &value_;
};

struct AdaptedMember {
    const std::string &first;
    Adapter second;
};

/// Values of a schema that valijson keeps.
class FrozenJSON : public valijson::adapters::FrozenValue {
public:
    explicit FrozenJSON(json value) : value_(std::move(value)) {}

    FrozenValue *clone() const override { return new FrozenJSON(value_); }
    bool equalTo(const valijson::adapters::Adapter &other, bool strict) const override {
        return Adapter(value_).equalTo(other, strict);
    }

private:
    json value_;
};

inline valijson::adapters::FrozenValue *AdaptedValue::freeze() const { return new FrozenJSON(value_); }

class ElementIterator {
public:
    using iterator_category = std::bidirectional_iterator_tag;
    using value_type = Adapter;
    using difference_type = std::ptrdiff_t;
    using pointer = Adapter *;
    using reference = Adapter &;

    explicit ElementIterator(const json *place) : place_(place) {}

    Adapter operator*() const { return Adapter(*place_); }
    valijson::adapters::DerefProxy<Adapter> operator->() const {
        return valijson::adapters::DerefProxy<Adapter>(**this);
    }
    ElementIterator &operator++() {
        ++place_;
        return *this;
    }
    ElementIterator operator++(int) { return ElementIterator(place_++); }
    ElementIterator &operator--() {
        --place_;
        return *this;
    }
    void advance(std::ptrdiff_t count) { place_ += count; }
    bool operator==(const ElementIterator &other) const { return place_ == other.place_; }
    bool operator!=(const ElementIterator &other) const { return place_ != other.place_; }

private:
    const json *place_;
};

class MemberIterator {
public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = AdaptedMember;
    using difference_type = std::ptrdiff_t;
    using pointer = AdaptedMember *;
    using reference = AdaptedMember &;

    explicit MemberIterator(const Member *place) : place_(place) {}

    AdaptedMember operator*() const { return AdaptedMember{place_->name, Adapter(place_->value)}; }
    valijson::adapters::DerefProxy<AdaptedMember> operator->() const {
        return valijson::adapters::DerefProxy<AdaptedMember>(**this);
    }
    MemberIterator &operator++() {
        ++place_;
        return *this;
    }
    MemberIterator operator++(int) { return MemberIterator(place_++); }
    bool operator==(const MemberIterator &other) const { return place_ == other.place_; }
    bool operator!=(const MemberIterator &other) const { return place_ != other.place_; }

private:
    const Member *place_;
};

inline ElementIterator AdaptedArray::begin() const { return ElementIterator(elements_.data()); }
inline ElementIterator AdaptedArray::end() const { return ElementIterator(elements_.data() + elements_.size()); }
inline MemberIterator AdaptedObject::begin() const { return MemberIterator(members_.begin()); }
inline MemberIterator AdaptedObject::end() const { return MemberIterator(members_.end()); }
inline MemberIterator AdaptedObject::find(std::string_view name) const {
    return MemberIterator(members_.find_member(name));
}

}  // namespace cjson

template <>
struct valijson::adapters::AdapterTraits<cjson::Adapter> {
    using DocumentType = cjson::json;

    static std::string adapterName() { return "cjson"; }
};
