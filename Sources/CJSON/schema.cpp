#include "CompiledSchema.hpp"
#include "Internal.hpp"

#include <memory>

// Compiling schemas and validating documents, for C.

using cjson::CompiledSchema;
using cjson::json;

namespace {

const CompiledSchema &unwrap(const cjson_schema *schema) { return *reinterpret_cast<const CompiledSchema *>(schema); }

const uint8_t *bytes_of(const std::string &text) { return reinterpret_cast<const uint8_t *>(text.data()); }

bool accepts(const CompiledSchema &schema, const json &document) {
    cjson::Work work(document);
    return cjson::validate(schema, document, work, 1, nullptr) == 0;
}

}  // namespace

cjson_schema *cjson_schema_compile(const cjson_value *document, cjson_schema_failure *failure) {
    *failure = {nullptr, nullptr};
    try {
        auto schema = std::make_unique<CompiledSchema>();
        schema->document = cjson::unwrap(document);
        cjson::compile(*schema);
        return reinterpret_cast<cjson_schema *>(schema.release());
    } catch (cjson::SchemaProblem &problem) {
        failure->pointer = cjson::make_text(std::move(problem.pointer));
        failure->detail = cjson::make_text(std::move(problem.detail));
    } catch (...) {
        // Only when memory runs out: both texts stay NULL.
    }
    return nullptr;
}

void cjson_schema_free(cjson_schema *schema) { delete reinterpret_cast<CompiledSchema *>(schema); }

void cjson_schema_each_note(
    const cjson_schema *schema, void *context,
    void (*visit)(
        void *context, cjson_schema_note kind, const uint8_t *pointer, size_t pointer_length, const uint8_t *detail,
        size_t detail_length)) {
    for (const cjson::SchemaNote &note : unwrap(schema).notes) {
        visit(
            context, note.kind, bytes_of(note.pointer), note.pointer.size(), bytes_of(note.detail),
            note.detail.size());
    }
}

const char *cjson_schema_keyword(size_t index) { return cjson::schema_keyword(index); }

bool cjson_schema_validate(
    const cjson_schema *schema, const cjson_value *document, size_t limit, void *context, cjson_report report) {
    size_t reported = 0;
    const auto send = [&](const std::string &pointer, const std::string &detail) {
        ++reported;
        report(context, bytes_of(pointer), pointer.size(), bytes_of(detail), detail.size());
    };
    try {
        cjson::Work work(cjson::unwrap(document));
        return cjson::validate(unwrap(schema), cjson::unwrap(document), work, limit, send) == 0;
    } catch (...) {
        // Too much work, or memory ran out. A document that cannot be checked does not fit.
        return cjson::guarded([&] {
            if (reported == 0) {
                send("", "cannot be checked against the schema");
            }
            return false;
        });
    }
}

bool cjson_schema_accepts(const cjson_schema *schema, const cjson_value *document) {
    // Too much work throws as well.
    return cjson::guarded([&] { return accepts(unwrap(schema), cjson::unwrap(document)); });
}

const uint8_t *cjson_schema_merge(
    const cjson_schema *schema, const uint8_t *target, size_t target_length, const cjson_value *patch, size_t *length) {
    // Too much work throws as well, as if the result did not fit.
    return cjson::guarded([&]() -> const uint8_t * {
        json document;
        if (!cjson::read(cjson::text_of(target, target_length), false, document)) {
            return nullptr;
        }
        cjson::merge(document, cjson::unwrap(patch));
        return accepts(unwrap(schema), document) ? cjson::bytes_of(cjson::serialized(document), length) : nullptr;
    });
}
