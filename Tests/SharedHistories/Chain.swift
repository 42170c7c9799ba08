import JSONDocument
import Sessions

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
