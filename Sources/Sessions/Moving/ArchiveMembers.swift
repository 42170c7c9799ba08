import JSONDocument

/// Reads the members of an object in a line of an archive. Each member is read once, by type, and the problems are
/// collected.
struct ArchiveMembers {
    private let document: JSONDocument
    private let pointer: String
    private var problems: [ArchiveProblem] = []
    private var asked: Set<String> = []
    /// In steady time.
    let now: Int64
    /// Wall time minus steady time.
    private let offset: Int64

    init(_ document: JSONDocument, at pointer: String = "", now: Int64, offset: Int64) {
        self.document = document
        self.pointer = pointer
        self.now = now
        self.offset = offset
    }

    /// In milliseconds: the clocks of well-kept machines differ by less.
    static let clockTolerance: Int64 = 300_000

    /// Enough about one line, which may have a million problems.
    private static let most = 16
    /// JSON numbers are exact up to here everywhere (RFC 8259, 6).
    static let largest: UInt64 = 1 << 53 - 1

    func place(_ name: String) -> String { "\(pointer)/\(JSONPointer.escape(Self.clipped(name)))" }

    /// A text from outside, shortened for a response.
    static func clipped(_ text: String) -> String {
        text.unicodeScalars.count <= 64 ? text : String(text.unicodeScalars.prefix(64)) + "…"
    }

    mutating func refuse(_ name: String, _ detail: String) {
        refuse([ArchiveProblem(pointer: place(name), detail: detail)])
    }

    mutating func refuse(_ more: [ArchiveProblem]) { problems += more.prefix(max(0, Self.most - problems.count)) }

    mutating func member(_ name: String) -> JSONDocument? {
        asked.insert(name)
        return document[member: name]
    }

    mutating func string(_ name: String) -> String {
        if let text = member(name)?.string { return text }
        refuse(name, "must be a string")
        return ""
    }

    /// 0 when it is missing.
    mutating func optionalNumber(_ name: String) -> UInt64 { member(name) == nil ? 0 : number(name) }

    mutating func number(_ name: String) -> UInt64 {
        if let number = member(name)?.int, number >= 0, number <= Self.largest { return UInt64(number) }
        refuse(name, "must be a number from 0 to \(Self.largest)")
        return 0
    }

    /// In steady time.
    mutating func time(_ name: String) -> Int64 {
        if let time = Timestamp(string(name)) { return time.millisecondsSince1970 - offset }
        refuse(name, "must be a time such as 2026-01-31T09:05:07.250Z")
        return 0
    }

    /// The time of a past event. A clock that is a little ahead counts as now, so that nothing lives longer because of
    /// it.
    mutating func pastTime(_ name: String) -> Int64 {
        let time = time(name)
        if time > now + Self.clockTolerance {
            refuse(name, "is in the future: the clock of one of the two installations is wrong")
        }
        return min(time, now)
    }

    mutating func digest(_ name: String) -> TokenDigest {
        if let digest = Hexadecimal.bytes(string(name)).flatMap({ TokenDigest(bytes: $0) }) { return digest }
        refuse(name, "must be the SHA-256 of a token, in 64 hexadecimal digits")
        return TokenDigest(words: (0, 0, 0, 0))
    }

    /// The objects of an array, which may be missing unless `isRequired`.
    mutating func objects<Result>(
        _ name: String, isRequired: Bool = false, _ read: (inout ArchiveMembers) -> Result?
    ) -> [Result] {
        guard let list = member(name) else {
            if isRequired { refuse(name, "must be an array") }
            return []
        }
        guard let elements = list.elements else {
            refuse(name, "must be an array")
            return []
        }
        var results: [Result] = []
        for (index, element) in elements.enumerated() where problems.count < Self.most {
            var members = ArchiveMembers(element, at: "\(place(name))/\(index)", now: now, offset: offset)
            let result = read(&members)
            refuse(members.finish())
            if let result { results.append(result) }
        }
        return results
    }

    /// All problems, including members that were not read: this program cannot keep what it does not know.
    func finish() -> [ArchiveProblem] {
        guard let members = document.members else {
            return [ArchiveProblem(pointer: pointer, detail: "must be an object")]
        }
        let unknown = members.lazy.filter { !asked.contains($0.name) }.prefix(Self.most - problems.count)
        return problems + unknown.map { ArchiveProblem(pointer: place($0.name), detail: "is not a known member") }
    }
}
