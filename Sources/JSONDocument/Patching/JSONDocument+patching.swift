import CJSON

extension JSONDocument {
    /// The document with a JSON Merge Patch (RFC 7396) applied: `null` removes a member, an object is merged, anything
    /// else replaces what was there.
    ///
    /// The result is never nested deeper than the deeper of the two.
    package func merging(_ patch: JSONDocument) -> JSONDocument {
        JSONDocument(Owner(adopting: cjson_merge(value, patch.value)))
    }

    /// The document with a JSON Patch (RFC 6902) applied, all of it or nothing.
    ///
    /// Removing the whole document (`path` is `""`) is a conflict; replacing it is not. Unknown members of operations
    /// are ignored, as the RFC wants.
    ///
    /// - Parameter maximumSize: How many bytes the operations may add altogether, counted about as they would be
    ///   serialised: a few `copy` operations could otherwise fill the memory by doubling a value again and again.
    /// - Throws: `JSONPatchError`: `.malformed` when `patch` is not a JSON Patch, `.conflict` when it does not fit this
    ///   document, `.tooDeep` or `.tooLarge` when the result would be.
    package func applying(_ patch: JSONDocument, maximumSize: Int = 4_194_304) throws(JSONPatchError) -> JSONDocument {
        var failure = cjson_patch_failure()
        guard let root = cjson_patch(value, patch.value, max(0, maximumSize), &failure) else {
            throw JSONPatchError(adopting: failure)
        }
        return JSONDocument(Owner(adopting: root))
    }
}
