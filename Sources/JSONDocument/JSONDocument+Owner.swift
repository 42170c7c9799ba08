import CJSON

extension JSONDocument {
    /// Owns one tree and frees it with the last document that shows a part of it.
    final class Owner: Sendable {
        /// Read by anybody, written by nobody: see `JSONDocument.value`.
        nonisolated(unsafe) let root: OpaquePointer

        /// Takes over what a `cjson_` function made. NULL from those means that memory ran out, where Swift's own
        /// allocations end the process too.
        init(adopting root: OpaquePointer?) {
            guard let root else { fatalError("Out of memory for a JSON document.") }
            self.root = root
        }

        deinit { cjson_free(root) }
    }
}
