extension Session {
    /// Raised by every commit: what was made of the state at one revision holds as long as that is the revision.
    package var revision: UInt64 { state.withLock { $0.record.revision } }
}
