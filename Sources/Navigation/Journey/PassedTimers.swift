import JSONDocument

/// What has become of a journey's timers, as far as they have been due. A timer that was never due needs nothing: its
/// first moment follows from the flow, the data and the times of the journey.
///
/// A class, because steps copy journeys, and most have none.
public final class PassedTimers: Sendable {
    /// In the order in which they were first due.
    let all: [PassedTimer]

    /// Nil for an empty list.
    init?(_ all: [PassedTimer]) {
        guard !all.isEmpty else { return nil }
        self.all = all
    }
}

/// A timer of which a moment has passed.
struct PassedTimer: Sendable, Equatable {
    /// The coordinator whose flow has it; ``ofScreen`` for one of the top screen.
    let owner: Int
    /// See ``FlowTimer/key``.
    let key: String
    /// How many of its moments have passed; 0 for one that will not be taken again.
    var count: Int
    /// The first of these moments, of a timer whose moment is in the data; nil for others.
    var first: Int64?

    static let ofScreen = -1
}

extension PassedTimers: Equatable {
    public static func == (one: PassedTimers, other: PassedTimers) -> Bool { one.all == other.all }
}

extension PassedTimers {
    /// What has passed of a timer; nil for one that has not been due.
    func timer(_ key: String, of owner: Int) -> PassedTimer? { all.first { $0.owner == owner && $0.key == key } }

    func noting(_ passed: PassedTimer) -> PassedTimers? {
        var all = all
        if let place = all.firstIndex(where: { $0.owner == passed.owner && $0.key == passed.key }) {
            all[place] = passed
        } else {
            all.append(passed)
        }
        return PassedTimers(all)
    }

    /// The screen was left, or the coordinator was released.
    func forgetting(_ owner: Int) -> PassedTimers? { PassedTimers(all.filter { $0.owner != owner }) }
}

extension PassedTimers {
    /// What decides which timers come next, for tools. A timer may come without end, so only its first moments count.
    package var summary: String { all.map { "\($0.owner) \($0.key) \(min($0.count, 4))" }.joined(separator: " ") }

    func write(to writer: inout JSONWriter) {
        writer.name("timers")
        writer.beginArray()
        for timer in all {
            writer.beginArray()
            writer.int(timer.owner)
            writer.string(timer.key)
            writer.int(timer.count)
            if let first = timer.first { writer.int(Int(first)) }
            writer.endArray()
        }
        writer.endArray()
    }

    convenience init?(reading json: inout JSONReader) throws(JSONReadError) {
        var all: [PassedTimer] = []
        try json.beginArray()
        while !json.endsArray() {
            try json.beginArray()
            var timer = PassedTimer(
                owner: Int(try json.int()), key: try json.string(), count: Int(try json.int()), first: nil)
            if !json.endsArray() {
                timer.first = try json.int()
                try json.endArray()
            }
            all.append(timer)
        }
        self.init(all)
    }
}
