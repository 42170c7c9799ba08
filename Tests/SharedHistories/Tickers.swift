import JSONDocument
import Navigation

@testable import Sessions

/// Sessions that nobody uses after they were made: time alone moves their journeys, twice a second, at whichever server.
struct Tickers {
    private let ids: [SessionID]

    static let flow = """
        {"id": "tick", "version": 1, "initial": "tick", "states": {
           "tick": {"timeout": {"after": "500ms", "target": "tock", "nav": "set_root", "actions": [
             {"op": "add", "path": "/ticks/count", "value": {"$add": [{"$from": "/ticks/count"}, 1]}}]}},
           "tock": {"timeout": {"after": "500ms", "target": "tick", "nav": "set_root", "actions": [
             {"op": "add", "path": "/ticks/count", "value": {"$add": [{"$from": "/ticks/count"}, 1]}}]}}}}
        """
    private static let period: Int64 = 500
    /// So long after everything works again, nothing may be due any more.
    private static let patience = Duration.seconds(20)

    init(_ fleet: Fleet, count: Int = 12) async throws {
        var ids: [SessionID] = []
        for place in 0..<count {
            let session = try await fleet[place % Fleet.size].sessions.create().0
            _ = try await session.startJourney(flow: "tick")
            ids.append(session.id)
        }
        self.ids = ids
    }

    /// Each has ticked as often as its time says, once for each time, and goes on.
    func finish(_ fleet: Fleet, _ violations: Violations) async throws {
        let sessions = fleet[0].sessions
        let (start, end) = (sessions.now, ContinuousClock.now + Self.patience)
        for id in ids {
            while true {
                guard let record = try await fleet[0].store.load(id)?.record,
                    let journey = sessions.environment.journeys(of: record)?.journeys.first
                else { return violations.add("\(id), which ticks, is gone") }
                if journey.enteredAt <= start {
                    guard .now < end else { return violations.add("\(id) does not tick any more") }
                    try await Task.sleep(for: .milliseconds(20))
                    continue
                }
                let ticks = try sessions.catalog.service(named: "ticks")
                let bytes = record.document(of: ticks.index)?.bytes ?? []
                let count = try JSONDocument(parsing: bytes)[member: "count"]?.int ?? 0
                if journey.enteredAt - journey.startedAt != Int64(count) * Self.period {
                    violations.add("\(id) has ticked \(count) times in \(journey.enteredAt - journey.startedAt) ms")
                }
                break
            }
        }
    }
}
