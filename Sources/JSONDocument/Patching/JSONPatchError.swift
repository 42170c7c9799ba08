import CJSON

/// Why a JSON Patch was not applied, and which of its operations is at fault.
package struct JSONPatchError: Error, Equatable, Sendable {
    package enum Kind: Sendable, Equatable {
        /// The document is not a JSON Patch, whatever it would be applied to.
        case malformed
        /// The patch does not fit: a failed `test`, a path that does not exist, an index out of bounds.
        case conflict
        /// The result would be nested deeper than `JSONDocument.maximumDepth`.
        case tooDeep
        /// The patch adds too much.
        case tooLarge
    }

    package let kind: Kind

    /// Index of the operation in the patch, `nil` when the patch as a whole is at fault.
    package let operation: Int?

    /// The `path` of the operation, or its `from` where that is at fault, as far as it has one.
    package let pointer: String?

    /// A sentence that is safe to show to a client, without the place.
    package let detail: String

    init(adopting failure: cjson_patch_failure) {
        (kind, detail) = Self.explain(failure.code)
        operation = failure.code == .CJSON_PATCH_NOT_AN_ARRAY ? nil : failure.operation
        pointer = JSONText.string(adopting: failure.pointer)
    }

    private static func explain(_ code: cjson_patch_code) -> (Kind, String) {
        switch code {
        case .CJSON_PATCH_NOT_AN_ARRAY: (.malformed, "A JSON Patch is an array of operations.")
        case .CJSON_PATCH_OPERATION_NOT_AN_OBJECT: (.malformed, "An operation is an object.")
        case .CJSON_PATCH_OP_MISSING: (.malformed, "An operation needs a string \"op\".")
        case .CJSON_PATCH_OP_UNKNOWN: (.malformed, "\"op\" is one of add, remove, replace, move, copy and test.")
        case .CJSON_PATCH_PATH_MISSING: (.malformed, "An operation needs a string \"path\".")
        case .CJSON_PATCH_PATH_INVALID: (.malformed, "\"path\" is not a JSON Pointer.")
        case .CJSON_PATCH_FROM_MISSING: (.malformed, "This operation needs a string \"from\".")
        case .CJSON_PATCH_FROM_INVALID: (.malformed, "\"from\" is not a JSON Pointer.")
        case .CJSON_PATCH_VALUE_MISSING: (.malformed, "This operation needs a \"value\".")
        case .CJSON_PATCH_MOVE_INTO_ITSELF: (.malformed, "A value cannot be moved into itself.")
        case .CJSON_PATCH_PATH_NOT_FOUND: (.conflict, "There is nothing at \"path\".")
        case .CJSON_PATCH_FROM_NOT_FOUND: (.conflict, "There is nothing at \"from\".")
        case .CJSON_PATCH_INDEX_OUT_OF_BOUNDS: (.conflict, "The array has no such index.")
        case .CJSON_PATCH_TEST_FAILED: (.conflict, "The value is not the one that \"test\" expects.")
        case .CJSON_PATCH_ROOT_REMOVED: (.conflict, "The whole document cannot be removed.")
        case .CJSON_PATCH_TOO_DEEP:
            (.tooDeep, "The result would be nested more than \(JSONDocument.maximumDepth) levels deep.")
        case .CJSON_PATCH_TOO_LARGE: (.tooLarge, "The patch adds too much to the document.")
        case .CJSON_PATCH_OK, .CJSON_PATCH_OUT_OF_MEMORY: (.tooLarge, "There is not enough memory to apply the patch.")
        }
    }
}

extension JSONPatchError: CustomStringConvertible {
    package var description: String {
        let place = pointer.map { " (\"\($0)\")" } ?? ""
        return operation.map { "Operation \($0)\(place): \(detail)" } ?? detail
    }
}
