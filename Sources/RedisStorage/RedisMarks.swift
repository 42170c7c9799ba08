import Sessions
import Synchronization

/// Random texts that the first server of an installation puts into Redis, and that every server remembers from its
/// start on. One that is gone, or another one, tells that Redis has lost what it had: it was emptied, came back
/// without its data, or is another Redis. Then a session that cannot be found may exist all the same.
///
/// A server that starts takes what is there for right, and adds what is missing. One Redis has one mark. In a cluster
/// each node can lose its own, so there are 256, and each stands for the sessions of 64 slots. Where the slots
/// of two nodes meet, the mark may be at the other one.
final class RedisMarks: Sendable {
    private struct State {
        var known: [String?]
        /// Those that are gone or others.
        var lost: Set<Int> = []
        /// The one to look at next.
        var next = 0
        var isLooking = false
    }

    private let state: Mutex<State>
    private let keys: RedisKeys
    private let isCluster: Bool
    private let router: RedisRouter
    private let gate: RedisGate
    private let report: @Sendable (String) -> Void

    /// - Parameters:
    ///   - gate: lets no call through while something is lost.
    ///   - report: is called with a sentence for the log.
    init(
        _ keys: RedisKeys, isCluster: Bool, on router: RedisRouter, gate: RedisGate,
        report: @escaping @Sendable (String) -> Void
    ) {
        self.keys = keys
        self.isCluster = isCluster
        self.router = router
        self.gate = gate
        self.report = report
        state = Mutex(State(known: Array(repeating: nil, count: isCluster ? Self.tags.count : 1)))
    }

    /// A sentence while something is lost.
    var trouble: String? {
        state.withLock(\.lost.first).map(sentence)
    }

    private func sentence(of mark: Int) -> String {
        "Redis has lost what it had: \(key(mark)), the mark of the installation, is gone or another one. Restore its data; "
            + "to begin without them, restart this server."
    }

    // MARK: Asking

    /// Looks at the next mark; at all that are not known yet, or lost.
    func look() {
        let marks = state.withLock { state -> [Int] in
            guard !state.isLooking else { return [] }
            state.isLooking = true
            state.next = (state.next + 1) % state.known.count
            let open = state.known.indices.filter { state.known[$0] == nil || state.lost.contains($0) }
            return open.isEmpty ? [state.next] : open
        }
        if !marks.isEmpty { ask(marks) { [weak self] _ in self?.state.withLock { $0.isLooking = false } } }
    }

    /// Whether a session that Redis does not have does not exist.
    ///
    /// - Parameter id: nil for any.
    /// - Parameter done: is called with nil if so, else with the reason why that is not known.
    func confirm(absenceOf id: SessionID?, then done: @escaping @Sendable (StoreError?) -> Void) {
        ask([id.map(mark) ?? 0], then: done)
    }

    /// The same, waiting.
    func confirm(absenceOf id: SessionID?) async throws(StoreError) {
        try await RedisStore.wait { confirm(absenceOf: id, then: $0) }
    }

    private func ask(_ marks: [Int], then done: @escaping @Sendable (StoreError?) -> Void) {
        var request = RedisRequest()
        let new = Hexadecimal.text(SessionID(random: SystemRandom()).low)
        let isKnown = state.withLock { state in marks.map { state.known[$0] != nil } }
        for (mark, isKnown) in zip(marks, isKnown) {
            if isKnown {
                request.add("GET", .text(key(mark)))
            } else {
                request.needsReplicas = true
                // Also when Redis has no memory left: otherwise it would not be known what is there.
                request.add(["SET", .text(key(mark)), .text(new), "NX", "GET"], insists: true)
            }
        }
        let refusal = router.append(request, isBounded: false) { [self] outcome in
            do throws(StoreError) {
                // Redis tells what was there before. Where nothing was, the new one is now.
                done(take(zip(try outcome.get(), isKnown).map { $0.text ?? ($1 ? nil : new) }, of: marks))
            } catch {
                done(error)
            }
        }
        if let refusal { done(.unavailable(refusal)) }
    }

    private func take(_ found: [String?], of marks: [Int]) -> StoreError? {
        let (hadLost, hasLost) = state.withLock { state in
            let former = state.lost
            for (mark, text) in zip(marks, found) {
                if let known = state.known[mark] {
                    if text == known { state.lost.remove(mark) } else { state.lost.insert(mark) }
                } else {
                    state.known[mark] = text
                }
            }
            // Within the lock, so that of two threads the last one has the last word.
            gate[.loss] = state.lost.first.map(sentence)
            return (!former.isEmpty, !state.lost.isEmpty)
        }
        let trouble = trouble
        if hasLost != hadLost { report(trouble ?? "Redis has what it had again.") }
        return trouble.map { .unavailable($0) }
    }

    // MARK: Names

    private func key(_ mark: Int) -> String { keys.mark(isCluster ? Self.tags[mark] : "mark") }

    private func mark(_ id: SessionID) -> Int { isCluster ? RedisSlot.of("\(id)") / Self.width : 0 }

    private static let width = 64

    /// For each 64 slots a text that belongs to one of them.
    private static let tags: [String] = {
        var tags: [Int: String] = [:]
        var number = 0
        while tags.count < RedisSlot.count / width {
            let tag = "mark \(number)"
            if tags[RedisSlot.of(tag) / width] == nil { tags[RedisSlot.of(tag) / width] = tag }
            number += 1
        }
        return tags.sorted { $0.key < $1.key }.map(\.value)
    }()
}
