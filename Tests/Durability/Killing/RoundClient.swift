import HTTPTestClient
import SeededRandomness
import Support
import Synchronization

/// One client of a session. It sends one request after another until the server is gone.
struct RoundClient: Sendable {
    let number: Int
    let session: KnownSession
    let port: UInt16
    let adminPort: UInt16
    let seed: UInt64
    /// The first number of its writes. No other client's numbers reach it.
    let firstWrite: Int
    /// Whether it has the session for itself: then it also sends requests after which other clients could not go on.
    let isAlone: Bool
    /// A limit for a server that does not die, or does nothing.
    var maxRequests = 2_000

    /// Its requests and their outcomes.
    struct Report: Sendable {
        var requests: [SentRequest] = []
        /// The session's token afterwards; nil when a new token may have been lost.
        var token: String?
        /// The last acknowledged write that attached a user.
        var user: Int?
    }

    /// - Throws: ``Connection/Unexpected``.
    func run(_ moments: Moments) throws -> Report {
        var generator = SeededGenerator(seed: seed)
        var report = Report(token: session.token)
        // Killed before the connection: nothing has happened.
        guard
            let connection = try? Connection(
                port: port, token: session.token, admin: (adminPort, session.id))
        else { return report }
        for count in 0..<maxRequests {
            var action = action(firstWrite + count, &generator, endsOften: moments.looksForEnds)
            if isAlone, let special = special(&generator, report.user, hasFormer: connection.formerToken != nil) {
                action = special
            }
            let sentAt = moments.next()
            let outcome = try connection.outcome(of: action)
            let answeredAt = outcome == .unknown ? Int.max : moments.next()
            report.requests.append(
                SentRequest(client: number, action: action, outcome: outcome, sentAt: sentAt, answeredAt: answeredAt))
            report.token = action == .rotate && outcome == .unknown ? nil : connection.token
            if case .acknowledged = outcome {
                moments.acknowledge()
                if case .put(.user, let user) = action { report.user = user }
            }
            if outcome == .sessionEnded { moments.seeEnd() }
            if outcome == .unknown || outcome == .sessionEnded || Self.ends.contains(action) { break }
            if case .endOfUser = action { break }
        }
        return report
    }

    private static let ends: Set<SentRequest.Action> = [.end, .reuse]

    private func action(_ write: Int, _ generator: inout SeededGenerator, endsOften: Bool) -> SentRequest.Action {
        // Only one client of a session may end it.
        let mayEnd = number == 0 && (endsOften || Bool.random(using: &generator))
        switch Int.random(in: 0..<(endsOften ? 100 : 200), using: &generator) {
        case 0 where mayEnd: return .end
        default: break
        }
        return switch Int.random(in: 0..<400, using: &generator) {
        case 0..<120: .put(.left, write)
        case 120..<180: .put(.right, write)
        case 180..<260: .both(write)
        case 260..<330: .move(write)
        case 330..<360: .put(.user, write)
        case 360..<380: .read(.left)
        default: .read(.trail)
        }
    }

    private func special(_ generator: inout SeededGenerator, _ user: Int?, hasFormer: Bool) -> SentRequest.Action? {
        switch Int.random(in: 0..<400, using: &generator) {
        case 0..<8: .rotate
        case 8 where hasFormer: .reuse
        case 9: user.map { .endOfUser($0) }
        default: nil
        }
    }
}

/// State that the clients of a round share: a counting clock, numbers for writes, and the moment to kill.
final class Moments: Sendable {
    private let clock = Atomic<Int>(0)
    private let acknowledgements = Atomic<Int>(0)
    /// The number of acknowledgements before the kill.
    private let wanted: Int
    /// Whether enough was acknowledged, or no client goes on.
    let isTime = Event()
    /// Kills at once, in rounds that look for ends that are seen too early.
    private let atFirstEnd: (@Sendable () -> Void)?

    init(wanted: Int, atFirstEnd: (@Sendable () -> Void)? = nil) {
        self.wanted = wanted
        self.atFirstEnd = atFirstEnd
    }

    var looksForEnds: Bool { atFirstEnd != nil }

    func next() -> Int { clock.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue }

    func acknowledge() {
        if acknowledgements.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue == wanted { isTime.happen() }
    }

    /// A client has learned of an end by another client.
    func seeEnd() {
        guard let atFirstEnd else { return }
        atFirstEnd()
        isTime.happen()
    }

    var acknowledged: Int { acknowledgements.load(ordering: .sequentiallyConsistent) }
}
