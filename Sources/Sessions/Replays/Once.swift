/// Has a unit of work executed once for all copies of a request, at whatever server and after whatever end.
///
/// The unit begins by looking for the request's id among what its session knows, and ends by adding its response to its
/// own commit. Of two units at two servers one loses against the other's commit, runs again, and finds the id.
package struct Once<Value: Sendable>: Sendable {
    package let id: ShortDigest
    /// Makes of the unit's result what is kept; `nil` to keep nothing. Called each time that the unit has run.
    package let replay: @Sendable (Value) -> Replay?

    package init(id: ShortDigest, replay: @escaping @Sendable (Value) -> Replay?) {
        self.id = id
        self.replay = replay
    }

    /// The same for a unit that may also report a refusal, of which nothing is kept here.
    func ofSuccess() -> Once<Result<Value, any Error>> {
        Once<Result<Value, any Error>>(id: id) { [replay] result in
            if case .success(let value) = result { replay(value) } else { nil }
        }
    }
}

/// Thrown in place of the execution of a request that was executed before.
package struct ExecutedBefore: Error {
    /// Where the response is.
    package enum Place: Sendable {
        case session(Session, ReplayEntry)
        /// The request made a session, which may have ended since. The fingerprint is the request's.
        case madeSession(SessionID, fingerprint: ShortDigest)
    }

    package let place: Place

    package init(_ place: Place) { self.place = place }
}
