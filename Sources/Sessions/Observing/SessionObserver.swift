/// Is told what was committed, for example to pass it on to those who watch a session.
///
/// The calls come on the thread that made the changes visible, often one of the store, so that they must take no time.
/// They come outside every lock, and for one session in the order of its revisions; `ended` may overtake changes that
/// were committed right before.
package protocol SessionObserver: Sendable {
    /// - Parameter revision: that of the session after the changes.
    func session(_ id: SessionID, changed changes: [SessionChange], revision: UInt64)
}

/// Something that happened to a session.
package enum SessionChange: Sendable, Equatable {
    case created
    case serviceChanged(name: String, etag: ServiceETag)
    case serviceCleared(name: String, etag: ServiceETag)
    /// Of several in one commit, and when a session ends, the newest instance comes first.
    case serviceRemoved(name: String)
    /// The journey has made a step, its first among them; it may still show the same screen.
    case journeyMoved(id: String, step: UInt64)
    case journeyFinished(id: String, step: UInt64)
    case journeyExpired(id: String, step: UInt64)
    /// It was given up and is not there any more.
    case journeyAbandoned(id: String)
    case ended(SessionEnd)
}

/// Why a session ended.
package enum SessionEnd: Sendable, Equatable {
    /// Somebody said so.
    case requested
    case expired
    /// A token was used after it had been replaced.
    case tokenReused
}
