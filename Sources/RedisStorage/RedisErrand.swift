import Synchronization

/// A request in a cluster: each node gets its part, stage by stage, until every command has a reply.
final class RedisErrand: Sendable {
    struct Step: Sendable {
        /// The place of the command in the request.
        let command: Int
        /// Which another node has named; nil for the one of the slot.
        var node: RedisAddress.Place?
        /// Whether the node is only about to get the slot, and has the key already.
        var isAsking = false
    }

    enum Next {
        case send([Step])
        /// Until it is known where the slots are.
        case wait
        case end(RedisConnection.Outcome)
    }

    private struct Progress {
        var replies: [RedisReply]
        /// How many commands belong to stages that have begun.
        var begun = 0
        /// Parts that have no outcome yet.
        var missing = 0
        var again: [Step] = []
        var mustWait = false
        /// How often in a row it was sent again at once.
        var moves = 0
        var failure: RedisConnection.Outcome?
    }

    private let request: RedisRequest
    private let progress: Mutex<Progress>
    private let deadline: ContinuousClock.Instant
    let lane: RedisRouter.Lane
    let isBounded: Bool
    let done: @Sendable (RedisConnection.Outcome) -> Void

    init(
        _ request: RedisRequest, _ lane: RedisRouter.Lane, isBounded: Bool, deadline: ContinuousClock.Instant,
        done: @escaping @Sendable (RedisConnection.Outcome) -> Void
    ) {
        self.request = request
        self.lane = lane
        self.isBounded = isBounded
        self.deadline = deadline
        self.done = done
        progress = Mutex(Progress(replies: Array(repeating: .none, count: request.count)))
    }

    var bytes: Int { request.bytes.count }

    /// The slot of the command's key.
    func slot(_ step: Step) -> Int { RedisSlot.of(request.bytes[request.commands[step.command].key]) }

    /// What one node gets of the request: mostly all of it.
    ///
    /// - Parameter asking: see ``RedisRequest/part(_:asking:)``.
    func part(_ steps: [Step], asking: Bool) -> RedisRequest {
        if steps.count == request.count, !asking { return request }
        return request.part(steps.map(\.command), asking: asking)
    }

    /// So many parts are sent next.
    func expect(_ parts: Int) { progress.withLock { $0.missing = parts } }

    /// Takes the outcome of a part.
    ///
    /// - Returns: whether it is the last part, and whether slots may have moved.
    func take(_ outcome: RedisConnection.Outcome, of steps: [Step]) -> (isLast: Bool, isMoved: Bool) {
        progress.withLock { progress in
            var isMoved = false
            if case .replies(let replies) = outcome {
                for (step, reply) in zip(steps, replies) {
                    switch Redirection(reply) {
                    case nil:
                        progress.replies[step.command] = reply
                        continue
                    case .node(let node, let isAsking):
                        progress.again.append(Step(command: step.command, node: node, isAsking: isAsking))
                    case .later:
                        progress.again.append(Step(command: step.command))
                        progress.mustWait = true
                    }
                    isMoved = true
                }
                // Nodes that disagree are left alone for a while.
                if isMoved { progress.moves += 1 }
                progress.mustWait = progress.mustWait || progress.moves > 5
            } else {
                isMoved = true
                progress.failure = progress.failure ?? outcome
            }
            progress.missing -= 1
            return (progress.missing == 0, isMoved)
        }
    }

    /// What is to be done when there is no part without an outcome.
    ///
    /// - Parameter hasWaited: for slots to be known.
    func next(hasWaited: Bool = false) -> Next {
        progress.withLock { progress in
            if let failure = progress.failure { return .end(failure) }
            if !progress.again.isEmpty {
                guard deadline > .now else {
                    return .end(.failed("No node of the cluster serves the slot in time."))
                }
                if progress.mustWait, !hasWaited { return .wait }
                if hasWaited {
                    progress.moves = 0
                    progress.again = progress.again.map { Step(command: $0.command) }
                }
                progress.mustWait = false
                // In the order of the request, which `part` may send as it is.
                return .send(exchange(&progress.again, with: []).sorted { $0.command < $1.command })
            }
            // What a later stage relies on is not there.
            if progress.replies[..<progress.begun].contains(where: { $0.error != nil }) {
                return .end(.replies(progress.replies))
            }
            let rest = request.commands[progress.begun...]
            guard let stage = rest.first?.stage else { return .end(.replies(progress.replies)) }
            guard progress.begun == 0 || deadline > .now else {
                return .end(.failed("The cluster does not respond in time."))
            }
            let commands = rest.prefix { $0.stage == stage }.indices
            progress.begun = commands.upperBound
            return .send(commands.map { Step(command: $0) })
        }
    }

    /// A reply of a node that has not executed a command
    /// (<https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/#redirection-and-resharding>).
    enum Redirection {
        case node(RedisAddress.Place, isAsking: Bool)
        /// Also when the node does not know how the other one is to be reached.
        case later

        init?(_ reply: RedisReply) {
            guard let words = reply.error?.split(separator: " "), let kind = words.first else { return nil }
            switch kind {
            case "MOVED" where words.count == 3, "ASK" where words.count == 3:
                self = Self.place(words[2]).map { .node($0, isAsking: kind == "ASK") } ?? .later
            case "TRYAGAIN", "CLUSTERDOWN": self = .later
            // A session and its responses are on two nodes while their slot moves. The script has changed nothing.
            case "ERR" where reply.error?.contains("access a non local key") == true: self = .later
            default: return nil
            }
        }

        private static func place(_ text: Substring) -> RedisAddress.Place? {
            guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]),
                colon != text.startIndex, text.first != "?"
            else { return nil }
            return RedisAddress.Place(host: String(text[..<colon]), port: port)
        }
    }
}

/// The hash slot of a key in a cluster
/// (<https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/#key-distribution-model>).
enum RedisSlot {
    static let count = 1 << 14

    /// The slot of a key. Keys with the same text in their first braces have the same slot; an empty text does not
    /// count.
    static func of(_ key: ArraySlice<UInt8>) -> Int {
        guard let open = key.firstIndex(of: UInt8(ascii: "{")),
            let close = key[open...].firstIndex(of: UInt8(ascii: "}")), close > open + 1
        else { return crc(key) % count }
        return crc(key[(open + 1)..<close]) % count
    }

    static func of(_ key: String) -> Int { of(Array(key.utf8)[...]) }

    /// CRC-16 of XMODEM: the polynomial 1021, from 0 on, and nothing reflected.
    private static func crc(_ bytes: ArraySlice<UInt8>) -> Int {
        var sum: UInt16 = 0
        for byte in bytes {
            sum ^= UInt16(byte) << 8
            for _ in 0..<8 { sum = sum & 0x8000 == 0 ? sum << 1 : sum << 1 ^ 0x1021 }
        }
        return Int(sum)
    }
}
