import Storage
import Synchronization

/// What Redis says of its own settings, which decide what it loses. Each new connection asks.
final class RedisCondition: Sendable {
    private struct Answer {
        let durability: Durability?
        let warnings: [String]
    }

    /// The last answer of each node of a cluster, or of whatever server there is without one.
    private let answers = Mutex<[RedisAddress.Place?: Answer]>([:])
    private let warn: @Sendable (String) -> Void

    /// - Parameter warn: is called with each sentence that is new.
    init(warn: @escaping @Sendable (String) -> Void) { self.warn = warn }

    /// When a write is on Redis' disk, on the node that takes longest; `nil` when one does not tell.
    var durability: Durability? {
        let all = answers.withLock { $0.values.map(\.durability) }
        return all.contains(nil) ? nil : all.lazy.compactMap(\.self).max { $0.mostLoss < $1.mostLoss }
    }

    static let question = RedisRequest("CONFIG", "GET", "appendonly", "appendfsync", "maxmemory-policy")

    /// - Parameter node: of a cluster.
    func note(_ reply: RedisReply, of node: RedisAddress.Place?) {
        let (durability, warnings) = Self.read(reply)
        let new = answers.withLock { answers in
            let known = answers.values.flatMap(\.warnings)
            answers[node] = Answer(durability: durability, warnings: warnings)
            return warnings.filter { !known.contains($0) }
        }
        for sentence in new { warn(sentence) }
    }

    /// What other nodes of the cluster said no longer counts.
    func keep(_ nodes: Set<RedisAddress.Place>) {
        answers.withLock { answers in
            answers = answers.filter { node, _ in node.map(nodes.contains) ?? true }
        }
    }

    private static func read(_ reply: RedisReply) -> (Durability?, [String]) {
        var settings: [String: String] = [:]
        for place in stride(from: 0, to: reply.list.count - 1, by: 2) {
            settings[reply[place].text ?? ""] = reply[place + 1].text
        }
        guard let log = settings["appendonly"], let sync = settings["appendfsync"] else {
            let reason = reply.error.map { " (\($0))" } ?? ""
            return (nil, ["Redis does not tell its settings\(reason): what a power cut loses could not be checked."])
        }
        var warnings: [String] = []
        let durability: Durability
        switch (log, sync) {
        case ("yes", "always"): durability = .commit
        case ("yes", "everysec"):
            durability = .interval(.seconds(1))
            warnings.append(
                "Redis syncs its log once a second (appendfsync everysec): a power cut loses the last second of writes."
            )
        case ("yes", _):
            durability = .none
            warnings.append(
                "Redis leaves it to the operating system when its log is on the disk (appendfsync \(sync)): a power cut "
                    + "loses the last writes, about half a minute of them.")
        default:
            durability = .none
            warnings.append(
                "Redis keeps no log of its writes (appendonly \(log)): its end loses all writes since its last snapshot."
            )
        }
        if let policy = settings["maxmemory-policy"], policy != "noeviction" {
            warnings.append(
                "Redis forgets sessions when its memory is full (maxmemory-policy \(policy)): set it to noeviction.")
        }
        return (durability, warnings)
    }
}

extension Durability {
    /// What a power cut loses at most.
    fileprivate var mostLoss: Duration {
        switch self {
        case .commit: .zero
        case .interval(let time): time
        case .none: .seconds(Int64.max)
        }
    }
}
