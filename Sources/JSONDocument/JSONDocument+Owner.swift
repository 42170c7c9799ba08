import CJSON

extension JSONDocument {
    /// Owns one tree and frees it with the last document that refers to a part of it.
    final class Owner: Sendable {
        /// Any thread reads it; only a document that shares it with no other writes to it, see `JSONDocument.value`.
        nonisolated(unsafe) let root: OpaquePointer

        /// Takes ownership of a value from a `cjson_` function.
        init(adopting root: OpaquePointer?) {
            guard let root else { outOfMemory() }
            self.root = root
        }

        deinit { cjson_free(root) }
    }
}
