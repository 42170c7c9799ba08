import Chance
import HTTPTestClient

/// One client of one session, which sends a request when the one before is answered, until the server is gone.
struct RoundClient: Sendable {
    let number: Int
    let token: String
    let port: UInt16
    let seed: UInt64
    /// Writes are numbered from here on: no other client comes that far.
    let firstWrite: Int
    /// One client of a session may end it.
    let mayEnd: Bool
    /// So that a server that does not die, or does nothing, ends the round as well.
    var maxRequests = 2_000

    /// - Returns: what it sent and what came of it.
    /// - Throws: ``Connection/Unexpected``.
    func run(_ moments: Moments) throws -> [SentRequest] {
        var chance = SeededGenerator(seed: seed)
        // Killed before it was reached: nothing has happened.
        guard let connection = try? Connection(port: port, token: token) else { return [] }
        var requests: [SentRequest] = []
        for count in 0..<maxRequests {
            let action = action(firstWrite + count, &chance)
            let sentAt = moments.next()
            let outcome = try connection.outcome(of: action)
            let answeredAt = outcome == .unknown ? Int.max : moments.next()
            requests.append(
                SentRequest(client: number, action: action, outcome: outcome, sentAt: sentAt, answeredAt: answeredAt))
            if case .acknowledged = outcome { moments.acknowledge() }
            if outcome == .unknown || outcome == .sessionEnded || action == .end { break }
        }
        return requests
    }

    private func action(_ write: Int, _ chance: inout SeededGenerator) -> SentRequest.Action {
        switch Int.random(in: 0..<400, using: &chance) {
        case 0 where mayEnd: .end
        case 0..<140: .put(.left, write)
        case 140..<200: .put(.right, write)
        case 200..<280: .both(write)
        case 280..<360: .move(write)
        case 360..<380: .read(.left)
        default: .read(.trail)
        }
    }
}
