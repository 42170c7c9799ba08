import Glibc
import Storage
import Synchronization

extension RedisStore {
    /// What every new connection for requests begins with.
    struct Preparation: Sendable {
        let isCluster: Bool
        let prefix: String
        let documentKeys: DocumentKeys?
        let condition: RedisCondition

        /// Loads the scripts, and checks that the user may do everything and that nothing is sealed with a key that is
        /// not here.
        ///
        /// - Parameter server: the one at the other end.
        func prepare(
            _ link: RedisLink, to server: RedisAddress, until end: ContinuousClock.Instant
        ) throws(RedisFailure) {
            let keys = RedisKeys(prefix: prefix)
            var request = RedisRequest()
            for script in RedisScript.all { request.add("SCRIPT", "LOAD", .text(script.text)) }
            request.add(RedisRights.question(keys))
            request.add(RedisCondition.question)
            let question = RedisRequest("HGETALL", .text(keys.documentKeys))
            request.add(question)
            let replies = try link.exchange(request, until: end, toleratesErrors: true)
            let asked = replies[RedisScript.all.count...]
            let (rights, settings) = (asked[asked.startIndex], asked[asked.startIndex + 1])
            for reply in replies[..<asked.startIndex] + [rights] {
                // While Redis takes no writes it refuses the script that looks for rights, too.
                guard let error = reply.error, !["NOREPLICAS", "MISCONF"].contains(where: error.hasPrefix) else {
                    continue
                }
                throw RedisGreeting.refusal(error, server)
            }
            if let refusal = RedisRights.refusal(rights, server, prefix: prefix) { throw refusal }
            condition.note(settings, of: isCluster ? server.places[0] : nil)
            // Of the nodes of a cluster one has the keys. While none has them, requests wait as well.
            var used = replies[replies.count - 1]
            while let redirection = RedisErrand.Redirection(used), ContinuousClock.now < end {
                if case .node(let place, let isAsking) = redirection {
                    do throws(RedisFailure) {
                        let node = server.server(at: place)
                        var others = node.greeting
                        if isAsking { others.add("ASKING") }
                        others.add(question)
                        let replies = try RedisLink(to: node, until: end).exchange(others, until: end)
                        return try check(replies[replies.count - 1])
                    } catch {
                        if error.isPermanent { throw error }
                    }
                }
                usleep(50_000)
                used = try link.exchange(question, until: end, toleratesErrors: true)[0]
            }
            if let error = used.error {
                // A server that encrypts nothing need not wait for the node that knows the keys, which may be gone.
                if documentKeys == nil, RedisErrand.Redirection(used) != nil { return }
                throw RedisGreeting.refusal(error, server)
            }
            try check(used)
            guard let key = documentKeys?.first, !used.pairs.contains(where: { $0.name == key.id }) else { return }
            let note = RedisRequest("HSETNX", .text(keys.documentKeys), .text(key.id), .text(String(key.fingerprint)))
            _ = try link.exchange(note, until: end)
        }

        private func check(_ used: RedisReply) throws(RedisFailure) {
            for (id, fingerprint) in used.pairs where documentKeys?[id]?.fingerprint != fingerprint.number {
                throw RedisFailure(
                    "The sessions in Redis are encrypted with a key \"\(id)\", which is not in "
                        + "encryption_keys_file, or is another one there: add it.", isPermanent: true)
            }
        }
    }
}

/// What a user of Redis must be allowed, as docs/scaling.md has it.
enum RedisRights {
    /// As arguments of `ACL SETUSER`, without name and password.
    static func rules(prefix: String) -> [String] {
        ["on", "resetkeys", "~\(prefix)*", "resetchannels", "&\(prefix)*", "-@all"]
            + (commands.map(\.first) + [settings]).map { "+\($0)" }
    }

    /// To see Redis' own settings. Without this right they are not checked.
    static let settings = "config|get"

    /// Samples of all commands that the store sends, in scripts and otherwise.
    private static let commands: [(first: String, rest: String)] = [
        ("asking", ""), ("cluster|slots", ""), ("del", "KEY"), ("evalsha", "sha 0"), ("get", "KEY"),
        ("hdel", "KEY f"), ("hexists", "KEY f"), ("hget", "KEY f"), ("hgetall", "KEY"),
        ("hkeys", "KEY"), ("hmget", "KEY f"), ("hset", "KEY f v"), ("hsetnx", "KEY f v"), ("pexpire", "KEY 1"),
        ("pexpireat", "KEY 1"), ("ping", ""), ("role", ""), ("sadd", "KEY m"), ("script|load", "x"), ("select", "0"),
        ("set", "KEY v"), ("smembers", "KEY"), ("spublish", "KEY m"), ("srem", "KEY m"), ("ssubscribe", "KEY"),
        ("sunsubscribe", "KEY"), ("time", ""), ("wait", "0 0"), ("zadd", "KEY 0 m"), ("zcard", "KEY"),
        ("zrange", "KEY 0 -1"),
        ("zrangebylex", "KEY - +"), ("zrangebyscore", "KEY 0 1"), ("zrem", "KEY m"),
    ]

    /// Asks which of these rights are missing, without doing anything.
    static func question(_ keys: RedisKeys) -> RedisRequest {
        var request = RedisRequest()
        request.add(
            ["EVALSHA", .text(RedisScript.rights.digest), "0", .text(keys.floor)]
                + commands.map { command in
                    .text("\(String(command.first.map { $0 == "|" ? " " : $0 })) \(command.rest)")
                })
        return request
    }

    /// - Parameter reply: to ``question(_:)``: the commands that are missing.
    static func refusal(_ reply: RedisReply, _ address: RedisAddress, prefix: String) -> RedisFailure? {
        let missing = reply.list.compactMap { $0.text.map { $0.uppercased() } }
        guard !missing.isEmpty else { return nil }
        let user = address.user ?? "default"
        return RedisFailure(
            "User \"\(user)\" of \(address) may not use \(missing.joined(separator: ", ")) with keys and channels "
                + "\(prefix)*: docs/scaling.md has the rules that it needs.", isPermanent: true)
    }
}

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
        let settings = Dictionary(reply.pairs.map { ($0.name, $0.value.text ?? "") }, uniquingKeysWith: { $1 })
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
