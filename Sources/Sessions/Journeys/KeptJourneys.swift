import JSONDocument
import Navigation

/// The journeys of a session, the first that was started first: what the `coordinator` service keeps.
struct KeptJourneys: Sendable {
    private(set) var entries: [KeptJourney] = []
    /// The last step of a journey `main` that was given up. The next one of that id goes on from there: an entity tag
    /// never comes back. Other ids do not come back either.
    private var formerStep: UInt64 = 0

    /// What most sessions do not have: a pointer, so that a copy costs no more.
    private var box: ExtrasBox?

    private struct Extras: Sendable {
        var patched: [ServicePatch] = []
        var tasks: [KeptTask] = []
        var transfers = JourneyTransfers()
    }

    private final class ExtrasBox: Sendable {
        let extras: Extras

        init(_ extras: Extras) { self.extras = extras }
    }

    private var extras: Extras {
        get { box?.extras ?? Extras() }
        set {
            let isEmpty = newValue.patched.isEmpty && newValue.tasks.isEmpty && newValue.transfers.isEmpty
            box = isEmpty ? nil : ExtrasBox(newValue)
        }
    }

    /// The patches of migrations that the session's services have had: each changes them once.
    private(set) var patched: [ServicePatch] {
        get { box?.extras.patched ?? [] }
        set { extras.patched = newValue }
    }

    /// The tasks for which no journey waits, oldest first.
    var tasks: [KeptTask] {
        get { box?.extras.tasks ?? [] }
        set { extras.tasks = newValue }
    }

    /// Links, and journeys that move to or from other sessions.
    var transfers: JourneyTransfers {
        get { box?.extras.transfers ?? JourneyTransfers() }
        set { extras.transfers = newValue }
    }

    mutating func forgetLinks(to id: String) {
        if box != nil { transfers.links.removeAll { $0.journey == id } }
    }

    /// Whether journeys have left that the other session may not have yet.
    var isMovingJourneys: Bool { box?.extras.transfers.departures.contains { $0.content != nil } ?? false }

    /// Until when workers may report on tasks whose journeys have moved; nil when there are none.
    var followedUntil: Int64? { box?.extras.transfers.departures.lazy.compactMap(\.followedUntil).max() }

    /// Whether nothing would be missed without it.
    var isEmpty: Bool { entries.isEmpty && formerStep == 0 && box == nil }

    /// About the bytes of results that are kept for operators.
    var resultBytes: Int {
        let results = entries.compactMap { $0.journey.task?.result } + tasks.compactMap { $0.notes?.result }
        return results.reduce(0) { $0 + $1.output.serialized().count }
    }

    /// About the bytes of the histories of journeys.
    var historyBytes: Int { entries.reduce(0) { $0 + ($1.history?.size ?? 0) } }

    mutating func note(_ patch: ServicePatch) {
        if !patched.contains(patch) { patched.append(patch) }
    }

    var journeys: [Journey] { entries.map(\.journey) }

    var largestStep: UInt64 { entries.reduce(formerStep) { max($0, $1.journey.step) } }

    subscript(id: String) -> KeptJourney? {
        for entry in entries where entry.journey.id == id { return entry }
        return nil
    }

    /// Keeps a journey, in the place of the one of the same id.
    ///
    /// - Parameter history: nil for that of the one in whose place it is.
    /// - Returns: the journey as it is kept.
    mutating func keep(_ journey: consuming Journey, history: JourneyHistory? = nil) -> KeptJourney {
        guard let place = place(of: journey.id) else {
            if journey.id == JourneySettings.mainID { journey = journey.continuing(after: formerStep) }
            let new = KeptJourney(journey, history)
            entries.append(new)
            return new
        }
        let entry = KeptJourney(journey, history ?? entries[place].history)
        entries[place] = entry
        return entry
    }

    /// - Parameter step: the last one of the journey, if it has made one that is not kept.
    mutating func forget(_ id: String, after step: UInt64 = 0) {
        guard let place = place(of: id) else { return }
        let journey = entries.remove(at: place).journey
        // Another journey of the name is not the one that they lead to.
        forgetLinks(to: id)
        if id == JourneySettings.mainID { formerStep = max(step, journey.step) }
    }

    /// Counts the steps on from those of the journeys that were there before: an entity tag never comes back.
    ///
    /// - Parameter revision: the session's from now on, which what the journeys own gets, too.
    mutating func takePlace(of former: KeptJourneys, _ revision: UInt64) {
        for place in entries.indices {
            var journey = entries[place].journey
            if !journey.owned.isEmpty {
                journey.raiseOwned(to: revision)
                entries[place] = KeptJourney(journey, entries[place].history)
            }
            let isMain = journey.id == JourneySettings.mainID
            guard let step = former[journey.id]?.journey.step ?? (isMain ? former.formerStep : nil), step > 0 else {
                continue
            }
            entries[place] = KeptJourney(
                journey.continuing(after: max(step, journey.step) + 1 - journey.step), entries[place].history)
        }
        formerStep = max(formerStep, former.formerStep, former[JourneySettings.mainID]?.journey.step ?? 0)
    }

    /// Makes room for one more: the journey that ended first is forgotten.
    ///
    /// - Throws: ``JourneyError/tooMany(limit:)``.
    mutating func makeRoom(limit: Int) throws(JourneyError) {
        while entries.count >= limit {
            guard let oldest = journeys.filter({ !$0.isActive }).min(by: { $0.movedAt < $1.movedAt }) else {
                throw .tooMany(limit: limit)
            }
            forget(oldest.id)
        }
    }

    /// Where a journey is in ``entries``.
    func place(of id: String) -> Int? {
        for place in entries.indices where entries[place].journey.id == id { return place }
        return nil
    }
}

extension KeptJourneys {
    /// The service's document. Members are in the order of their names, as a document has them.
    ///
    /// - Parameter former: how many bytes it was before. The array stays in the session as it is, and one that grows by
    ///   itself has room that is never used, a million times.
    func bytes(former: Int) -> [UInt8] {
        // For a frame more, the digits of a time, and a step of the history.
        var json = JSONWriter(reservingCapacity: max(former, 96) + 32)
        json.beginObject()
        json.name("journeys")
        json.beginArray()
        for entry in entries { entry.write(to: &json) }
        json.endArray()
        writeHistories(to: &json)
        if !patched.isEmpty {
            json.name("patched")
            json.beginArray()
            for patch in patched {
                json.beginArray()
                json.string(patch.flow)
                json.int(patch.version)
                json.endArray()
            }
            json.endArray()
        }
        if let transfers = box?.extras.transfers, !transfers.isEmpty {
            json.name("moves")
            json.document(transfers.document)
        }
        if formerStep > 0 { json.add(#","step":"#, formerStep) }
        if !tasks.isEmpty {
            json.name("tasks")
            json.beginArray()
            for task in tasks { task.write(to: &json) }
            json.endArray()
        }
        json.endObject()
        return json.bytes
    }

    /// One for each journey, in the same order.
    private func writeHistories(to json: inout JSONWriter) {
        guard entries.contains(where: { $0.history != nil }) else { return }
        json.name("histories")
        json.beginArray()
        for entry in entries {
            guard let history = entry.history else {
                json.raw("[]".utf8)
                continue
            }
            history.write(to: &json)
        }
        json.endArray()
    }

    private static let transfersMark = Array(#""moves":"#.utf8)

    /// Whether a text of ``bytes`` may have ``transfers``, without reading it.
    static func mayHaveTransfers(_ bytes: [UInt8]) -> Bool {
        guard bytes.count > transfersMark.count else { return false }
        return (0...bytes.count - transfersMark.count).contains { place in
            bytes[place] == transfersMark[0] && bytes[place...].starts(with: transfersMark)
        }
    }

    /// - Throws: when it is not what journeys are kept as.
    init(reading bytes: [UInt8]) throws(JSONReadError) {
        do {
            try self.init(text: bytes)
        } catch {
            guard let document = try? JSONDocument(parsing: bytes), let kept = KeptJourneys(document) else {
                throw error
            }
            self = kept
        }
    }

    /// From the document, in whatever order its members are: it may have gone through other hands.
    private init?(_ document: JSONDocument) {
        guard let elements = document[member: "journeys"]?.elements else { return nil }
        let histories = document[member: "histories"]
        for (place, element) in elements.enumerated() {
            guard let journey = Journey(element) else { return nil }
            entries.append(KeptJourney(journey, JourneyHistory(histories?[place])))
        }
        for patch in document[member: "patched"]?.elements ?? [] {
            guard let flow = patch[0]?.string, let version = patch[1]?.int else { return nil }
            patched.append(ServicePatch(flow: flow, version: version))
        }
        for task in document[member: "tasks"]?.elements ?? [] {
            guard var json = try? JSONReader(task.serialized()), let kept = try? KeptTask(reading: &json) else {
                return nil
            }
            tasks.append(kept)
        }
        if let moves = document[member: "moves"] {
            guard let transfers = JourneyTransfers(moves) else { return nil }
            self.transfers = transfers
        }
        guard let step = document[member: "step"] else { return }
        guard let number = step.int, number >= 0 else { return nil }
        formerStep = UInt64(number)
    }

    /// From the very text that ``bytes`` gave, which is a good deal quicker.
    private init(text: [UInt8]) throws(JSONReadError) {
        var json = try JSONReader(text)
        try json.beginObject()
        try json.name("journeys")
        try json.beginArray()
        var journeys: [Journey] = []
        while !json.endsArray() { journeys.append(try Journey(reading: &json)) }
        var histories: [JourneyHistory?] = []
        if json.isName("histories") {
            try json.beginArray()
            while !json.endsArray() { histories.append(try JourneyHistory(reading: &json)) }
            guard histories.count == journeys.count else { throw JSONReadError(offset: 0) }
        }
        for (place, journey) in journeys.enumerated() {
            entries.append(KeptJourney(journey, histories.isEmpty ? nil : histories[place]))
        }
        guard !json.endsObject() else { return }
        if json.isName("patched") {
            try json.beginArray()
            while !json.endsArray() {
                try json.beginArray()
                patched.append(ServicePatch(flow: try json.string(), version: Int(try json.int())))
                try json.endArray()
            }
            guard !json.endsObject() else { return }
        }
        if json.isName("moves") {
            guard let transfers = JourneyTransfers(try json.document()) else { throw JSONReadError(offset: 0) }
            self.transfers = transfers
            guard !json.endsObject() else { return }
        }
        if json.isName("step") {
            guard let step = UInt64(exactly: try json.int()) else { throw JSONReadError(offset: 0) }
            formerStep = step
            guard !json.endsObject() else { return }
        }
        try json.name("tasks")
        try json.beginArray()
        while !json.endsArray() { tasks.append(try KeptTask(reading: &json)) }
        try json.endObject()
    }
}

/// A journey as it is kept. It is handed on as one object, for who copies a journey counts a dozen references.
final class KeptJourney: Sendable {
    let journey: Journey
    /// Nil for a journey that an earlier version has stored, until its next step.
    let history: JourneyHistory?

    init(_ journey: consuming Journey, _ history: JourneyHistory? = nil) {
        self.journey = journey
        self.history = history
    }

    /// Where it stands; nil when it is over.
    var screen: Journey.Screen? {
        Journey.screen(journey.frames, journey.coordinators, journey.flow, journey.version)
    }

    func write(to json: inout JSONWriter) { journey.write(to: &json) }
}

/// The ids of journeys other than `main`: `jrn_` and 32 lower-case hexadecimal digits, 128 random bits.
enum JourneyID {
    static func make(_ random: some RandomSource) -> String {
        let bits = SessionID(random: random)
        return "jrn_" + Hexadecimal.text(bits.high) + Hexadecimal.text(bits.low)
    }

    /// Whether it is one that ``make(_:)`` makes, or that of the journey that every session can have.
    static func isOne(_ id: String) -> Bool {
        if id == JourneySettings.mainID { return true }
        guard id.hasPrefix("jrn_"), id.utf8.count == 36 else { return false }
        return id.utf8.dropFirst(4).allSatisfy { Hexadecimal.value(of: $0) != nil }
    }
}
