/// Short notes that the processes on one store keep for each other for a while.
///
/// A note begins with a mark: ``SharedNoteMark/length`` random bytes. The process that made the note knows its mark and
/// owns it: no other process replaces or drops it.
package protocol SharedNotes: Sendable {
    /// Makes a note, unless there is one of that key.
    ///
    /// - Parameter time: milliseconds, after which it is gone.
    /// - Returns: the note that was there; nil when there was none.
    /// - Throws: the store's error. The note may have been made.
    func note(_ note: [UInt8], of key: SHA256Digest, for time: Int64) async throws(SessionError) -> [UInt8]?

    /// Makes a note in place of the one with the same mark, or of one that is gone. It returns at once; when the store
    /// is away, it is done when the store is back.
    func replace(_ key: SHA256Digest, with note: [UInt8], for time: Int64)

    /// Drops the note with that mark. It returns at once, as ``replace(_:with:for:)`` does.
    func drop(_ key: SHA256Digest, of mark: [UInt8])
}

/// What a note begins with.
package enum SharedNoteMark {
    /// As many as in a random UUID: two notes never have one mark.
    package static let length = 16
}
