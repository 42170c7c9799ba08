import JSONDocument
import Navigation
import Sessions

/// The report of `concierge check --against`: which journeys of a running server would change or be lost.
struct ImpactReport {
    /// Why there is no report.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// One line for each state that does not stay as it is.
    let lines: [String]
    let summary: String
    let losesJourneys: Bool

    /// - Parameter orphans: what happens to journeys whose version or state is gone.
    init(_ impact: JourneyImpact, orphans: Configuration.OrphanedJourneys) {
        lines = impact.rows.compactMap { row, fate in
            Self.sentence(fate, orphans).map { sentence in
                "\(row.flow) \(row.version), \(row.state): \(Self.counted(row.inUse)) \(sentence)"
            }
        }
        // Each journey shows one screen, so it is counted there.
        let all = impact.rows.map(\.row.count).reduce(0, +)
        let staying = impact.rows.filter { $0.fate == .stay }.map(\.row.count).reduce(0, +)
        summary = "\(Self.counted(all)) running, \(staying) on screens that stay as they are"
        losesJourneys = orphans == .refuse && !impact.missing.isEmpty
    }

    /// Asks a running server where its journeys are.
    /// - Parameter key: the key of its admin listener; `nil` for none.
    static func census(at url: String, key: Secret?) throws(Failure) -> [JourneyCensusRow] {
        guard let server = PlainHTTP(url: url) else {
            throw Failure(
                description: "--against is \(WrittenValue.quoted(url)); allowed is the address of an admin listener, "
                    + "as in http://127.0.0.1:8081")
        }
        let fields = key.map { [(name: "X-Admin-Key", value: $0.revealed)] } ?? []
        guard let answer = server.get("/v1/journeys/census", fields: fields) else {
            throw Failure(description: "no server responds at \(url)")
        }
        switch answer.status {
        case 200: break
        case 401: throw Failure(description: "the server at \(url) requires its key: give it with --admin-key-file")
        default: throw Failure(description: "the server at \(url) responds with status \(answer.status)")
        }
        guard let census = (try? JSONDocument(parsing: answer.body)).flatMap(rows(of:)) else {
            throw Failure(description: "the server at \(url) is not the admin listener of a \(BuildInformation.name)")
        }
        return census
    }

    private static func rows(of document: JSONDocument) -> [JourneyCensusRow]? {
        guard let items = document[member: "items"]?.elements else { return nil }
        let rows = items.compactMap { item -> JourneyCensusRow? in
            guard let flow = item[member: "flow"]?.string, let version = item[member: "version"]?.int,
                let state = item[member: "state"]?.string, let count = item[member: "count"]?.int,
                let inUse = item[member: "in_use"]?.int
            else { return nil }
            return JourneyCensusRow(flow: flow, version: version, state: state, count: count, inUse: inUse)
        }
        return rows.count == items.count ? rows : nil
    }

    private static func sentence(
        _ fate: JourneyImpact.Fate, _ orphans: Configuration.OrphanedJourneys
    ) -> String? {
        let end = orphans == .restart ? "; they restart, as orphaned_journeys says" : ""
        switch fate {
        case .stay: return nil
        case .migrate(let version, let state): return "would go on in version \(version), on \(state)"
        case .restart: return "would start over"
        case .orphaned: return "would be lost: this version is not loaded, and no migration leads from it\(end)"
        case .stateGone(let version, let state):
            return "would be lost: version \(version) has no state \(WrittenValue.quoted(state))\(end)"
        }
    }

    private static func counted(_ count: Int) -> String { "\(count) journey\(count == 1 ? "" : "s")" }
}
