import JSONDocument

/// The last steps of a journey, for operators: when, by what, from where to where, and who. It has no data of a person.
///
/// It is kept as the bytes that are stored. A step appends some four to them and reads nothing of them: SQLite keeps a
/// document beside its session's row, which costs more, once the document is longer than 512 bytes.
///
/// A class, because journeys are handed on often.
final class JourneyHistory: Sendable {
    /// In steady time: the first step counts from there.
    private let begin: Int64
    /// When the last step was taken.
    private let last: Int64
    private let kinds: StepKinds
    /// The stored form, up to the last step.
    private let bytes: [UInt8]
    /// Where the steps begin in that. Each is two numbers: its kind, and the milliseconds since the step before.
    private let start: Int
    private let count: Int

    /// What is shown of one journey.
    static let mostShown = 50
    /// Dropping some at once costs less than one at each step. The step before the first that is shown says from where
    /// that one led.
    private static let (fewestKept, mostKept) = (mostShown + 1, mostShown + 8)

    /// A kind, and the milliseconds of two days. More is rare, and takes an array that grows.
    private static let mostOfStep = 6

    private init(begin: Int64, last: Int64, kinds: StepKinds, bytes: [UInt8], start: Int, count: Int) {
        (self.begin, self.last, self.kinds) = (begin, last, kinds)
        (self.bytes, self.start, self.count) = (bytes, start, count)
    }

    private convenience init(
        begin: Int64, last: Int64, kinds: StepKinds, text: some Collection<UInt8>, count: Int
    ) {
        var json = JSONWriter(reservingCapacity: kinds.stored.count + text.count + 24)
        json.int(Int(begin))
        json.add(",")
        json.add(kinds.stored)
        json.add(#",""#)
        let head = json.bytes
        self.init(begin: begin, last: last, kinds: kinds, bytes: head + text, start: head.count, count: count)
    }

    private var text: ArraySlice<UInt8> { bytes[start...] }

    /// About the bytes that it takes where it is stored.
    var size: Int { bytes.count + 4 }

    /// One step after another.
    ///
    /// - Parameters:
    ///   - former: nil for none: the journey begins, or has come from a version that kept none.
    ///   - from: where the step began; a former history knows that.
    ///   - screen: where it ended; nil when the journey is over.
    static func adding(
        _ cause: StepCause, by actor: JourneyActor, from: String?, to screen: String?, at now: Int64,
        after former: JourneyHistory?
    ) -> JourneyHistory {
        let kind = StepKind(cause: cause.number(by: actor), event: cause.event, screen: screen)
        if let former { return (former.count < mostKept ? former : former.shortened).adding(kind, at: now) }
        let empty = JourneyHistory(begin: now, last: now, kinds: StepKinds(), text: [], count: 0)
        guard let from else { return empty.adding(kind, at: now) }
        // Not a step, but where the next one comes from.
        return empty.adding(StepKind(cause: StepCause.origin, event: nil, screen: from), at: now).adding(kind, at: now)
    }

    private func adding(_ kind: StepKind, at now: Int64) -> JourneyHistory {
        guard let place = kinds.place(of: kind) else {
            let kinds = kinds.adding([kind])
            return JourneyHistory(begin: begin, last: last, kinds: kinds, text: text, count: count)
                .adding(kind, at: now)
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(self.bytes.count + Self.mostOfStep)
        bytes += self.bytes
        HistoryDigits.append(place, to: &bytes)
        HistoryDigits.append(Int(max(0, now &- last)), to: &bytes)
        return JourneyHistory(
            begin: begin, last: max(last, now), kinds: kinds, bytes: bytes, start: start, count: count + 1)
    }

    /// The same without steps that are not shown any more.
    private var shortened: JourneyHistory {
        if kinds.all.count < HistoryDigits.base {
            var (digits, time) = (HistoryDigits(text), begin)
            for _ in Self.fewestKept..<count {
                guard digits.next() != nil, let gap = digits.next() else { break }
                time = time.later(by: Int64(gap))
            }
            return JourneyHistory(
                begin: time, last: last, kinds: kinds, text: text.dropFirst(digits.offset), count: Self.fewestKept)
        }
        // Without the kinds that no step has any more: from here on one may take two digits.
        let kept = entries.suffix(Self.fewestKept)
        let begin = kept.first?.time ?? last
        var (kinds, text, time): ([StepKind], [UInt8], Int64) = ([], [], begin)
        for entry in kept {
            let known = kinds.firstIndex(of: entry.kind)
            if known == nil { kinds.append(entry.kind) }
            HistoryDigits.append(known ?? kinds.count - 1, to: &text)
            HistoryDigits.append(Int(entry.time &- time), to: &text)
            time = entry.time
        }
        return JourneyHistory(
            begin: begin, last: last, kinds: StepKinds().adding(kinds), text: text, count: kept.count)
    }

    private var entries: [(kind: StepKind, time: Int64)] {
        var (digits, time) = (HistoryDigits(text), begin)
        var entries: [(kind: StepKind, time: Int64)] = []
        while let kind = digits.next(), kinds.all.indices.contains(kind), let gap = digits.next() {
            time = time.later(by: Int64(gap))
            entries.append((kinds.all[kind], time))
        }
        return entries
    }

    /// The last steps, the oldest first, with times of the wall clock.
    ///
    /// - Parameter shift: is added to the times; milliseconds.
    func steps(timesMovedBy shift: Int64) -> [JourneyStep] {
        let entries = entries
        return entries.indices.suffix(Self.mostShown).compactMap { place in
            let (kind, time) = entries[place]
            guard let (cause, actor) = StepCause.read(kind.cause) else { return nil }
            return JourneyStep(
                time: Timestamp(millisecondsSince1970: time.later(by: shift)), cause: cause, event: kind.event,
                from: place > 0 ? entries[place - 1].kind.screen : nil, to: kind.screen, actor: actor)
        }
    }
}

/// The stored form: `[begin, kinds, name, …, steps]`.
extension JourneyHistory {
    func write(to json: inout JSONWriter) {
        json.beginArray()
        json.add(bytes)
        json.add(#"""#)
        json.endArray()
    }

    var document: JSONDocument {
        var json = JSONWriter()
        write(to: &json)
        // The writer always writes valid JSON.
        return (try? JSONDocument(parsing: json.bytes)) ?? .null
    }

    /// Nil for an empty array.
    convenience init?(reading json: inout JSONReader) throws(JSONReadError) {
        try json.beginArray()
        if json.endsArray() { return nil }
        let begin = try json.int()
        var texts: [String] = []
        while !json.endsArray() { texts.append(try json.string()) }
        self.init(begin: begin, texts)
    }

    /// Nil for what is not of that form.
    convenience init?(_ document: JSONDocument?) {
        guard let elements = document?.elements, let begin = elements.first?.int else { return nil }
        self.init(begin: Int64(begin), elements.dropFirst().compactMap(\.string))
    }

    /// What is not of the form, since it has gone through other hands, is cut off: the next step would be lost with it.
    private convenience init?(begin: Int64, _ texts: [String]) {
        guard texts.count >= 2 else { return nil }
        let kinds = StepKinds.read(Array(texts[0].utf8), Array(texts[1..<(texts.count - 1)]))
        let text = Array(texts[texts.count - 1].utf8)
        var (digits, count, end, last) = (HistoryDigits(text[...]), 0, 0, begin)
        while let kind = digits.next(), kinds.all.indices.contains(kind), let gap = digits.next() {
            (count, end, last) = (count + 1, digits.offset, last.later(by: Int64(gap)))
        }
        self.init(begin: begin, last: last, kinds: kinds, text: text[..<end], count: count)
    }
}

/// What steps have in common that led to one screen by one event.
private struct StepKind: Sendable, Equatable {
    /// How and who: see ``StepCause/number(by:)``.
    let cause: Int
    let event: String?
    let screen: String?
}

/// The different kinds of the steps of a history.
private final class StepKinds: Sendable {
    let all: [StepKind]
    /// Three numbers for each: the cause, and the places of event and screen among the names, counted from 1, and 0 for
    /// none.
    private let text: [UInt8]
    private let names: [String]
    /// As they are stored: the text as a string, and the names.
    let stored: [UInt8]

    convenience init() { self.init([], [], []) }

    private init(_ all: [StepKind], _ text: [UInt8], _ names: [String]) {
        (self.all, self.text, self.names) = (all, text, names)
        var json = JSONWriter(reservingCapacity: text.count + 16 * names.count + 8)
        json.string(String(decoding: text, as: UTF8.self))
        for name in names { json.string(name) }
        stored = json.bytes
    }

    func adding(_ kinds: [StepKind]) -> StepKinds {
        var (text, names) = (text, names)
        func place(_ name: String?) -> Int {
            guard let name else { return 0 }
            if let known = names.firstIndex(of: name) { return known + 1 }
            names.append(name)
            return names.count
        }
        for kind in kinds {
            HistoryDigits.append(kind.cause, to: &text)
            HistoryDigits.append(place(kind.event), to: &text)
            HistoryDigits.append(place(kind.screen), to: &text)
        }
        return StepKinds(all + kinds, text, names)
    }

    static func read(_ text: [UInt8], _ names: [String]) -> StepKinds {
        func name(_ place: Int) -> String? { names.indices.contains(place - 1) ? names[place - 1] : nil }
        var (all, digits): ([StepKind], HistoryDigits) = ([], HistoryDigits(text[...]))
        while let cause = digits.next(), let event = digits.next(), let screen = digits.next() {
            all.append(StepKind(cause: cause, event: name(event), screen: name(screen)))
        }
        return StepKinds().adding(all)
    }

    func place(of kind: StepKind) -> Int? {
        // By places, which counts no reference to the names.
        for place in all.indices where all[place].cause == kind.cause {
            if all[place].event == kind.event, all[place].screen == kind.screen { return place }
        }
        return nil
    }
}

/// Numbers as text, with digits of base 45, the lowest first, where those from 45 on say that another follows:
/// printable characters of ASCII from `#` on that JSON need not escape, which leaves the backslash out.
private struct HistoryDigits {
    private var text: ArraySlice<UInt8>
    /// The bytes that were read.
    private(set) var offset = 0

    static let base = 45
    private static let (first, backslash) = (Int(UInt8(ascii: "#")), Int(UInt8(ascii: "\\")))

    init(_ text: ArraySlice<UInt8>) { self.text = text }

    /// Nil at the end, and for what is no number.
    mutating func next() -> Int? {
        var (number, weight) = (0, 1)
        while let byte = text.popFirst().map(Int.init) {
            offset += 1
            let digit = byte - Self.first - (byte > Self.backslash ? 1 : 0)
            guard byte != Self.backslash, (0..<2 * Self.base).contains(digit) else { return nil }
            let (part, isOver) = (digit % Self.base).multipliedReportingOverflow(by: weight)
            let (sum, isTooLarge) = number.addingReportingOverflow(part)
            if isOver || isTooLarge { return nil }
            number = sum
            if digit < Self.base { return number }
            let (next, isOverNext) = weight.multipliedReportingOverflow(by: Self.base)
            if isOverNext { return nil }
            weight = next
        }
        return nil
    }

    static func append(_ number: Int, to bytes: inout [UInt8]) {
        var rest = number
        while true {
            let byte = first + rest % base + (rest >= base ? base : 0)
            bytes.append(UInt8(truncatingIfNeeded: byte >= backslash ? byte + 1 : byte))
            if rest < base { return }
            rest /= base
        }
    }
}
