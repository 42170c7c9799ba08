import JSONDocument

/// The last steps of a journey, for operators: when, by what, from where to where, and who. It has no data of a person.
///
/// It is kept as the text that is stored. A step appends some four bytes to that and reads nothing of it: SQLite keeps
/// a document beside its session's row, which costs more, once the document is longer than 512 bytes.
///
/// A class, because journeys are handed on often.
final class JourneyHistory: Sendable {
    /// In steady time: the first entry counts from there.
    private let begin: Int64
    /// When the last step was taken.
    private let last: Int64
    /// Of screens and events.
    private let names: [String]
    /// The different kinds of steps. Each is three numbers: cause and who, the event, the screen that it led to; of the
    /// last two the place among the names, counted from 1, and 0 for none.
    private let kinds: [String]
    /// For each step two numbers: its kind, and the milliseconds since the step before.
    private let text: String
    private let count: Int
    /// About the bytes that it takes where it is stored.
    let size: Int

    /// What is shown of one journey.
    static let mostShown = 50
    /// Dropping some at once costs less than one at each step. The step before the first that is shown says from where
    /// that one led.
    private static let (fewestKept, mostKept) = (mostShown + 1, mostShown + 8)

    private init(begin: Int64, last: Int64, names: [String], kinds: [String], text: String, count: Int) {
        (self.begin, self.last, self.names, self.kinds) = (begin, last, names, kinds)
        (self.text, self.count) = (text, count)
        let size = names.reduce(text.utf8.count + 20) { $0 + $1.utf8.count + 3 }
        self.size = kinds.reduce(size) { $0 + $1.utf8.count }
    }

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
        guard var history = former else {
            let empty = JourneyHistory(begin: now, last: now, names: [], kinds: [], text: "", count: 0)
            guard let from else { return empty.adding(cause.number(by: actor), cause.event, screen, now) }
            // Not a step, but where the next one comes from.
            return empty.adding(StepCause.origin, nil, from, now)
                .adding(cause.number(by: actor), cause.event, screen, now)
        }
        if history.count >= mostKept { history = history.shortened }
        return history.adding(cause.number(by: actor), cause.event, screen, now)
    }

    private func adding(_ cause: Int, _ event: String?, _ screen: String?, _ now: Int64) -> JourneyHistory {
        var (names, kinds) = (names, kinds)
        func place(_ name: String?) -> Int {
            guard let name else { return 0 }
            if let known = names.firstIndex(of: name) { return known + 1 }
            names.append(name)
            return names.count
        }
        let kind = HistoryDigits.text(cause, place(event), place(screen))
        let known = kinds.firstIndex(of: kind)
        if known == nil { kinds.append(kind) }
        let step = HistoryDigits.text(known ?? kinds.count - 1, Int(max(0, now &- last)))
        return JourneyHistory(
            begin: begin, last: max(last, now), names: names, kinds: kinds, text: text + step, count: count + 1)
    }

    /// The same without steps that are not shown any more.
    private var shortened: JourneyHistory {
        guard kinds.count < Self.manyKinds else { return renewed }
        var digits = HistoryDigits(text)
        var time = begin
        for _ in Self.fewestKept..<count {
            guard digits.next() != nil, let gap = digits.next() else { return renewed }
            time = time.later(by: Int64(gap))
        }
        return JourneyHistory(
            begin: time, last: last, names: names, kinds: kinds,
            text: String(decoding: text.utf8.dropFirst(digits.offset), as: UTF8.self), count: Self.fewestKept)
    }

    /// The same without names and kinds that no step has any more.
    private var renewed: JourneyHistory {
        let kept = entries.suffix(Self.fewestKept)
        let begin = kept.first?.time ?? last
        let empty = JourneyHistory(begin: begin, last: begin, names: [], kinds: [], text: "", count: 0)
        return kept.reduce(empty) { $0.adding($1.cause, $1.event, $1.screen, $1.time) }
    }

    /// From here on a kind may take two digits.
    private static let manyKinds = HistoryDigits.base

    private struct Entry {
        let cause: Int
        let event: String?
        let screen: String?
        let time: Int64
    }

    /// What is not of the form ends them: they may have gone through other hands.
    private var entries: [Entry] {
        func name(_ place: Int) -> String? { names.indices.contains(place - 1) ? names[place - 1] : nil }
        var entries: [Entry] = []
        var digits = HistoryDigits(text)
        var time = begin
        while let kind = digits.next(), let gap = digits.next() {
            var numbers = HistoryDigits(kinds.indices.contains(kind) ? kinds[kind] : "")
            guard let cause = numbers.next(), let event = numbers.next(), let screen = numbers.next() else { break }
            time = time.later(by: Int64(gap))
            entries.append(Entry(cause: cause, event: name(event), screen: name(screen), time: time))
        }
        return entries
    }

    /// The last steps, the oldest first, with times of the wall clock.
    ///
    /// - Parameter shift: is added to the times; milliseconds.
    func steps(timesMovedBy shift: Int64) -> [JourneyStep] {
        let entries = entries
        return entries.indices.suffix(Self.mostShown).compactMap { place in
            let entry = entries[place]
            guard let (cause, actor) = StepCause.read(entry.cause) else { return nil }
            return JourneyStep(
                time: Timestamp(millisecondsSince1970: entry.time.later(by: shift)), cause: cause, event: entry.event,
                from: place > 0 ? entries[place - 1].screen : nil, to: entry.screen, actor: actor)
        }
    }
}

/// The stored form: `[begin, steps, kinds, name, …]`.
extension JourneyHistory {
    func write(to json: inout JSONWriter) {
        json.beginArray()
        json.int(Int(begin))
        json.string(text)
        json.string(kinds.joined())
        for name in names { json.string(name) }
        json.endArray()
    }

    var document: JSONDocument {
        JSONDocument(
            [JSONDocument(Int(begin)), JSONDocument(text), JSONDocument(kinds.joined())]
                + names.map { JSONDocument($0) })
    }

    /// Nil for an empty array.
    convenience init?(reading json: inout JSONReader) throws(JSONReadError) {
        try json.beginArray()
        if json.endsArray() { return nil }
        let (begin, text, kinds) = (try json.int(), try json.string(), try json.string())
        var names: [String] = []
        while !json.endsArray() { names.append(try json.string()) }
        self.init(begin: begin, text, kinds, names)
    }

    /// Nil for what is not of that form.
    convenience init?(_ document: JSONDocument?) {
        guard let elements = document?.elements, elements.count >= 3, let begin = elements[0].int,
            let text = elements[1].string, let kinds = elements[2].string
        else { return nil }
        self.init(begin: Int64(begin), text, kinds, elements.dropFirst(3).compactMap(\.string))
    }

    private convenience init(begin: Int64, _ text: String, _ written: String, _ names: [String]) {
        var (kinds, numbers): ([String], HistoryDigits) = ([], HistoryDigits(written))
        while let cause = numbers.next(), let event = numbers.next(), let screen = numbers.next() {
            kinds.append(HistoryDigits.text(cause, event, screen))
        }
        // What is not of the form is cut off, or the next step would be lost with it.
        var (digits, count, end, last) = (HistoryDigits(text), 0, 0, begin)
        while let kind = digits.next(), kinds.indices.contains(kind), let gap = digits.next() {
            (count, end, last) = (count + 1, digits.offset, last.later(by: Int64(gap)))
        }
        let sound = end == text.utf8.count ? text : String(decoding: text.utf8.prefix(end), as: UTF8.self)
        self.init(begin: begin, last: last, names: names, kinds: kinds, text: sound, count: count)
    }
}

/// Numbers as text: printable characters of ASCII that JSON need not escape, from `#` on, without the backslash.
private struct HistoryDigits {
    private let text: String.UTF8View
    private var place: String.Index
    /// The bytes that were read.
    private(set) var offset = 0

    static let base = 45
    private static let (first, backslash) = (Int(UInt8(ascii: "#")), Int(UInt8(ascii: "\\")))

    init(_ text: String) { (self.text, place) = (text.utf8, text.startIndex) }

    /// Nil at the end, and for what is no number.
    mutating func next() -> Int? {
        var (number, weight) = (0, 1)
        while place < text.endIndex {
            let byte = Int(text[place])
            text.formIndex(after: &place)
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

    static func text(_ numbers: Int...) -> String {
        var bytes: [UInt8] = []
        for number in numbers {
            var rest = number
            while true {
                let byte = first + rest % base + (rest >= base ? base : 0)
                bytes.append(UInt8(truncatingIfNeeded: byte >= backslash ? byte + 1 : byte))
                if rest < base { break }
                rest /= base
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
