#include "CompiledSchema.hpp"
#include "PlainText.hpp"

// What can be done with plain texts alone.

bool cjson_is_plain(const uint8_t *bytes, size_t length) {
    try {
        cjson::PlainRoom room;
        return room.read(bytes, length) != nullptr;
    } catch (...) {
        return false;
    }
}

size_t cjson_schema_merge_plain(
    const cjson_schema *schema, const uint8_t *target, size_t target_length, const uint8_t *patch, size_t patch_length,
    uint8_t *result) {
    try {
        cjson::PlainRoom room;
        cjson::PlainValue *value = room.read(patch, patch_length);
        if (value == nullptr) {
            return 0;
        }
        if (target != nullptr) {
            cjson::PlainValue *before = room.read(target, target_length);
            if (before == nullptr) {
                return 0;
            }
            value = cjson::merge(before, value);
        }
        if (!cjson::unwrap(schema).plain.surely_fits(*value)) {
            return 0;
        }
        char *start = reinterpret_cast<char *>(result);
        return static_cast<size_t>(cjson::write(*value, start) - start);
    } catch (...) {
        // Want of memory, or an expression that gave up.
        return 0;
    }
}
