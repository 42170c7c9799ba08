import Sessions

/// A commit on its way. A session has one at a time.
///
/// It has a nonce, which the session keeps until the next commit. When the connection is lost before there is a reply,
/// it is sent once more: the nonce tells whether it was executed before.
final class RedisCommit: Sendable {
    /// What is to be written.
    struct Content: Sendable {
        let record: SessionRecord
        /// `nil` when no session may exist.
        let replaced: UInt64?
        /// The tasks that begin with it.
        let tasks: [StoredTask]
        let flows: [UsedFlow]
        /// Whether user, labels and token are as before.
        var changesServicesOnly = false
        /// Whether the times of the record are new.
        var changesTimes = false
    }

    private let content: Content
    /// The last command is the script.
    private let request: RedisRequest
    private let store: RedisStore
    private let done: @Sendable (StoreError?) -> Void

    /// - Parameters:
    ///   - script: with these arguments behind the nonce and the two revisions.
    init(
        _ content: Content, _ script: RedisScript, _ arguments: RedisRequest.Arguments, in store: RedisStore,
        then done: @escaping @Sendable (StoreError?) -> Void
    ) {
        self.content = content
        self.store = store
        self.done = done
        let number = store.lastNonce.wrappingAdd(1, ordering: .relaxed).newValue
        let nonce = "\(store.name)-\(number)\(Self.isTimed)"
        var request = store.index(content, insists: false)
        request.isRepeatable = false
        request.needsReplicas = true
        request.beginStage()
        var all = RedisRequest.Arguments([
            .text(nonce), .text(content.replaced.map { String($0) } ?? ""), .text(String(content.record.revision)),
        ])
        all.add(arguments)
        request.call(script, .text(store.keys.session(content.record.id)), all)
        self.request = request
    }

    func send() {
        if let refusal = store.gate.enter() { return done(.unavailable(refusal)) }
        send(isAgain: false)
    }

    private func send(isAgain: Bool) {
        let refusal = store.router.append(request, isBounded: !isAgain) { self.take($0, isAgain: isAgain) }
        if let refusal { take(.failed(refusal), isAgain: isAgain) }
    }

    // MARK: On threads of connections

    private func take(_ outcome: RedisConnection.Outcome, isAgain: Bool) {
        switch outcome {
        case .lost where !isAgain: send(isAgain: true)
        case .failed(let sentence) where !isAgain: finish(.unavailable(sentence))
        case .lost, .failed: finish(.unavailable(Self.unconfirmed))
        case .replies(let replies):
            var reply = replies.last ?? .none
            // In a cluster the script is not sent when an index refuses an entry.
            if case .none = reply { reply = replies.first { $0.error != nil } ?? .none }
            if let error = reply.error {
                // The first may have been executed: Redis refuses the second when its memory is full, for example.
                return finish(isAgain ? .unavailable(Self.unconfirmed) : StoreError(redis: error))
            }
            switch reply.number ?? reply[0].number {
            case 1: follow(reply, isIndexed: replies.allSatisfy { $0.error == nil })
            case 0: finish(.gone)
            // It may have been executed, and another one since.
            case _ where isAgain: finish(.unavailable(Self.unconfirmed))
            default: finish(store.overtaken(content.record.id, by: reply[1]))
            }
        }
    }

    /// Writes what has to be there as well before the commit is acknowledged.
    ///
    /// - Parameters:
    ///   - reply: of the script.
    ///   - isIndexed: whether it is certain that indexes have the session. Redis may have had no memory for an entry,
    ///     and then enough for the script.
    private func follow(_ reply: RedisReply, isIndexed: Bool) {
        store.unindex(content, reply)
        var request = store.note(content.flows)
        if !isIndexed { request.add(store.index(content, insists: true)) }
        guard request.count > 0 else { return finish(nil) }
        let refusal = store.router.append(request, isBounded: false) { outcome in
            do throws(StoreError) {
                _ = try outcome.get()
                self.finish(nil)
            } catch {
                self.finish(error)
            }
        }
        if let refusal { finish(.unavailable(refusal)) }
    }

    private func finish(_ failure: StoreError?) {
        guard case .gone = failure else { return end(failure) }
        store.marks.confirm(absenceOf: content.record.id) { self.end($0 ?? failure) }
    }

    private func end(_ failure: StoreError?) {
        done(failure)
        store.gate.leave()
    }

    /// At the end of a nonce: the server that made it keeps the times of sessions (``SessionTimes``). One of an earlier
    /// version, which may write the same sessions while servers are upgraded, leaves them as they are.
    private static let isTimed = "t"

    /// Whether the times of a session may be others than its journeys say.
    ///
    /// - Parameter nonce: of the session's last commit.
    static func isUntimed(after nonce: String?) -> Bool { nonce?.hasSuffix(isTimed) != true }

    private static let unconfirmed = "The connection to Redis was lost before it confirmed a commit."
}
