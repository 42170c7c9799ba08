#pragma once

// A C interface to JSON: RapidJSON parses, PCRE2 matches the patterns of schemas.
//
// - No exception leaves a function: failures are codes or NULL. NULL from a function that makes something means that
//   memory ran out, unless its comment says otherwise.
// - A `const cjson_value *` got from inside another value lives as long as that value and is never freed.
// - Values are not changed after they are shared, and reading them is safe from any thread.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__clang__)
#define CJSON_CLOSED_ENUM __attribute__((enum_extensibility(closed)))
#else
#define CJSON_CLOSED_ENUM
#endif

/// Parsing and patching make no value in which arrays and objects are nested deeper: this bounds all recursion here and
/// in the libraries.
#define CJSON_MAXIMUM_DEPTH 64

/// One JSON value with everything in it.
typedef struct cjson_value cjson_value;

/// A UTF-8 text made by this library; the caller frees it.
typedef struct cjson_text cjson_text;

typedef enum CJSON_CLOSED_ENUM cjson_kind {
    CJSON_NULL,
    CJSON_BOOL,
    CJSON_INTEGER,
    CJSON_UNSIGNED,
    CJSON_DOUBLE,
    CJSON_STRING,
    CJSON_ARRAY,
    CJSON_OBJECT,
} cjson_kind;

// MARK: Text

const uint8_t *cjson_text_bytes(const cjson_text *text, size_t *length);
void cjson_text_free(cjson_text *text);

// MARK: Parsing and serialising

typedef enum CJSON_CLOSED_ENUM cjson_parse_code {
    CJSON_PARSE_EMPTY,
    CJSON_PARSE_BYTE_ORDER_MARK,
    CJSON_PARSE_NUL_BYTE,
    CJSON_PARSE_INVALID_UTF8,
    CJSON_PARSE_LONE_SURROGATE,
    CJSON_PARSE_DUPLICATE_MEMBER,
    CJSON_PARSE_TOO_DEEP,
    CJSON_PARSE_NUMBER_TOO_LARGE,
    CJSON_PARSE_TRAILING_TEXT,
    CJSON_PARSE_UNEXPECTED_END,
    CJSON_PARSE_SYNTAX,
    CJSON_PARSE_OUT_OF_MEMORY,
} cjson_parse_code;

/// Where parsing stopped. `pointer` is a JSON Pointer, or NULL where none is meaningful; free it.
typedef struct cjson_parse_failure {
    cjson_parse_code code;
    size_t offset;
    cjson_text *pointer;
} cjson_parse_failure;

/// Parses RFC 8259 as narrowed by I-JSON (RFC 7493); NULL and a filled `failure` for anything else. `comments` lets
/// `//` and `/* */` comments stand where white space may.
cjson_value *cjson_parse(const uint8_t *bytes, size_t length, bool comments, cjson_parse_failure *failure);

/// The value as compact UTF-8, members sorted by name. The bytes are valid until this thread's next call of a function
/// that serialises; do not free them.
const uint8_t *cjson_serialize(const cjson_value *value, size_t *length);

/// A JSON string literal, with quotation marks, for UTF-8 bytes; bytes that are not UTF-8 become U+FFFD. The result is
/// valid as long as that of `cjson_serialize`.
const uint8_t *cjson_quote(const uint8_t *bytes, size_t length, size_t *quoted_length);

/// Whether the literal is the bytes between quotation marks: they are ASCII, without anything to escape.
bool cjson_is_plain(const uint8_t *bytes, size_t length);

// MARK: Tokens

// The parser's events as a list, without making values: for stored text whose form the reader knows.

typedef enum CJSON_CLOSED_ENUM cjson_token_kind {
    CJSON_TOKEN_NULL,
    CJSON_TOKEN_FALSE,
    CJSON_TOKEN_TRUE,
    CJSON_TOKEN_INTEGER,
    /// An integer beyond `int64_t`.
    CJSON_TOKEN_UNSIGNED,
    CJSON_TOKEN_DOUBLE,
    CJSON_TOKEN_STRING,
    CJSON_TOKEN_NAME,
    CJSON_TOKEN_BEGIN_ARRAY,
    CJSON_TOKEN_END_ARRAY,
    CJSON_TOKEN_BEGIN_OBJECT,
    CJSON_TOKEN_END_OBJECT,
} cjson_token_kind;

typedef struct cjson_token {
    cjson_token_kind kind;
    /// The offset up to which the text was read: after the last byte of a string or bracket.
    size_t end;
    union {
        int64_t integer;
        uint64_t whole;
        double real;
        /// The place of a string's or name's unescaped bytes in the texts.
        struct {
            size_t start;
            size_t length;
        } text;
    };
} cjson_token;

/// The tokens of one text, and the texts in it.
typedef struct cjson_tokens cjson_tokens;

/// How deep tokens may be nested: a value of the maximum depth, inside the arrays and objects that it is stored in.
#define CJSON_MAXIMUM_TOKEN_DEPTH (2 * CJSON_MAXIMUM_DEPTH)

/// Reads text as strictly as `cjson_parse` does, but accepts names that occur twice, which do no harm without a tree.
/// NULL when the text is not JSON.
cjson_tokens *cjson_read_tokens(const uint8_t *bytes, size_t length, bool comments);
const cjson_token *cjson_tokens_list(const cjson_tokens *tokens, size_t *count);
const uint8_t *cjson_tokens_texts(const cjson_tokens *tokens);
void cjson_tokens_free(cjson_tokens *tokens);

// MARK: Making values

cjson_value *cjson_new_null(void);
cjson_value *cjson_new_bool(bool value);
cjson_value *cjson_new_integer(int64_t value);
cjson_value *cjson_new_unsigned(uint64_t value);
/// Infinities and NaN, which JSON does not have, become null.
cjson_value *cjson_new_double(double value);
cjson_value *cjson_new_string(const uint8_t *bytes, size_t length);
cjson_value *cjson_new_array(void);
cjson_value *cjson_new_object(void);
/// Appends a copy of `element`; false when memory ran out.
bool cjson_array_append(cjson_value *array, const cjson_value *element);
/// Sets a member to a copy of `member`, replacing one of the same name; false when memory ran out.
bool cjson_object_set(cjson_value *object, const uint8_t *name, size_t length, const cjson_value *member);
cjson_value *cjson_copy(const cjson_value *value);
void cjson_free(cjson_value *value);

// MARK: Reading values

cjson_kind cjson_kind_of(const cjson_value *value);
bool cjson_bool(const cjson_value *value);
/// True and the number when the value is an integer that fits.
bool cjson_integer(const cjson_value *value, int64_t *result);
/// True and the number when the value is any number.
bool cjson_double(const cjson_value *value, double *result);
/// The bytes of a string, NULL for other kinds.
const uint8_t *cjson_string(const cjson_value *value, size_t *length);
/// The number of elements or members, 0 for other kinds.
size_t cjson_count(const cjson_value *value);
/// An element of an array, NULL beyond its end and for other kinds.
const cjson_value *cjson_element(const cjson_value *array, size_t index);
/// A member of an object, NULL when it has none of that name and for other kinds.
const cjson_value *cjson_member(const cjson_value *object, const uint8_t *name, size_t length);
/// The member of an object at an index below the count, in the order of names.
const cjson_value *cjson_member_at(const cjson_value *object, size_t index, const uint8_t **name, size_t *length);
/// Equality of JSON values: numbers by value, objects whatever the order of their members.
bool cjson_equal(const cjson_value *one, const cjson_value *other);
/// How deep arrays and objects are nested: 0 for a scalar, 1 for `[]`.
size_t cjson_depth(const cjson_value *value);
/// How many values it consists of, and how many times 32 bytes of text. Stops counting soon after `limit`.
size_t cjson_weight(const cjson_value *value, size_t limit);

// MARK: Patching

/// Merges `patch` into `target` (RFC 7396); false when memory ran out, with `target` in any state.
bool cjson_merge(cjson_value *target, const cjson_value *patch);

typedef enum CJSON_CLOSED_ENUM cjson_patch_kind {
    /// The document is not a JSON Patch, whatever it would be applied to.
    CJSON_PATCH_MALFORMED,
    /// The patch does not fit the document.
    CJSON_PATCH_CONFLICT,
    /// The result would be beyond the bounds, or the work.
    CJSON_PATCH_TOO_DEEP,
    CJSON_PATCH_TOO_LARGE,
} cjson_patch_kind;

/// `detail` is a sentence. `operation` is the index of the failing operation, -1 when the patch as a whole is at fault;
/// `pointer` is its `path`, or its `from` when that is at fault, or NULL when it has none; free it.
typedef struct cjson_patch_failure {
    cjson_patch_kind kind;
    const char *detail;
    ptrdiff_t operation;
    cjson_text *pointer;
} cjson_patch_failure;

/// Applies the operations of `patch` to `target` (RFC 6902). On failure, returns false, fills `failure` and leaves what
/// the operations before the failing one have made. `maximum_size` bounds the bytes that the operations may add
/// altogether, counted about as they would be serialised. `steps` bounds the work, and is what is left afterwards:
/// moving an element or a member by a place, or looking at a value, is a step of some nanoseconds.
bool cjson_patch(
    cjson_value *target, const cjson_value *patch, size_t maximum_size, size_t *steps, cjson_patch_failure *failure);

// MARK: JSON Schema

/// A compiled schema. Validating with one is safe from many threads at once.
typedef struct cjson_schema cjson_schema;

/// Where a schema is wrong (a JSON Pointer) and a sentence why; NULL where unknown. Free both.
typedef struct cjson_schema_failure {
    cjson_text *pointer;
    cjson_text *detail;
} cjson_schema_failure;

/// Compiles a draft 7 schema without references to other documents, or NULL and a filled `failure`.
cjson_schema *cjson_schema_compile(const cjson_value *document, cjson_schema_failure *failure);
void cjson_schema_free(cjson_schema *schema);

typedef enum CJSON_CLOSED_ENUM cjson_schema_note {
    /// The keyword at the pointer is not one of draft 7; the detail is empty.
    CJSON_SCHEMA_UNKNOWN_KEYWORD,
    CJSON_SCHEMA_OTHER_DRAFT,
    CJSON_SCHEMA_WITHOUT_EFFECT,
} cjson_schema_note;

/// Calls `visit` with each place of the schema where its author may have meant something else, and with the rest of a
/// sentence about it. Both texts are gone after the call.
void cjson_schema_each_note(
    const cjson_schema *schema, void *context,
    void (*visit)(
        void *context, cjson_schema_note kind, const uint8_t *pointer, size_t pointer_length, const uint8_t *detail,
        size_t detail_length));

/// The keyword of draft 7 of that index, or NULL beyond the last one.
const char *cjson_schema_keyword(size_t index);

/// Whether `document` fits, and no more.
bool cjson_schema_accepts(const cjson_schema *schema, const cjson_value *document);

/// `patch` merged into the text `target` (RFC 7396), as `cjson_serialize` gives it, if that fits the schema.
///
/// One call for what most writes are: no value is made that is to be freed. NULL when `target` is no JSON, the result
/// does not fit or memory ran out: the other functions tell which.
const uint8_t *cjson_schema_merge(
    const cjson_schema *schema, const uint8_t *target, size_t target_length, const cjson_value *patch, size_t *length);

/// Told of a violation: a JSON Pointer into the document and the rest of a sentence about that place. Both are gone
/// after the call.
typedef void (*cjson_report)(
    void *context, const uint8_t *pointer, size_t pointer_length, const uint8_t *detail, size_t detail_length);

/// Whether `document` fits. If not, `report` is called at least once (provided memory does not run out) and at most
/// `limit` times.
bool cjson_schema_validate(
    const cjson_schema *schema, const cjson_value *document, size_t limit, void *context, cjson_report report);

#ifdef __cplusplus
}
#endif
