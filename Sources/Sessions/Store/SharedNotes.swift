/// Short notes that the processes on one store keep for each other for a while.
package protocol SharedNotes: Sendable {
    /// Makes a note, unless there is one of that key.
    ///
    /// - Parameter time: milliseconds, after which it is gone.
    /// - Returns: the note that was there; nil when there was none.
    func note(_ note: [UInt8], of key: SHA256Digest, for time: Int64) async throws(SessionError) -> [UInt8]?

    /// Makes a note in place of another one. It does not wait until that is done.
    func replace(_ key: SHA256Digest, with note: [UInt8], for time: Int64)

    /// It does not wait until that is done.
    func drop(_ key: SHA256Digest)
}
