#include "Internal.hpp"

cjson_value *cjson_merge(const cjson_value *target, const cjson_value *patch) {
    // Whatever is deep in the result was as deep in one of the two: no check of depth is needed.
    try {
        cjson::json result = cjson::unwrap(target);
        cjson::merge(result, cjson::unwrap(patch));
        return cjson::own(std::move(result));
    } catch (...) {
        return nullptr;
    }
}
