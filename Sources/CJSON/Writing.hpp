#pragma once

#include "PlainText.hpp"
#include "Rapid.hpp"

#include <cstdlib>
#include <new>
#include <string>
#include <string_view>

// How RapidJSON's writer is used: it writes commas, colons and integers; strings and doubles are written here.
namespace cjson {

/// The buffer that RapidJSON writes to. Its own buffer does not notice when memory runs out.
class Output {
public:
    using Ch = char;

    Output() = default;
    ~Output() { std::free(begin_); }
    Output(const Output &) = delete;
    Output &operator=(const Output &) = delete;

    void clear();
    std::string_view text() const { return {begin_, static_cast<size_t>(place_ - begin_)}; }

    void reserve(size_t count) {
        if (static_cast<size_t>(end_ - place_) < count) {
            grow(count);
        }
    }
    void Put(char byte) {
        reserve(1);
        *place_++ = byte;
    }
    void put_unsafe(char byte) { *place_++ = byte; }
    void put(std::string_view text) {
        reserve(text.size());
        std::memcpy(place_, text.data(), text.size());
        place_ += text.size();
    }
    void Flush() {}

private:
    void grow(size_t count);

    char *begin_ = nullptr;
    char *place_ = nullptr;
    char *end_ = nullptr;
};

// RapidJSON calls these by name.
inline void PutReserve(Output &output, size_t count) { output.reserve(count); }
inline void PutUnsafe(Output &output, char byte) { output.put_unsafe(byte); }

/// The C library's allocator, which throws when memory runs out.
struct Allocator {
    static constexpr bool kNeedFree = true;

    void *Malloc(size_t size) { return Realloc(nullptr, 0, size); }
    void *Realloc(void *old, size_t, size_t size) {
        if (size == 0) {
            std::free(old);
            return nullptr;
        }
        void *memory = std::realloc(old, size);
        if (memory == nullptr) {
            throw std::bad_alloc();
        }
        return memory;
    }
    static void Free(void *memory) { std::free(memory); }
};

/// RapidJSON's writer with three changes: control characters are escaped in lower case, doubles always look like
/// doubles, and bytes that are not UTF-8 become U+FFFD.
class Writer : public rapidjson::Writer<Output, rapidjson::UTF8<>, rapidjson::UTF8<>, Allocator> {
public:
    void String(const char *text, size_t length);
    void Double(double number);

private:
    void write_escape(char byte);
};

}  // namespace cjson
