#pragma once

#include <cstddef>
#include <iterator>

namespace cjson {

/// A byte iterator that says how far the library's parser has read: it tells its handler about no position but that of
/// a syntax error.
class ReadingIterator {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char *;
    using reference = const char &;

    ReadingIterator(const char *current, const char **reached) : current_(current), reached_(reached) {}
    reference operator*() const { return *current_; }
    ReadingIterator &operator++() {
        *reached_ = ++current_;
        return *this;
    }
    ReadingIterator operator++(int) {
        ReadingIterator before = *this;
        ++*this;
        return before;
    }
    bool operator==(const ReadingIterator &other) const { return current_ == other.current_; }
    bool operator!=(const ReadingIterator &other) const { return current_ != other.current_; }

private:
    const char *current_;
    const char **reached_;
};

}  // namespace cjson
