import JSONDocument
import Sessions
import Synchronization

/// What may be shown of one session, given everything that was shown before: its writes in one order, each once.
///
/// Entity tags are revisions, so they say in which order the contents follow each other, and each content says which
/// writes led to it. An order that explains all of that exists exactly if no operation is shown less than what was
/// answered before it began.
final class ChainModel: Sendable {
    enum Stage: Sendable { case alive, changing, ended }

    /// What was known when an operation began.
    struct Start: Sendable {
        let floor: UInt64
        fileprivate let place: Place
        fileprivate let phase: Int
        fileprivate let stage: Stage
    }

    /// The place of a write.
    struct Place: Sendable, Hashable {
        let era: Int
        let count: Int
    }

    private struct State {
        /// The highest entity tag that was answered.
        var floor: UInt64 = 0
        /// The latest content that was answered.
        var place = Place(era: 0, count: 0)
        var stage = Stage.alive
        var phase = 0
        var writes: [Place: Int] = [:]
        var places: [Int: Place] = [:]
        var contents: [UInt64: Place] = [:]
        /// By their numbers: what was known when they began. Neither done nor refused for certain.
        var unknown: [Int: UInt64] = [:]
        var acknowledged: [Int: Place] = [:]
        var refused: Set<Int> = []
        /// Contents of both services that were read together.
        var pairs: Set<[Int]> = []
        var isMoving = false
    }

    private let state = Mutex(State())
    private let name: String
    private let violations: Violations

    init(_ name: String, _ violations: Violations) {
        self.name = name
        self.violations = violations
    }

    func begin() -> Start {
        state.withLock { Start(floor: $0.floor, place: $0.place, phase: $0.phase, stage: $0.stage) }
    }

    // MARK: Ends and imports

    /// Whether the caller is the one to end or import the session. It has to call ``set(_:isDone:)`` afterwards.
    func claimMove() -> Stage? {
        state.withLock { state in
            guard !state.isMoving else { return nil }
            state.isMoving = true
            defer { (state.stage, state.phase) = (.changing, state.phase + 1) }
            return state.stage
        }
    }

    /// - Parameter stage: what every operation has to find that begins from now on.
    func finishMove(_ stage: Stage) {
        state.withLock { state in
            (state.stage, state.phase, state.isMoving) = (stage, state.phase + 1, false)
        }
    }

    /// An operation has found no session.
    func sawEnd(_ start: Start) {
        let isWrong = state.withLock { $0.phase == start.phase && start.stage == .alive }
        if isWrong { violations.add("\(name): ended, though nobody had ended it") }
    }

    // MARK: Contents

    /// A read has shown both services.
    func saw(_ chain: Chain, _ tag: ServiceETag, mirror: Chain, _ start: Start) {
        state.withLock { state in
            look(chain, tag, start, &state)
            if start.stage == .alive, state.phase == start.phase {
                if tag.revision < start.floor || (chain.era == start.place.era && chain.count < start.place.count) {
                    complain("shown \(tag), \(chain) after \(start)")
                }
                state.pairs.insert([chain.era, chain.count, mirror.era, mirror.count])
            }
        }
    }

    /// A write was acknowledged with that content.
    ///
    /// - Parameter tag: `nil` when it was not said.
    func acknowledged(_ write: Int, _ chain: Chain, _ tag: ServiceETag?, _ start: Start) {
        state.withLock { state in
            look(chain, tag, start, &state)
            let place = Place(era: chain.era, count: chain.count)
            if state.writes[place] != write { complain("write \(write) is not in its own content") }
            state.acknowledged[write] = place
            let isLate = place.era == start.place.era && place.count <= start.place.count
            if isLate || tag.map({ $0.revision <= start.floor }) == true {
                complain("write \(write) got \(place) and \(String(describing: tag)) after \(start)")
            }
        }
    }

    /// A write may have been done, then or later.
    func unknown(_ write: Int, _ start: Start) { state.withLock { $0.unknown[write] = start.floor } }

    /// A write was refused, so it was not done.
    func refused(_ write: Int) {
        state.withLock { state in
            state.refused.insert(write)
            if let place = state.places[write] { complain("write \(write) was refused and is at \(place)") }
        }
    }

    /// A condition on that content has failed. Something must have followed it.
    func refusedCondition(on tag: ServiceETag, current: ServiceETag) {
        if tag == current { complain("the condition on \(tag) failed, and \(tag) is current") }
    }

    private func look(_ chain: Chain, _ tag: ServiceETag?, _ start: Start, _ state: inout State) {
        if start.stage == .ended, state.phase == start.phase { complain("shown \(chain) after its end") }
        guard tag != .unwritten else {
            if chain.era != 0 { complain("\(chain) has no tag") }
            return
        }
        let place = Place(era: chain.era, count: chain.count)
        if let tag {
            if let former = state.contents[tag.revision], former != place {
                complain("\(tag) names \(former) and \(place)")
            }
            state.contents[tag.revision] = place
            if tag.revision > state.floor { (state.floor, state.place) = (tag.revision, place) }
        }
        if place.era == state.place.era, place.count > state.place.count { state.place = place }
        for (index, write) in chain.last.enumerated() {
            let place = Place(era: chain.era, count: chain.count - chain.last.count + 1 + index)
            if let other = state.writes[place], other != write { complain("\(place) is \(other) and \(write)") }
            if let other = state.places[write], other != place { complain("\(write) is at \(other) and \(place)") }
            if state.refused.contains(write) { complain("write \(write) was refused and is at \(place)") }
            state.writes[place] = write
            state.places[write] = place
        }
    }

    private func complain(_ sentence: String) { violations.add("\(name): \(sentence)") }

    // MARK: At the end

    /// Checks what can only be checked when everything is known. No operation is under way.
    func finish() {
        state.withLock { state in
            for (write, place) in state.acknowledged where state.writes[place] != write {
                complain("write \(write) was lost from \(place)")
            }
            checkOrder(state)
            for pair in state.pairs { check(pair, state) }
        }
    }

    private func checkOrder(_ state: State) {
        let contents = state.contents.sorted { $0.key < $1.key }
        var over: Set<Int> = []
        for (former, next) in zip(contents, contents.dropFirst()) {
            if next.value.era == former.value.era {
                if next.value.count <= former.value.count { complain("\(next) follows \(former)") }
            } else if !over.insert(former.value.era).inserted || over.contains(next.value.era) {
                complain("\(former.value.era) came back after \(next)")
            }
        }
        let revisions = Dictionary(contents.map { ($0.value, $0.key) }, uniquingKeysWith: max)
        for (write, floor) in state.unknown {
            guard let place = state.places[write], let revision = revisions[place] else { continue }
            if revision <= floor { complain("write \(write) at \(revision) began after \(floor)") }
        }
    }

    /// `mirror` must be what the writes up to that content have made of it.
    private func check(_ pair: [Int], _ state: State) {
        var count = pair[1]
        while count > 0 {
            guard let write = state.writes[Place(era: pair[0], count: count)] else { return }
            switch MirrorChange(of: write) {
            case .stays: count -= 1
            case .follows:
                if pair[2...] != [pair[0], count] { complain("mirror \(pair[2...]) does not fit \(pair[..<2])") }
                return
            case .cleared, .removed:
                if pair[2...] != [0, 0] { complain("mirror \(pair[2...]) was cleared before \(pair[..<2])") }
                return
            }
        }
    }
}

/// The content of the services `chain` and `mirror`: the writes of a session since it began or was imported, of which
/// each adds its number.
///
/// ```json
/// {"era": 3, "count": 12, "last": [31, 44, 45]}
/// ```
struct Chain: Sendable, Equatable {
    /// The number of the write that began it, after the creation or an import; 0 before.
    var era = 0
    var count = 0
    /// The numbers of the last writes.
    var last: [Int] = []

    /// So many, that each number is seen by some read.
    static let shown = 8

    init(era: Int) { self.era = era }

    init(_ document: JSONDocument) {
        era = document[member: "era"]?.int ?? 0
        count = document[member: "count"]?.int ?? 0
        last = document[member: "last"]?.elements?.compactMap(\.int) ?? []
    }

    init(_ bytes: [UInt8]) { self.init((try? JSONDocument(parsing: bytes)) ?? .null) }

    func adding(_ write: Int) -> Chain {
        var next = self
        next.count += 1
        next.last = (last + [write]).suffix(Self.shown)
        return next
    }

    var document: JSONDocument {
        ["era": JSONDocument(era), "count": JSONDocument(count), "last": JSONDocument(last.map { JSONDocument($0) })]
    }
}

/// What a write does to `mirror`; the last digit of its number.
enum MirrorChange: Int, CaseIterable, Sendable {
    /// It becomes what `chain` becomes.
    case follows
    case stays, cleared, removed

    init(of write: Int) { self = Self.allCases[write % Self.allCases.count] }
}
