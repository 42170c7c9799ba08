import CJSON

extension JSONDocument {
    /// The document with a JSON Merge Patch (RFC 7396) applied: `null` removes a member, an object is merged, anything
    /// else replaces what was there.
    ///
    /// The result is never nested deeper than the deeper of the two.
    package func merging(_ patch: JSONDocument) -> JSONDocument {
        var result = self
        result.merge(patch)
        return result
    }

    /// The same in place. Nothing is copied when no other document shares the memory.
    package mutating func merge(_ patch: JSONDocument) {
        makeUnique()
        guard cjson_merge(value, patch.value) else { outOfMemory() }
    }

    /// The steps that JSON Patches may take, see ``apply(_:maximumSize:steps:)``: some milliseconds. No sensible patch
    /// comes near.
    package static let patchSteps = 1_000_000

    /// The document with a JSON Patch (RFC 6902) applied, all of it or nothing.
    ///
    /// Removing the whole document (`path` is `""`) is a conflict; replacing it is not. Unknown members of operations
    /// are ignored, as the RFC wants.
    ///
    /// - Parameter maximumSize: How many bytes the operations may add altogether, counted about as they would be
    ///   serialised: a few `copy` operations could otherwise fill the memory by doubling a value again and again.
    /// - Throws: `JSONPatchError`: `.malformed` when `patch` is not a JSON Patch, `.conflict` when it does not fit this
    ///   document, `.tooDeep` or `.tooLarge` when the result, or the work, would be.
    package func applying(_ patch: JSONDocument, maximumSize: Int = 4_194_304) throws(JSONPatchError) -> JSONDocument {
        var result = self
        var steps = Self.patchSteps
        try result.apply(patch, maximumSize: maximumSize, steps: &steps)
        return result
    }

    /// The same in place. When it throws, what the operations before the failing one have made is left. Nothing is
    /// copied when no other document shares the memory.
    ///
    /// - Parameter steps: bounds the work, also of several patches together. Moving an element or a member by a place,
    ///   or looking at a value, is a step.
    package mutating func apply(
        _ patch: JSONDocument, maximumSize: Int, steps: inout Int
    ) throws(JSONPatchError) {
        makeUnique()
        var failure = cjson_patch_failure()
        var left = max(0, steps)
        defer { steps = left }
        guard cjson_patch(value, patch.value, max(0, maximumSize), &left, &failure) else {
            throw JSONPatchError(adopting: failure)
        }
    }

    /// Copies the value unless this document alone refers to it. Only then it may be written to.
    private mutating func makeUnique() {
        if value == owner.root, isKnownUniquelyReferenced(&owner) { return }
        self = JSONDocument(Owner(adopting: cjson_copy(value)))
    }
}
