import HTTPTestClient
import JSONDocument
import RedisTestServer
import SeededRandomness
import Sessions
import Support
import Testing

/// One of many that send requests at the same time, one after the other, each to any of the programs.
struct ProgramClient {
    /// A session, and what may be shown of it.
    struct Subject: Sendable {
        let id: SessionID
        let token: String
        let chain: ChainModel
        let journey: JourneyModel
        let notes: NoteModel
    }

    enum Outcome { case answered, unknown }

    let fleet: Fleet<ProgramServer>
    let subjects: [Subject]
    let tally: Tally
    let number: Int
    var random: SeededGenerator
    /// What it has seen of a session, for conditions.
    private var seen: [SessionID: (chain: [JSONDocument], tag: ServiceETag)] = [:]
    /// The entity tag and the step of a journey that waits for a client.
    private var ready: [SessionID: (tag: String, step: UInt64)] = [:]

    init(_ fleet: Fleet<ProgramServer>, _ subjects: [Subject], _ tally: Tally, number: Int = 0, seed: UInt64) {
        self.fleet = fleet
        self.subjects = subjects
        self.tally = tally
        self.number = number
        random = SeededGenerator(seed: seed)
    }

    mutating func run() async throws {
        defer { tally.end(number) }
        while !tally.isOver {
            // A few have most of the work, so that their requests meet.
            let most = Bool.random(using: &random) ? min(4, subjects.count) : subjects.count
            let subject = subjects[Int.random(in: 0..<most, using: &random)]
            let place = Int.random(in: 0..<Fleet<ProgramServer>.size, using: &random)
            let kind = Int.random(in: 0..<100, using: &random)
            tally.begin("\(kind) of \(subject.id) at \(place)", of: number)
            let outcome = try await step(kind, subject, fleet[place])
            tally.count(isAnswered: outcome == .answered)
            if outcome == .unknown { try await Task.sleep(for: .milliseconds(2)) }
        }
    }

    private mutating func step(_ kind: Int, _ subject: Subject, _ server: ProgramServer) async throws -> Outcome {
        switch kind {
        case 0..<35: try await read(subject, server)
        case 35..<55: try await append(subject, server)
        case 55..<70: try await replace(subject, server)
        case 70..<85: try await note(subject)
        case 85..<88: try await look(subject, server)
        case 88..<94: try await begin(subject, server)
        default: try await work(server)
        }
    }

    // MARK: Requests

    /// Nil for a response that says nothing: 503, or none at all because the program was killed.
    private func send(
        _ client: TestClient, _ method: String, _ path: String, _ json: String? = nil,
        _ fields: [(name: String, value: String)] = []
    ) async throws -> TestResponse? {
        do {
            let response = try await client.send(method, path, json: json, fields: fields)
            return response.status == 503 || response.status == 504 ? nil : response
        } catch is RawConnection.Failure {
            return nil
        }
    }

    private static let chain = "/v1/sessions/current/services/chain"
    private static let main = "/v1/sessions/current/journeys/main"

    private struct Unexpected: Error { let response: String }

    private func unexpected(_ response: TestResponse) -> Unexpected {
        Unexpected(response: "\(response.status) \(response.text)")
    }

    // MARK: The chain

    mutating func read(_ subject: Subject, _ server: ProgramServer) async throws -> Outcome {
        let start = subject.chain.begin()
        guard let response = try await send(server.client.with(token: subject.token), "GET", Self.chain) else {
            return .unknown
        }
        let (chain, tag) = try content(response)
        subject.chain.saw(Chain(all: chain, tag), tag, mirror: nil, start)
        seen[subject.id] = (chain, tag)
        return .answered
    }

    /// A write without a condition.
    private mutating func append(_ subject: Subject, _ server: ProgramServer) async throws -> Outcome {
        let (start, write) = (subject.chain.begin(), tally.nextWrite)
        let response = try await send(
            server.client.with(token: subject.token), "PATCH", Self.chain,
            #"[{"op":"add","path":"/last/-","value":\#(write)}]"#, [("Content-Type", "application/json-patch+json")])
        return try judge(response, write, subject, start)
    }

    /// A write on the content that was read.
    private mutating func replace(_ subject: Subject, _ server: ProgramServer) async throws -> Outcome {
        guard let (chain, tag) = seen.removeValue(forKey: subject.id) else { return try await read(subject, server) }
        let (start, write) = (subject.chain.begin(), tally.nextWrite)
        let next: JSONDocument = ["last": JSONDocument(chain + [JSONDocument(write)])]
        let response = try await send(
            server.client.with(token: subject.token), "PUT", Self.chain, "\(next)", [("If-Match", "\(tag)")])
        return try judge(response, write, subject, start)
    }

    private mutating func judge(
        _ response: TestResponse?, _ write: Int, _ subject: Subject, _ start: ChainModel.Start
    ) throws -> Outcome {
        guard let response else {
            subject.chain.unknown(write, start)
            return .unknown
        }
        guard response.status != 412 else {
            subject.chain.refused(write)
            return .answered
        }
        let (chain, tag) = try content(response)
        subject.chain.acknowledged(write, Chain(all: chain, tag), tag, start)
        return .answered
    }

    private func content(_ response: TestResponse) throws -> (chain: [JSONDocument], tag: ServiceETag) {
        guard response.status == 200, let chain = response[member: "last"]?.elements,
            let text = response["ETag"], let tag = ServiceETag(opaque: text.dropFirst().dropLast())
        else { throw unexpected(response) }
        return (chain, tag)
    }

    // MARK: Idempotency keys

    /// Sends a request, and once more to another program, as a client does that has not got its response.
    private mutating func note(_ subject: Subject) async throws -> Outcome {
        let (floor, number) = (subject.journey.begin(), tally.nextWrite)
        var outcome = Outcome.unknown
        var first: [UInt8]?
        for place in (0..<Fleet<ProgramServer>.size).shuffled(using: &random).prefix(2) {
            let response = try await send(
                fleet[place].client.with(token: subject.token), "POST", Self.main + "/events",
                #"{"event":"note","data":{"n":\#(number)}}"#, [("Idempotency-Key", "note-\(number)")])
            guard let response else { continue }
            if response.status == 409 {
                // The first one is still being done, or its program has been killed; or the journey waits for its task.
                if response[member: "code"]?.string == "event_not_accepted" { outcome = .answered }
                continue
            }
            guard response.status == 200, let step = response[member: "step"]?.int else { throw unexpected(response) }
            subject.notes.acknowledge(number)
            if first == nil, response["Idempotency-Replayed"] == nil { subject.journey.saw(UInt64(step), since: floor) }
            if let first, first != response.body { throw unexpected(response) }
            (first, outcome) = (response.body, .answered)
        }
        return outcome
    }

    // MARK: Journeys and tasks

    private mutating func look(_ subject: Subject, _ server: ProgramServer) async throws -> Outcome {
        let floor = subject.journey.begin()
        guard let response = try await send(server.client.with(token: subject.token), "GET", Self.main) else {
            return .unknown
        }
        guard response.status == 200, let step = response[member: "step"]?.int, let tag = response["ETag"] else {
            throw unexpected(response)
        }
        subject.journey.saw(UInt64(step), since: floor)
        let isReady = response[member: "screen"]?[string: "id"] == "ready"
        ready[subject.id] = isReady ? (tag, UInt64(step)) : nil
        return .answered
    }

    private mutating func begin(_ subject: Subject, _ server: ProgramServer) async throws -> Outcome {
        guard let (tag, former) = ready.removeValue(forKey: subject.id) else { return try await look(subject, server) }
        let floor = subject.journey.begin()
        let response = try await send(
            server.client.with(token: subject.token), "POST", Self.main + "/events", #"{"event":"begin"}"#,
            [("If-Match", tag)])
        guard let response else { return .unknown }
        // Another client was faster.
        guard response.status != 412 else { return .answered }
        guard response.status == 200, let step = response[member: "step"]?.int else { throw unexpected(response) }
        subject.journey.took(UInt64(step), from: former, since: floor)
        return .answered
    }

    /// Fetches a few tasks and does them.
    func work(_ server: ProgramServer) async throws -> Outcome {
        let start = ContinuousClock.now
        let claimed = try await send(
            server.admin, "POST", "/v1/tasks/claims", #"{"task":"work","max":2,"lease":"30s","wait":"0s"}"#)
        guard let claimed else { return .unknown }
        for task in claimed.json(of: "items") {
            guard let text = task[string: "id"], let id = TaskID(text), let attempt = task[member: "attempt"]?.int,
                let subject = subjects.first(where: { $0.id == id.session })
            else { throw unexpected(claimed) }
            subject.journey.claimed(id, attempt: attempt, since: start)
            let response = try await send(server.admin, "POST", "/v1/tasks/\(text)/result", #"{"outcome":"ok"}"#)
            switch response?.status {
            case 204: subject.journey.ended(id)
            case 410, 409, 404: subject.journey.wasOver(id)
            case nil:
                subject.journey.unknownEnd(id)
                return .unknown
            default: throw unexpected(response ?? claimed)
            }
        }
        return .answered
    }

    /// The notes of a session, at the end.
    func notes(of subject: Subject, at server: ProgramServer) async throws -> [Int]? {
        let response = try await send(
            server.client.with(token: subject.token), "GET", "/v1/sessions/current/services/notes")
        return response.map { $0.json(of: "all").compactMap(\.int) }
    }
}

extension Chain {
    /// All writes of a session that is never imported.
    init(all writes: [JSONDocument], _ tag: ServiceETag) {
        self.init(era: tag == .unwritten ? 0 : 1)
        (count, last) = (writes.count, writes.compactMap(\.int))
    }
}

extension TestResponse {
    fileprivate func json(of member: String) -> [JSONDocument] { self[member: member]?.elements ?? [] }
}
