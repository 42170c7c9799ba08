import HTTPServer
import JSONDocument
import SeededRandomness

@testable import ConciergeApp
@testable import Sessions

/// Requests with an idempotency key. Those with an even number write into a session, the others make one.
extension Client {
    /// Sends a request whose key others use as well.
    mutating func request(_ server: SharedServer) async throws -> Outcome {
        let number = fleet.keys.key(reaching: Int.random(in: 0...2, using: &random))
        guard let key = IdempotencyKey(Array("key-\(number)".utf8)) else { return .answered }
        let fingerprint = ShortDigest(SHA256Digest(of: Array("request \(number)".utf8)))
        let keyed: KeyedRequest
        do {
            keyed = try server.idempotency.begin(.peer("a client"), key, fingerprint)
        } catch {
            // A copy is in progress at this server.
            return .answered
        }
        defer { keyed.end() }
        do {
            let response = try await number % 2 == 0 ? write(number, keyed, server) : create(number, keyed, server)
            fleet.keys.responded(number, response)
            return .answered
        } catch let executed as ExecutedBefore {
            guard let kept = try await kept(executed.place, keyed, server) else { return .unknown }
            fleet.keys.responded(number, String(decoding: kept.body, as: UTF8.self))
            return .answered
        } catch let error as SessionError where error.isTemporary {
            return .unknown
        }
    }

    private func write(_ number: Int, _ keyed: KeyedRequest, _ server: SharedServer) async throws -> String {
        guard let session = try await server.sessions.session(fleet.keySession) else {
            throw SessionError.storeUnavailable(reason: "not there")
        }
        if let entry = session.replay(of: keyed.id) { throw ExecutedBefore(.session(session, entry)) }
        let log = try server.sessions.catalog.service(named: "log")
        let append: JSONDocument = [["op": "add", "path": "/-", "value": JSONDocument(number)]]
        let once = Once<[ServiceOperation.Outcome]>(id: keyed.id) {
            keyed.replay(of: HTTPResponse(text: "\($0[0].etag)"))
        }
        return "\(try await session.perform([ServiceOperation(.jsonPatch(append), on: log)], once: once)[0].etag)"
    }

    private func create(_ number: Int, _ keyed: KeyedRequest, _ server: SharedServer) async throws -> String {
        let once = Once<(Session, SessionToken)>(id: keyed.id) {
            keyed.replay(of: HTTPResponse(.created, text: "\($0.0.id)"))
        }
        let (session, _) = try await withUnsafeThrowingContinuation { waiting in
            server.sessions.create(
                labels: ["key": JSONDocument("\(number)")], mode: .bearer, once: once, mostLone: .max
            ) { waiting.resume(with: $0) }
        }
        return "\(session.id)"
    }

    /// The response that was kept; `nil` when it cannot be read now.
    private func kept(
        _ place: ExecutedBefore.Place, _ keyed: KeyedRequest, _ server: SharedServer
    ) async throws -> HTTPResponse? {
        do {
            switch place {
            case .session(let session, let entry):
                guard let sealed = try await session.response(entry.id), let kept = keyed.opened(sealed) else {
                    throw NoResponse()
                }
                return kept.response
            case .madeSession(let id, _):
                guard let session = try await server.sessions.session(id), let entry = session.replay(of: keyed.id)
                else { throw NoResponse() }
                return try await kept(.session(session, entry), keyed, server)
            }
        } catch let error as SessionError where error.isTemporary {
            return nil
        }
    }

    struct NoResponse: Error {}
}

extension Fleet {
    /// The keys of what was executed, as the store has it.
    func executedKeys(at server: SharedServer) async throws -> [Int] {
        guard let session = try await server.sessions.session(keySession) else { throw Client.NoResponse() }
        let log = try server.sessions.catalog.service(named: "log")
        let bytes = try await session.transact { pending in pending.outcome(of: log).bytes }
        var executed = try JSONDocument(parsing: bytes).elements?.compactMap(\.int) ?? []
        var cursor: SessionCursor?
        repeat {
            let page = try await server.sessions.page(after: cursor, limit: 100)
            for session in page.sessions {
                if let key = session.labels["key"].flatMap({ Int($0) }) { executed.append(key) }
            }
            cursor = page.next
        } while cursor != nil
        return executed
    }
}
