#pragma once

#include "PlainSchema.hpp"
#include "SchemaChecker.hpp"

#include <valijson/schema.hpp>

namespace cjson {

/// What stands behind a `cjson_schema`.
struct CompiledSchema {
    CheckedSchema checked;
    valijson::Schema schema;
    PlainSchema plain;
};

inline const CompiledSchema &unwrap(const cjson_schema *schema) {
    return *reinterpret_cast<const CompiledSchema *>(schema);
}

}  // namespace cjson
