#include "Judge.hpp"
#include "Normalise.hpp"
#include "SchemaChecker.hpp"
#include "SchemaExplainer.hpp"

#include <valijson/schema_parser.hpp>

#include <memory>

// Compiling schemas and validating documents.

using cjson::json;

namespace {

struct CompiledSchema {
    cjson::CheckedSchema checked;
    valijson::Schema schema;
};

const CompiledSchema &unwrap(const cjson_schema *schema) { return *reinterpret_cast<const CompiledSchema *>(schema); }

const char *const cannot_be_checked = "cannot be checked against the schema";

/// valijson's verdict. Without results to fill in, it stops at the first violation and makes no text. Throws
/// `cjson::Undecided`.
bool fits(const CompiledSchema &compiled, const json &document) {
    cjson::MatchingWork work;
    cjson::Matching matching(compiled.checked.patterns, work);
    return cjson::Judge(cjson::Adapter(document), {}, true, nullptr, matching).validateSchema(compiled.schema);
}

void send(
    void *context, cjson_report report, const std::string &pointer, const std::string &detail) {
    report(
        context, reinterpret_cast<const uint8_t *>(pointer.data()), pointer.size(),
        reinterpret_cast<const uint8_t *>(detail.data()), detail.size());
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
    return judged(document, [&](const json &document) { return fits(compiled, document); });
}

bool validate(
    const CompiledSchema &compiled, const json &document, size_t limit, void *context, cjson_report report) {
    const char *otherwise = "does not fit the schema";
    try {
        if (fits(compiled, document)) {
            return true;
        }
    } catch (const cjson::Undecided &) {
        otherwise = cannot_be_checked;
    }
    cjson::MatchingWork work;
    cjson::SchemaExplainer explainer(
        compiled.checked, work, limit, [&](const std::string &pointer, const std::string &detail) {
            send(context, report, pointer, detail);
        });
    if (explainer.explain(document) == 0) {
        send(context, report, "", otherwise);
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
        parser.populateSchema(cjson::Adapter(compiled->checked.document), compiled->schema);
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
    try {
        json document;
        if (!cjson::read({reinterpret_cast<const char *>(target), target_length}, false, document)) {
            return nullptr;
        }
        cjson::merge(document, cjson::unwrap(patch));
        if (!accepts(unwrap(schema), document)) {
            return nullptr;
        }
        const std::string_view text = cjson::serialized(document);
        *length = text.size();
        return reinterpret_cast<const uint8_t *>(text.data());
    } catch (...) {
        // As if it did not fit.
        return nullptr;
    }
}
