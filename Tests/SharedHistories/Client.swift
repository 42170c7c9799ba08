import HTTPServer
import JSONDocument
import SeededRandomness

@testable import ConciergeApp
@testable import Sessions

/// One of many that do operations at the same time, one after the other, each at any server.
struct Client {
    /// A session, and what may be shown of it.
    struct Subject: Sendable {
        let id: SessionID
        let token: SessionToken
        let chain: ChainModel
        let journey: JourneyModel
        /// Whether it ends and is imported; otherwise its journey has tasks.
        let isMoved: Bool
    }

    enum Outcome { case answered, unknown }

    let fleet: Fleet
    let subjects: [Subject]
    let tally: Tally
    let number: Int
    var random: SeededGenerator
    /// What it has seen of a session, for conditions.
    private var seen: [SessionID: (chain: Chain, tag: ServiceETag)] = [:]
    /// Where it has seen a journey that waits for a client.
    var ready: [SessionID: UInt64] = [:]

    init(_ fleet: Fleet, _ subjects: [Subject], _ tally: Tally, number: Int = 0, seed: UInt64) {
        self.fleet = fleet
        self.number = number
        self.subjects = subjects
        self.tally = tally
        random = SeededGenerator(seed: seed)
    }

    mutating func run() async throws {
        defer { tally.end(number) }
        while !tally.isOver {
            // A few have most of the work, so that their operations meet.
            let most = Bool.random(using: &random) ? min(4, subjects.count) : subjects.count
            let subject = subjects[Int.random(in: 0..<most, using: &random)]
            let place = Int.random(in: 0..<Fleet.size, using: &random)
            let kind = Int.random(in: 0..<200, using: &random)
            tally.begin("\(kind) of \(subject.id) at \(place)", of: number)
            let outcome = try await step(kind, subject, fleet[place])
            tally.count(isAnswered: outcome == .answered)
            // A server that is away answers at once.
            if outcome == .unknown { try await Task.sleep(for: .milliseconds(2)) }
        }
    }

    private mutating func step(
        _ kind: Int, _ subject: Subject, _ server: SharedServer
    ) async throws -> Outcome {
        switch kind {
        case 0..<80: return try await read(subject, server)
        case 80..<120: return try await add(subject, server)
        case 120..<155: return try await addIfMatch(subject, server)
        case 155..<175: return try await request(server)
        case 175..<198 where !subject.isMoved: return try await goOn(subject, server)
        case 198... where subject.isMoved: return try await move(subject, server)
        default: return try await read(subject, server)
        }
    }

    /// The session, as a client or the back end finds it.
    private mutating func find(_ subject: Subject, _ server: SharedServer) async throws -> Session {
        if Bool.random(using: &random) { return try await server.sessions.authenticate(subject.token.presented) }
        guard let session = try await server.sessions.session(subject.id) else { throw SessionError.ended }
        return session
    }

    // MARK: The chain

    mutating func read(_ subject: Subject, _ server: SharedServer) async throws -> Outcome {
        let start = subject.chain.begin()
        do {
            let (chain, mirror) = try Self.documents(try await find(subject, server), server)
            subject.chain.saw(chain.chain, chain.tag, mirror: mirror, start)
            if chain.chain.era != 0 { seen[subject.id] = chain }
            return .answered
        } catch let error as SessionError {
            switch error {
            case .ended, .unauthenticated: subject.chain.sawEnd(start)
            case _ where error.isTemporary: return .unknown
            default: throw error
            }
            return .answered
        }
    }

    private static func documents(
        _ session: Session, _ server: SharedServer
    ) throws -> (chain: (chain: Chain, tag: ServiceETag), mirror: Chain) {
        _ = try session.summary()
        // Both at one moment.
        let record = session.stored.record
        func document(_ name: String) throws -> (chain: Chain, tag: ServiceETag) {
            let service = try server.sessions.catalog.service(named: name)
            let document = record.document(of: service.index)
            return (Chain(document?.bytes ?? service.defaultBytes), ServiceETag(revision: document?.revision ?? 0))
        }
        return (try document("chain"), try document("mirror").chain)
    }

    private struct NotBegun: Error {}

    /// Its number says what it does to the other service.
    private mutating func write() -> Int {
        tally.nextWrite * MirrorChange.allCases.count + Int.random(in: 0..<MirrorChange.allCases.count, using: &random)
    }

    private mutating func add(_ subject: Subject, _ server: SharedServer) async throws -> Outcome {
        let start = subject.chain.begin()
        let write = write()
        let token = subject.token.presented
        var remembered: Session?
        if Bool.random(using: &random), case .remembered(let session) = try? server.sessions.find(token) {
            remembered = session
        }
        return try await judge(write, subject, start) {
            if let remembered {
                do {
                    return try await Self.add(write, to: remembered, presenting: token.digest)
                } catch is Unconfirmed {
                    // As the server does.
                }
            }
            return try await Self.add(write, to: find(subject, server), presenting: nil)
        }
    }

    private static func add(
        _ write: Int, to session: Session, presenting token: TokenDigest?
    ) async throws -> (chain: Chain, tag: ServiceETag?) {
        let chain = try await session.transact(presenting: token) { pending in
            try session.environment.withLocator(on: &pending) { locator in
                let chain = try locator.resolve(DocumentService.key("chain"))
                let former = Chain(chain.document)
                guard former.era != 0 else { throw NotBegun() }
                let next = former.adding(write)
                chain.document = next.document
                let mirror = try locator.resolve(DocumentService.key("mirror"))
                switch MirrorChange(of: write) {
                case .follows: mirror.document = next.document
                case .stays: break
                case .cleared, .removed: mirror.clear()
                }
                return next
            }
        }
        // The tag is that of this write only as long as nothing has followed.
        let shown = try session.document(of: try session.environment.definitions.catalog.service(named: "chain"))
        return (chain, Chain(shown.bytes) == chain ? shown.etag : nil)
    }

    private mutating func addIfMatch(_ subject: Subject, _ server: SharedServer) async throws -> Outcome {
        guard let (chain, tag) = seen[subject.id] else { return try await read(subject, server) }
        let start = subject.chain.begin()
        let write = write()
        let next = chain.adding(write)
        let catalog = server.sessions.catalog
        let (service, mirror) = (try catalog.service(named: "chain"), try catalog.service(named: "mirror"))
        var operations = [ServiceOperation(.put(next.document), on: service, condition: .ifMatch(tag))]
        switch MirrorChange(of: write) {
        case .follows: operations.append(ServiceOperation(.put(next.document), on: mirror))
        case .stays: break
        case .cleared: operations.append(ServiceOperation(.clear, on: mirror))
        case .removed: operations.append(ServiceOperation(.remove, on: mirror))
        }
        let outcome = try await judge(write, subject, start) {
            let outcomes = try await find(subject, server).perform(operations)
            return (Chain(outcomes[0].bytes), outcomes[0].etag)
        }
        seen[subject.id] = nil
        return outcome
    }

    /// - Parameter body: does the write, and returns what it was answered with.
    private func judge(
        _ write: Int, _ subject: Subject, _ start: ChainModel.Start,
        _ body: () async throws -> (chain: Chain, tag: ServiceETag?)
    ) async throws -> Outcome {
        do {
            let (chain, tag) = try await body()
            subject.chain.acknowledged(write, chain, tag, start)
        } catch is NotBegun {
            subject.chain.refused(write)
        } catch let error as SessionError {
            var reason = error
            if case .inOperation(_, let inner) = error { reason = inner }
            switch reason {
            case .preconditionFailed(_, let current):
                subject.chain.refused(write)
                if let tag = seen[subject.id]?.tag { subject.chain.refusedCondition(on: tag, current: current) }
            case .contention: subject.chain.refused(write)
            case .unauthenticated:
                subject.chain.refused(write)
                subject.chain.sawEnd(start)
            case .ended:
                // It may have been done before the end.
                subject.chain.unknown(write, start)
                subject.chain.sawEnd(start)
            case .storeUnavailable:
                subject.chain.unknown(write, start)
                return .unknown
            default: throw error
            }
        }
        return .answered
    }
}
