/// A JSON document of the session, as a type of yours.
///
///     struct Basket: Codable { var items: [Item] }
///     let basket = session.service("basket", of: Basket.self)
///     try await basket.update { $0.items.append(tea) }
public struct Service<Document: Codable & Sendable>: Sendable {
    let live: Live<Document>

    init(
        session: Session, path: String, seen: Locked<Live<Document>.Seen> = Locked(Live<Document>.Seen()),
        isConcerned: @escaping @Sendable (Change) -> Bool
    ) {
        live = Live(session: session, path: path, seen: seen, isConcerned: isConcerned)
    }

    /// As it was read last; `nil` before.
    public var value: Document? { live.value }

    /// That of `value`, with its quotes.
    public var etag: String? { live.etag }

    /// The document now, and again after each change, no matter which client made it. Throws when the session ends.
    public var values: AsyncThrowingStream<Document, any Error> { live.values() }

    /// Reads it. Nothing is transferred when it has not changed.
    @discardableResult
    public func get() async throws -> Document { try await live.get() }

    /// Replaces it.
    ///
    /// - Parameter etag: only if it still has that one, else a `Problem` with status 412.
    @discardableResult
    public func put(_ document: Document, ifMatch etag: String? = nil) async throws -> Document {
        try await live.call("PUT", body: try JSONValue(encoding: document), ifMatch: etag)
    }

    /// Changes a part of it by a merge patch (RFC 7396), in which `nil` removes a member.
    @discardableResult
    public func patch(_ patch: JSONValue, ifMatch etag: String? = nil) async throws -> Document {
        try await live.call("PATCH", body: patch, type: "application/merge-patch+json", ifMatch: etag)
    }

    /// Reads it, changes it, and writes what has changed; starts again when somebody else was faster, so no update is
    /// lost. Members that `Document` does not know stay as they are, except in lists.
    ///
    /// - Parameter change: may be called several times.
    @discardableResult
    public func update(_ change: (inout Document) async throws -> Void) async throws -> Document {
        var attempts = 10
        while true {
            attempts -= 1
            let (before, etag) = try await live.read()
            var after = before
            try await change(&after)
            let patch = try JSONValue(encoding: before).patch(to: try JSONValue(encoding: after))
            guard !patch.isEmpty else { return before }
            do {
                return try await live.call(
                    "PATCH", body: .array(patch), type: "application/json-patch+json", ifMatch: etag)
            } catch let problem as Problem where problem.status == 412 && attempts > 0 {}
        }
    }

    /// Calls a command of the service, and gives its output. If it was read before, the document is read again.
    ///
    /// - Parameters:
    ///   - input: what the command takes; `nil` when it takes nothing.
    ///   - etag: only if the document still has that one, else a `Problem` with status 412.
    /// - Throws: a `Problem` with the code `command_refused` and a `reason` when the service refuses.
    public func call<Output: Decodable & Sendable>(
        _ command: String, with input: (any Encodable & Sendable)? = nil, ifMatch etag: String? = nil
    ) async throws -> Output {
        let answer: Answer<Output> = try await sent(command, input, etag).decode()
        return answer.output
    }

    /// The same for a command without an output.
    public func call(
        _ command: String, with input: (any Encodable & Sendable)? = nil, ifMatch etag: String? = nil
    ) async throws {
        _ = try await sent(command, input, etag)
    }

    private struct Answer<Output: Decodable & Sendable>: Decodable, Sendable { let output: Output }

    private func sent(
        _ command: String, _ input: (any Encodable & Sendable)?, _ etag: String?
    ) async throws -> Transport.Answer {
        let answer = try await live.session.request(
            "POST", "\(live.path)/commands/\(command)", body: try input.map { try JSONValue(encoding: $0) },
            fields: ["If-Match": etag])
        if live.etag != nil, live.etag != answer.etag { try await get() }
        return answer
    }

    /// Puts the same instance into its default state.
    @discardableResult
    public func clear() async throws -> Document {
        _ = try await live.session.request("DELETE", "\(live.path)/state")
        return try await get()
    }

    /// Removes the instance; the next access makes a clean one.
    @discardableResult
    public func remove() async throws -> Document {
        _ = try await live.session.request("DELETE", live.path)
        return try await get()
    }
}
