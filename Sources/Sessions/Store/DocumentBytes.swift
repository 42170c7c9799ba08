/// What all sessions of a store hold, in bytes. See ``SessionStore/documentBytes``.
package struct DocumentBytes: Sendable, Equatable {
    package let stored: Int
    package let allowed: Int

    package init(stored: Int, allowed: Int) {
        self.stored = stored
        self.allowed = allowed
    }
}

extension StoreError {
    /// There are as many bytes as there may be.
    package static func full(of bytes: DocumentBytes) -> StoreError {
        .full("All sessions together have \(bytes.stored) of \(bytes.allowed) bytes (limits.total_bytes).")
    }
}
