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
        kind =
            switch failure.kind {
            case .CJSON_PATCH_MALFORMED: .malformed
            case .CJSON_PATCH_CONFLICT: .conflict
            case .CJSON_PATCH_TOO_DEEP: .tooDeep
            case .CJSON_PATCH_TOO_LARGE: .tooLarge
            }
        detail = String(cString: failure.detail)
        operation = failure.operation < 0 ? nil : failure.operation
        pointer = JSONText.string(adopting: failure.pointer)
    }
}

extension JSONPatchError: CustomStringConvertible {
    package var description: String {
        let place = pointer.map { " (\"\($0)\")" } ?? ""
        return operation.map { "Operation \($0)\(place): \(detail)" } ?? detail
    }
}
