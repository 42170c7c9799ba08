#include "Internal.hpp"
#include "Pointer.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

// Merge patches (RFC 7396), and JSON Patch (RFC 6902) with bounds on depth, size and work.

using cjson::json;
using cjson::Member;
using cjson::Members;
using cjson::parse_index;
using cjson::Tokens;

namespace {

/// Why a patch stops; thrown and caught in this file only.
struct Failure {
    cjson_patch_kind kind;
    const char *detail;
    ptrdiff_t operation = -1;
    std::optional<std::string> pointer = std::nullopt;
};

bool is_digits(const std::string &token) {
    return !token.empty() && token.find_first_not_of("0123456789") == std::string::npos && token[0] != '0';
}

/// Roughly how many bytes the serialised value has.
size_t size_of(const json &value) {
    if (value.is_string()) {
        return value.text().size() + 2;
    }
    if (!value.is_structured()) {
        return 8;
    }
    size_t size = 2;
    for (const json &element : value.elements()) {
        size += size_of(element) + 1;
    }
    for (const Member &member : value.members()) {
        size += member.name.size() + 3 + size_of(member.value) + 1;
    }
    return size;
}

enum class Op { add, remove, replace, move, copy, test };

struct Operation {
    Op op;
    Tokens path;
    Tokens from;
    const json *value;
    const std::string *path_text;
    const std::string *from_text;
};

/// Reads the whole patch before anything is applied, so that a malformed patch is reported as such, whatever the
/// document is.
class Reader {
public:
    static std::vector<Operation> read(const json &patch) {
        if (!patch.is_array()) {
            throw Failure{CJSON_PATCH_MALFORMED, "A JSON Patch is an array of operations."};
        }
        std::vector<Operation> operations;
        operations.reserve(patch.elements().size());
        for (const json &entry : patch.elements()) {
            operations.push_back(Reader(entry, operations.size()).operation());
        }
        return operations;
    }

private:
    Reader(const json &entry, size_t index) : entry_(entry), index_(static_cast<ptrdiff_t>(index)) {}

    Operation operation() {
        if (!entry_.is_object()) {
            fail("An operation is an object.");
        }
        Operation operation{};
        operation.path_text = string("path");
        const std::string *name = string("op");
        path_ = operation.path_text;
        if (name == nullptr) {
            fail("An operation needs a string \"op\".");
        }
        operation.op = op(*name);
        if (operation.path_text == nullptr) {
            fail("An operation needs a string \"path\".");
        }
        operation.path = tokens(*operation.path_text, "\"path\" is not a JSON Pointer.");
        if (operation.op == Op::move || operation.op == Op::copy) {
            read_from(operation);
        } else if (operation.op != Op::remove) {
            operation.value = entry_.find("value");
            if (operation.value == nullptr) {
                fail("This operation needs a \"value\".");
            }
        }
        return operation;
    }

    void read_from(Operation &operation) {
        operation.from_text = string("from");
        if (operation.from_text == nullptr) {
            fail("This operation needs a string \"from\".");
        }
        operation.from = tokens(*operation.from_text, "\"from\" is not a JSON Pointer.");
        const Tokens &from = operation.from;
        const Tokens &path = operation.path;
        if (operation.op == Op::move && from.size() < path.size()
            && std::equal(from.begin(), from.end(), path.begin())) {
            fail("A value cannot be moved into itself.");
        }
    }

    Op op(const std::string &name) {
        if (name == "add") return Op::add;
        if (name == "remove") return Op::remove;
        if (name == "replace") return Op::replace;
        if (name == "move") return Op::move;
        if (name == "copy") return Op::copy;
        if (name == "test") return Op::test;
        fail("\"op\" is one of add, remove, replace, move, copy and test.");
    }

    Tokens tokens(const std::string &text, const char *otherwise) {
        std::optional<Tokens> tokens = cjson::parse_pointer(text);
        if (!tokens) {
            path_ = &text;
            fail(otherwise);
        }
        return *std::move(tokens);
    }

    const std::string *string(const char *name) const {
        const json *found = entry_.find(name);
        return found == nullptr ? nullptr : found->as<std::string>();
    }

    [[noreturn]] void fail(const char *detail) const {
        throw Failure{
            CJSON_PATCH_MALFORMED, detail, index_,
            path_ == nullptr ? std::nullopt : std::optional<std::string>(*path_)};
    }

    const json &entry_;
    ptrdiff_t index_;
    /// What a failure shows.
    const std::string *path_ = nullptr;
};

/// Applies operations to a document, within a budget.
class Applier {
public:
    Applier(json &document, size_t maximum_size, size_t &steps)
        : document_(document), maximum_size_(maximum_size), steps_(steps) {}

    void run(const std::vector<Operation> &operations) {
        for (const Operation &operation : operations) {
            operation_ = &operation;
            apply(operation);
            ++index_;
        }
    }

private:
    void apply(const Operation &operation) {
        switch (operation.op) {
        case Op::add:
            spend(*operation.value);
            add(json(*operation.value));
            break;
        case Op::remove:
            remove(operation.path, false);
            break;
        case Op::replace: {
            json &place = resolve(operation.path, false);
            check_depth(*operation.value);
            spend(*operation.value);
            place = *operation.value;
            break;
        }
        case Op::move:
            if (operation.from == operation.path) {
                resolve(operation.from, true);
            } else {
                // What is not moved down cannot become too deep.
                add(remove(operation.from, true), operation.path.size() > operation.from.size());
            }
            break;
        case Op::copy: {
            const json &source = resolve(operation.from, true);
            spend(source);
            add(json(source));
            break;
        }
        case Op::test:
            if (resolve(operation.path, false) != *operation.value) {
                fail(CJSON_PATCH_CONFLICT, "The value is not the one that \"test\" expects.");
            }
            break;
        }
    }

    /// The value at `path`.
    json &resolve(const Tokens &path, bool is_from) { return descend(path, path.size(), is_from); }

    json &descend(const Tokens &path, size_t levels, bool is_from) {
        json *place = &document_;
        for (size_t level = 0; level < levels; ++level) {
            const std::string &token = path[level];
            if (Members *members = place->as<Members>()) {
                place = members->find(token);
                if (place == nullptr) {
                    not_found(is_from);
                }
            } else if (json::Elements *elements = place->as<json::Elements>()) {
                place = &(*elements)[existing_index(token, *elements, is_from)];
            } else {
                not_found(is_from);
            }
        }
        return *place;
    }

    size_t existing_index(const std::string &token, const json::Elements &elements, bool is_from) {
        const std::optional<size_t> index = parse_index(token);
        if (!index) {
            // An index with more digits than any array has elements is beyond the end.
            is_digits(token) || token == "-" ? out_of_bounds(is_from) : not_found(is_from);
        }
        if (*index >= elements.size()) {
            out_of_bounds(is_from);
        }
        return *index;
    }

    void add(json &&value, bool may_be_deeper = true) {
        const Tokens &path = operation_->path;
        if (may_be_deeper) {
            check_depth(value);
        }
        if (path.empty()) {
            document_ = std::move(value);
            return;
        }
        json &parent = descend(path, path.size() - 1, false);
        const std::string &last = path.back();
        if (Members *members = parent.as<Members>()) {
            step(members->behind(last));
            (*members)[last] = std::move(value);
        } else if (json::Elements *elements = parent.as<json::Elements>()) {
            if (last == "-") {
                elements->push_back(std::move(value));
                return;
            }
            const std::optional<size_t> index = parse_index(last);
            if (!index) {
                is_digits(last) ? out_of_bounds(false) : not_found(false);
            }
            if (*index > elements->size()) {
                out_of_bounds(false);
            }
            step(elements->size() - *index);
            elements->insert(elements->begin() + static_cast<std::ptrdiff_t>(*index), std::move(value));
        } else {
            not_found(false);
        }
    }

    json remove(const Tokens &path, bool is_from) {
        if (path.empty()) {
            fail(CJSON_PATCH_CONFLICT, "The whole document cannot be removed.", is_from);
        }
        json &parent = descend(path, path.size() - 1, is_from);
        const std::string &last = path.back();
        if (Members *members = parent.as<Members>()) {
            json *found = members->find(last);
            if (found == nullptr) {
                not_found(is_from);
            }
            step(members->behind(last));
            json removed = std::move(*found);
            members->erase(last);
            return removed;
        }
        if (json::Elements *elements = parent.as<json::Elements>()) {
            const size_t index = existing_index(last, *elements, is_from);
            json removed = std::move((*elements)[index]);
            step(elements->size() - index);
            elements->erase(elements->begin() + static_cast<std::ptrdiff_t>(index));
            return removed;
        }
        not_found(is_from);
    }

    void check_depth(const json &value) {
        if (operation_->path.size() + depth(value) > CJSON_MAXIMUM_DEPTH) {
            static_assert(CJSON_MAXIMUM_DEPTH == 64);
            fail(CJSON_PATCH_TOO_DEEP, "The result would be nested more than 64 levels deep.");
        }
    }

    /// As `cjson::depth`, in counted steps: what is moved may be large, and be moved again and again.
    size_t depth(const json &value) {
        step(1);
        size_t deepest = 0;
        for (const json &element : value.elements()) {
            deepest = std::max(deepest, depth(element));
        }
        for (const Member &member : value.members()) {
            deepest = std::max(deepest, depth(member.value));
        }
        return deepest + (value.is_structured() ? 1 : 0);
    }

    /// Counts the bytes that operations add, never those that they remove: a bound on work and on memory.
    void spend(const json &value) {
        const size_t size = size_of(value);
        if (size > maximum_size_ - spent_) {
            fail(CJSON_PATCH_TOO_LARGE, "The patch adds too much to the document.");
        }
        spent_ += size;
    }

    void step(size_t count) {
        if (count > steps_) {
            fail(CJSON_PATCH_TOO_LARGE, "The patch adds too much to the document.");
        }
        steps_ -= count;
    }

    [[noreturn]] void not_found(bool is_from) {
        const char *detail = is_from ? "There is nothing at \"from\"." : "There is nothing at \"path\".";
        fail(CJSON_PATCH_CONFLICT, detail, is_from);
    }

    [[noreturn]] void out_of_bounds(bool is_from) {
        fail(CJSON_PATCH_CONFLICT, "The array has no such index.", is_from);
    }

    [[noreturn]] void fail(cjson_patch_kind kind, const char *detail, bool is_from = false) {
        throw Failure{kind, detail, index_, is_from ? *operation_->from_text : *operation_->path_text};
    }

    json &document_;
    size_t maximum_size_;
    size_t &steps_;
    size_t spent_ = 0;
    ptrdiff_t index_ = 0;
    const Operation *operation_ = nullptr;
};

}  // namespace

bool cjson_patch(
    cjson_value *target, const cjson_value *patch, size_t maximum_size, size_t *steps, cjson_patch_failure *failure) {
    try {
        const std::vector<Operation> operations = Reader::read(cjson::unwrap(patch));
        Applier(*cjson::unwrap(target), maximum_size, *steps).run(operations);
        return true;
    } catch (Failure &stopped) {
        cjson_text *pointer = stopped.pointer ? cjson::make_text(*std::move(stopped.pointer)) : nullptr;
        *failure = {stopped.kind, stopped.detail, stopped.operation, pointer};
    } catch (...) {
        *failure = {CJSON_PATCH_TOO_LARGE, "There is not enough memory to apply the patch.", -1, nullptr};
    }
    return false;
}

bool cjson_merge(cjson_value *target, const cjson_value *patch) {
    // A level of the result was as deep in one of the two: the depth needs no check.
    return cjson::guarded([&] {
        cjson::merge(*cjson::unwrap(target), cjson::unwrap(patch));
        return true;
    });
}
