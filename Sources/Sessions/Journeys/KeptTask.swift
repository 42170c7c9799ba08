import JSONDocument
import Navigation

/// A task for which no journey waits: one that an action has recorded, or one whose journey has gone on though a result
/// of it was held.
struct KeptTask: Sendable, Equatable {
    /// The journey that began it, which may be over.
    let journey: String
    let number: UInt64
    let name: String
    let input: JSONDocument
    let flow: String
    let version: Int
    /// The journey's step that began it.
    let step: UInt64
    /// In steady time, as ``endsAt``.
    let begunAt: Int64
    /// When it is given up; nil: never.
    var endsAt: Int64?
    /// The user who was signed in when it was recorded. It is done for that user, also after another has signed in.
    let userID: String?
    var notes: TaskNotes?

    var isHeld: Bool { notes?.result?.isHeld ?? false }

    /// Where the numbers of recorded tasks begin. That of a task for which a journey waits is that of its step, and no
    /// journey makes so many. JSON numbers are exact up to twice this.
    static let firstNumber: UInt64 = 1 << 52

    /// The number of the first task that a step records; the others follow.
    static func number(ofStep step: UInt64) -> UInt64 {
        // A step records fewer than 128.
        firstNumber | (step & ((1 << 45) - 1)) << 7
    }
}

extension KeptTask {
    /// One that a step of a journey records.
    init(_ task: SideTask, number: UInt64, of journey: Journey, begunAt: Int64, endsAt: Int64?, userID: String?) {
        self.init(
            journey: journey.id, number: number, name: task.name, input: task.input, flow: task.flow,
            version: task.version, step: journey.step, begunAt: begunAt, endsAt: endsAt, userID: userID)
    }

    /// One that a journey has left, with a result that was acknowledged.
    init(left task: PendingTask, by journey: Journey, userID: String?) {
        self.init(
            journey: journey.id, number: task.number, name: task.name, input: task.input, flow: journey.flow,
            version: journey.version, step: task.number, begunAt: journey.movedAt, endsAt: nil, userID: userID,
            notes: task.notes)
    }

    /// `[journey, number, name, input, flow, version, step, begin, end or 0, user or empty, notes]`
    func write(to json: inout JSONWriter) {
        json.beginArray()
        json.string(journey)
        json.uint(number)
        json.string(name)
        json.document(input)
        json.string(flow)
        json.int(version)
        json.uint(step)
        json.int(Int(begunAt))
        json.int(Int(endsAt ?? 0))
        json.string(userID ?? "")
        if let notes { json.document(notes.document) }
        json.endArray()
    }

    init(reading json: inout JSONReader) throws(JSONReadError) {
        try json.beginArray()
        let (journey, number) = (try json.string(), try json.int())
        let (name, input) = (try json.string(), try json.document())
        let (flow, version, step) = (try json.string(), try json.int(), try json.int())
        let (begunAt, endsAt, userID) = (try json.int(), try json.int(), try json.string())
        var notes: TaskNotes?
        if !json.endsArray() {
            notes = TaskNotes(try json.document())
            if notes == nil { throw JSONReadError(offset: 0) }
            try json.endArray()
        }
        guard number > 0, JourneyID.isOne(journey) else { throw JSONReadError(offset: 0) }
        self.init(
            journey: journey, number: UInt64(number), name: name, input: input, flow: flow, version: Int(version),
            step: UInt64(clamping: step), begunAt: begunAt, endsAt: endsAt > 0 ? endsAt : nil,
            userID: userID.isEmpty ? nil : userID, notes: notes)
    }
}

extension KeptJourneys {
    /// Where a task is in ``tasks``; nil when it is not there.
    func place(of id: TaskID) -> Int? {
        tasks.firstIndex { $0.number == id.number && $0.journey == id.journey }
    }
}
