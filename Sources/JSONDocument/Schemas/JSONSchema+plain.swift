import CJSON

extension JSONSchema {
    /// A merge patch (RFC 7396) of one text to another, checked and serialised in one go: what nearly every write needs,
    /// without a document being made.
    ///
    /// - Parameters:
    ///   - patch: the patch, or without a target the whole new state.
    ///   - target: what is patched; nil for nothing.
    /// - Returns: the bytes that merging, checking and serialising documents would give. Nil when that is to be asked,
    ///   which also tells what is wrong: a text is not plain (has needless escapes, unusual numbers, very many values),
    ///   the schema has keywords that are not looked at here, or the result does not fit.
    package func merging(plain patch: [UInt8], into target: [UInt8]?) -> [UInt8]? {
        let room = patch.count + (target?.count ?? 0)
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: room) { result -> [UInt8]? in
            let count =
                if let target {
                    cjson_schema_merge_plain(
                        compiled, target, target.count, patch, patch.count, result.baseAddress)
                } else {
                    cjson_schema_merge_plain(compiled, nil, 0, patch, patch.count, result.baseAddress)
                }
            return count == 0 ? nil : [UInt8](UnsafeBufferPointer(rebasing: UnsafeBufferPointer(result)[..<count]))
        }
    }
}
