#include "Normalise.hpp"
#include "SchemaChecker.hpp"
#include "SchemaExplainer.hpp"

#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_visitor.hpp>

#include <memory>

// Compiling schemas and validating documents.

using cjson::json;

namespace {

using Adapter = valijson::adapters::NlohmannJsonAdapter;

struct CompiledSchema {
    cjson::CheckedSchema checked;
    valijson::Schema schema;
};

const CompiledSchema &unwrap(const cjson_schema *schema) { return *reinterpret_cast<const CompiledSchema *>(schema); }

const char *const cannot_be_checked = "cannot be checked against the schema";

/// valijson's verdict. Without results to fill in, it stops at the first violation and makes no text.
bool fits(const CompiledSchema &compiled, const json &document) {
    // The visitor may add to the cache of expressions, but all there are have been put in when the schema was
    // compiled: it only ever finds, and so several threads may share it.
    auto &patterns = const_cast<CompiledSchema &>(compiled).checked.patterns;
    valijson::ValidationVisitor<Adapter> visitor(Adapter(document), {}, true, nullptr, patterns);
    return visitor.validateSchema(compiled.schema);
}

/// Pointer to a member whose name must not be matched against an expression, or nothing.
bool find_unsafe_name(const json &value, size_t maximum_length, std::string &pointer) {
    const bool is_object = value.is_object();
    if (!is_object && !value.is_array()) {
        return false;
    }
    size_t index = 0;
    for (auto child = value.begin(); child != value.end(); ++child, ++index) {
        const size_t length = pointer.size();
        if (is_object && child.key().size() > maximum_length) {
            return true;
        }
        cjson::append_token(pointer, is_object ? child.key() : std::to_string(index));
        if ((is_object && child.key().find('\0') != std::string::npos)
            || find_unsafe_name(*child, maximum_length, pointer)) {
            return true;
        }
        pointer.resize(length);
    }
    return false;
}

void send(
    void *context, cjson_report report, const std::string &pointer, const std::string &detail) {
    report(
        context, reinterpret_cast<const uint8_t *>(pointer.data()), pointer.size(),
        reinterpret_cast<const uint8_t *>(detail.data()), detail.size());
}

/// A pointer to a member name of the document that must not be matched, or nothing.
bool has_unsafe_name(const CompiledSchema &compiled, const json &document, std::string &pointer) {
    return compiled.checked.examines_names
        && find_unsafe_name(document, compiled.checked.maximum_name_length, pointer);
}

/// Calls `judge` with the document as valijson has to see it.
template <typename Judge>
bool judged(const json &document, Judge judge) {
    if (!cjson::needs_normalising(document)) {
        return judge(document);
    }
    json normalised = document;
    cjson::normalise(normalised);
    return judge(normalised);
}

bool accepts(const CompiledSchema &compiled, const json &document) {
    return judged(document, [&](const json &document) {
        std::string pointer;
        return !has_unsafe_name(compiled, document, pointer) && fits(compiled, document);
    });
}

bool validate(
    const CompiledSchema &compiled, const json &document, size_t limit, void *context, cjson_report report) {
    std::string pointer;
    if (has_unsafe_name(compiled, document, pointer)) {
        send(context, report, pointer, "has a member name that is too long or contains U+0000");
        return false;
    }
    if (fits(compiled, document)) {
        return true;
    }
    cjson::SchemaExplainer explainer(
        compiled.checked, limit, [&](const std::string &pointer, const std::string &detail) {
            send(context, report, pointer, detail);
        });
    if (explainer.explain(document) == 0) {
        send(context, report, "", "does not fit the schema");
    }
    return false;
}

}  // namespace

cjson_schema *cjson_schema_compile(const cjson_value *document, cjson_schema_failure *failure) {
    *failure = {nullptr, nullptr};
    try {
        auto compiled = std::make_unique<CompiledSchema>();
        compiled->checked.document = cjson::unwrap(document);
        cjson::SchemaChecker::check(compiled->checked);
        valijson::SchemaParser parser;
        parser.populateSchema(Adapter(compiled->checked.document), compiled->schema);
        return reinterpret_cast<cjson_schema *>(compiled.release());
    } catch (cjson::SchemaProblem &problem) {
        failure->pointer = cjson::make_text(std::move(problem.pointer));
        failure->detail = cjson::make_text(std::move(problem.detail));
    } catch (const std::bad_alloc &) {
        // Both texts stay NULL.
    } catch (...) {
        failure->detail = cjson::make_text("The schema cannot be used.");
    }
    return nullptr;
}

void cjson_schema_free(cjson_schema *schema) { delete reinterpret_cast<CompiledSchema *>(schema); }

bool cjson_schema_validate(
    const cjson_schema *schema, const cjson_value *document, size_t limit, void *context, cjson_report report) {
    try {
        return judged(cjson::unwrap(document), [&](const json &document) {
            return validate(unwrap(schema), document, limit, context, report);
        });
    } catch (...) {
        // Want of memory, or an expression that gave up: what cannot be checked does not fit.
        try {
            send(context, report, "", cannot_be_checked);
        } catch (...) {
        }
        return false;
    }
}

bool cjson_schema_accepts(const cjson_schema *schema, const cjson_value *document) {
    try {
        return accepts(unwrap(schema), cjson::unwrap(document));
    } catch (...) {
        return false;
    }
}

const uint8_t *cjson_schema_merge(
    const cjson_schema *schema, const uint8_t *target, size_t target_length, const cjson_value *patch, size_t *length) {
    const std::string *text = nullptr;
    json document;
    try {
        cjson_parse_failure failure;
        if (cjson::parse(target, target_length, false, document, failure)) {
            document.merge_patch(cjson::unwrap(patch));
            if (accepts(unwrap(schema), document)) {
                text = &cjson::serialized(document);
            }
        } else {
            cjson_text_free(failure.pointer);
        }
    } catch (...) {
        // As if it did not fit.
    }
    cjson::clear(document);
    if (text == nullptr) {
        return nullptr;
    }
    *length = text->size();
    return reinterpret_cast<const uint8_t *>(text->data());
}
