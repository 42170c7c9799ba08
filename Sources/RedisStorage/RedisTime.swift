import Sessions
import Synchronization

/// Compares the clocks of this machine with Redis'. Servers that share sessions store times in them and judge those of
/// others, so each must have the same time.
///
/// There are three: Redis' time, the machine's wall clock, and steady time, by which sessions are judged and which
/// nobody can set. Two that agree are right:
///
/// - Wall clock and Redis agree for the first time: steady time is theirs, also when the wall clock was wrong when the
///   process started. From then on it is never set: on a machine that also runs Redis, one wrong setting of the clock
///   would end sessions.
/// - They do not, and did before: steady time stays as it was then, so no session ends by it. The server is not ready,
///   nor is it when both differ from steady time.
/// - They never did: nothing can be judged, and every request for a session is refused.
final class RedisTime: Sendable {
    /// Both clocks of the machine at one moment.
    struct Reading: Sendable {
        let steady: Int64
        let wall: Int64
    }

    private struct State {
        /// Whether the clocks have ever agreed.
        var hasAgreed = false
        /// How wall clock and Redis' differ, as each node of a cluster says, or as the only server does.
        var differences: [RedisAddress.Place?: String] = [:]
    }

    private let clock: any SessionClock
    private let gate: RedisGate
    private let report: @Sendable (String) -> Void
    private let state = Mutex(State())

    /// In milliseconds: more than NTP leaves anywhere, and little beside the shortest time after which a session ends.
    static let tolerance: Int64 = 5_000

    /// - Parameters:
    ///   - gate: lets no call through while the clocks have never agreed.
    ///   - report: is called with a sentence for the log.
    init(_ clock: any SessionClock, gate: RedisGate, report: @escaping @Sendable (String) -> Void) {
        self.clock = clock
        self.gate = gate
        self.report = report
    }

    func read() -> Reading {
        let steady = clock.now()
        return Reading(steady: steady, wall: clock.wall(at: steady))
    }

    /// A sentence while the clocks differ.
    var trouble: String? { state.withLock { $0.differences.values.first } }

    /// - Parameters:
    ///   - reply: to `TIME`.
    ///   - start: before it was asked.
    func note(_ reply: RedisReply, of server: RedisAddress, since start: Reading, node: RedisAddress.Place?) {
        guard let seconds = reply[0].number, let fraction = reply[1].number else { return }
        let end = read()
        let time = seconds * 1_000 + fraction / 1_000
        let ahead = Self.difference(of: time, start.wall, end.wall)
        let drift = Self.difference(of: time, start.steady, end.steady)
        var sentence: String?
        if abs(ahead) > Self.tolerance {
            sentence =
                "The clock of this server is \(abs(ahead) / 1_000) s \(ahead > 0 ? "ahead of" : "behind") that of \(server). "
                + "Set both, by NTP."
        } else if abs(drift) > Self.tolerance, state.withLock(\.hasAgreed) {
            sentence =
                "The clocks of this server and of \(server) were set by \(abs(drift) / 1_000) s while the server runs. It "
                + "goes on with the time that it had: set them back, or start it again."
        } else if abs(drift) > Self.tolerance {
            clock.correct(to: time)
        }
        let (wasTrouble, isTrouble, hasAgreed) = state.withLock { state in
            let wasTrouble = !state.differences.isEmpty
            state.hasAgreed = state.hasAgreed || sentence == nil
            state.differences[node] = sentence.map { state.differences[node] ?? $0 }
            return (wasTrouble, !state.differences.isEmpty, state.hasAgreed)
        }
        // Also without a change: another thread may have set it just before this one agreed.
        if !isTrouble { gate[.clock] = nil }
        guard wasTrouble != isTrouble else { return }
        if isTrouble, !hasAgreed { gate[.clock] = sentence }
        report(sentence ?? "The clock of this server agrees with that of \(server) again.")
    }

    /// What other nodes of the cluster said no longer counts.
    func keep(_ nodes: Set<RedisAddress.Place>) {
        let isTrouble = state.withLock { state in
            state.differences = state.differences.filter { node, _ in node.map(nodes.contains) ?? true }
            return !state.differences.isEmpty
        }
        if !isTrouble { gate[.clock] = nil }
    }

    /// By how much a clock is ahead of another at least. The other one was read some time between.
    private static func difference(of time: Int64, _ start: Int64, _ end: Int64) -> Int64 {
        time < start ? start - time : time > end ? end - time : 0
    }
}
