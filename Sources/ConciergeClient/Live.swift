import Foundation

/// What services and journeys have in common: a value with its ETag, and those that wait for another one.
final class Live<Value: Decodable & Sendable>: Sendable {
    let session: Session
    let path: String
    private let isConcerned: @Sendable (Change) -> Bool
    private let isLast: @Sendable (Value) -> Bool
    private let seen: Locked<Seen>

    /// Apart from the rest, since a session has one for itself.
    struct Seen {
        fileprivate var value: Value?
        fileprivate var etag: String?
        fileprivate var watchers:
            [UUID: (continuation: AsyncThrowingStream<Value, any Error>.Continuation, task: Task<Void, Never>)] =
                [:]

        init() {}
    }

    init(
        session: Session, path: String, seen: Locked<Seen> = Locked(Seen()),
        isConcerned: @escaping @Sendable (Change) -> Bool,
        isLast: @escaping @Sendable (Value) -> Bool = { _ in false }
    ) {
        self.session = session
        self.path = path
        self.seen = seen
        self.isConcerned = isConcerned
        self.isLast = isLast
    }

    var value: Value? { seen.withLock(\.value) }
    var etag: String? { seen.withLock(\.etag) }

    func get() async throws -> Value { try await read().value }

    /// The value with the ETag that belongs to it.
    ///
    /// - Parameters:
    ///   - waits: until the value is another one, ten seconds at most.
    ///   - isWatching: see `Session.request`.
    @discardableResult
    func read(waits: Bool = false, isWatching: Bool = false) async throws -> (value: Value, etag: String?) {
        while true {
            let (known, etag) = seen.withLock { ($0.value, $0.etag) }
            let language = session.language
            let answer = try await session.request(
                "GET", path, fields: ["If-None-Match": etag, "Prefer": waits ? "wait=10" : nil], isWatching: isWatching)
            if answer.status == 304, let known { return (known, etag) }
            let value: Value = try answer.decode()
            // An answer that was overtaken by another one may be the older of the two, or in the former language.
            if language == session.language, show(value, answer.etag, insteadOf: etag) { return (value, answer.etag) }
        }
    }

    /// Shows the answer to a write, or what is newer.
    func call(
        _ method: String, _ suffix: String = "", body: JSONValue? = nil, type: String? = nil,
        ifMatch etag: String? = nil
    ) async throws -> Value {
        let (before, language) = (self.etag, session.language)
        let answer = try await session.request(
            method, path + suffix, body: body, fields: ["If-Match": etag, "Content-Type": type])
        let value: Value = try answer.decode()
        let isShown = show(value, answer.etag, insteadOf: before) || answer.etag == self.etag
        return isShown && language == session.language ? value : try await get()
    }

    /// - Parameter old: shows it only if this is still the ETag.
    @discardableResult
    func show(_ value: Value, _ etag: String?, insteadOf old: String?? = nil) -> Bool {
        seen.withLock { seen in
            if let old, old != seen.etag { return false }
            let isNew = etag == nil || etag != seen.etag
            (seen.value, seen.etag) = (value, etag)
            // Under the lock, so that nobody gets an older value after a newer one.
            if isNew { for watcher in seen.watchers.values { tell(watcher.continuation, value) } }
            return true
        }
    }

    func forget() { seen.withLock { ($0.value, $0.etag) = (nil, nil) } }

    /// The value now, and each later one; those that came while the reader was busy are left out but for the newest.
    func values() -> AsyncThrowingStream<Value, any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let key = UUID()
            // Not at once: `show`, which may be what ends the stream, has the lock.
            continuation.onTermination = { _ in Task { self.unwatch(key) } }
            seen.withLock { seen in
                if let value = seen.value, tell(continuation, value) { return }
                let task = Task {
                    do {
                        try await self.follow()
                        continuation.finish()
                    } catch {
                        continuation.finish(throwing: error)
                    }
                }
                seen.watchers[key] = (continuation, task)
            }
        }
    }

    private func unwatch(_ key: UUID) { seen.withLock { $0.watchers.removeValue(forKey: key) }?.task.cancel() }

    /// - Returns: whether that was the last value.
    @discardableResult
    private func tell(_ continuation: AsyncThrowingStream<Value, any Error>.Continuation, _ value: Value) -> Bool {
        continuation.yield(value)
        if isLast(value) { continuation.finish() }
        return isLast(value)
    }

    /// Reads again whenever something was committed, until the end of the session.
    private func follow() async throws {
        let notices = session.notices(
            where: { [self] change in isConcerned(change) && (change.etag == nil || change.etag != etag) },
            isJourney: Value.self == Journey.State.self,
            wait: { [self] in
                do {
                    try await read(waits: true, isWatching: true)
                } catch let problem as Problem where problem.status == 404 || problem.status == 410 {}
            })
        for await _ in notices {
            while !Task.isCancelled {
                do {
                    try await read(isWatching: true)
                    break
                } catch let problem as Problem where problem.status == 404 || problem.status == 410 {
                    return forget()
                } catch let problem as Problem where problem.status == 401 {
                    // The next notice comes with a new token; without one the session ends, and the loop with it.
                    break
                } catch let problem as Problem where problem.isTransient {
                    try await Task.sleep(for: .seconds(1))
                }
            }
        }
        if session.hasEnded { throw Problem.ended }
    }
}
