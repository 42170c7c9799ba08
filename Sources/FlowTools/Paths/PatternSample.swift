/// Makes texts that match a regular expression of the kind that forms use: characters, classes, groups, alternatives
/// and repetitions. What it does not know it leaves out, so each text is to be checked.
struct PatternSample {
    private indirect enum Part {
        /// One of them.
        case one([Character])
        case row([Part])
        case either([Part])
        case repeated(Part, least: Int, most: Int)
    }

    private var rest: ArraySlice<Character>
    private var depth = 0

    /// Texts for a pattern, short ones first.
    ///
    /// - Parameter length: one of them is as long, if what is repeated may be.
    static func texts(for pattern: String, length: Int = 0) -> [String] {
        var reader = PatternSample(rest: Array(pattern)[...])
        guard let part = reader.alternatives(), reader.rest.isEmpty else { return [] }
        var texts: [String] = []
        for variant in 0..<3 {
            for repetitions in [0, 1, 3, length] {
                let text = text(of: part, repetitions, variant)
                if text.count <= 1_000, !texts.contains(text) { texts.append(text) }
            }
        }
        return texts
    }

    /// - Parameter variant: which of several characters and alternatives is taken.
    private static func text(of part: Part, _ repetitions: Int, _ variant: Int) -> String {
        switch part {
        case .one(let characters): String(characters[variant % characters.count])
        case .row(let parts): parts.map { text(of: $0, repetitions, variant) }.joined()
        case .either(let parts): text(of: parts[variant % parts.count], repetitions, variant)
        case .repeated(let part, let least, let most):
            repeated(text(of: part, repetitions, variant), min(max(least, repetitions), most))
        }
    }

    /// Groups within groups would make a text of any length.
    private static func repeated(_ text: String, _ count: Int) -> String {
        String(repeating: text, count: min(count, 1_000 / max(1, text.count)))
    }

    private mutating func alternatives() -> Part? {
        depth += 1
        defer { depth -= 1 }
        guard depth < 32 else { return nil }
        var parts: [Part] = []
        repeat {
            guard let row = row() else { return nil }
            parts.append(row)
        } while take("|")
        return parts.count == 1 ? parts[0] : .either(parts)
    }

    private mutating func row() -> Part? {
        var parts: [Part] = []
        while let next = rest.first, next != "|", next != ")" {
            rest.removeFirst()
            if next == "^" || next == "$" { continue }
            guard let part = part(next) else { return nil }
            guard let repeated = repetition(of: part) else { return nil }
            parts.append(repeated)
        }
        return .row(parts)
    }

    private mutating func part(_ first: Character) -> Part? {
        switch first {
        case "(":
            let isLook = look()
            guard let group = alternatives(), take(")") else { return nil }
            return isLook ? .row([]) : group
        case "[": return characterClass()
        case ".": return .one(["a"])
        case "\\":
            guard let escaped = rest.popFirst() else { return nil }
            return escape(escaped)
        default: return .one([first])
        }
    }

    /// Reads the beginning of a group; true for one that matches no character.
    private mutating func look() -> Bool {
        guard take("?") else { return false }
        if take(":") { return false }
        let isBehind = take("<")
        if take("=") || take("!") { return true }
        // (?<name>…)
        if isBehind, let end = rest.firstIndex(of: ">") { rest = rest[(end + 1)...] }
        return false
    }

    private func escape(_ escaped: Character) -> Part {
        switch escaped {
        case "d": .one(["1", "0", "9"])
        case "w": .one(["a"])
        case "s": .one([" "])
        case "b", "B": .row([])
        case "D", "S", "W": .one(["-"])
        case "t": .one(["\t"])
        case "n": .one(["\n"])
        default: .one([escaped])
        }
    }

    private mutating func characterClass() -> Part? {
        let isNegated = take("^")
        var ranges: [ClosedRange<Character>] = []
        while let next = rest.popFirst(), next != "]" || ranges.isEmpty {
            var from = next
            if next == "\\", let escaped = rest.popFirst() {
                switch escaped {
                case "d": ranges.append("0"..."9")
                case "w": ranges += ["a"..."z", "A"..."Z", "0"..."9"]
                case "s": ranges.append(" "..." ")
                default: from = escaped
                }
                if "dws".contains(escaped) { continue }
            }
            if rest.first == "-", let to = rest.dropFirst().first, to != "]", from <= to {
                rest = rest.dropFirst(2)
                ranges.append(from...to)
            } else {
                ranges.append(from...from)
            }
        }
        guard let first = ranges.first else { return nil }
        if isNegated {
            let others = "ax1- @.".filter { character in !ranges.contains { $0.contains(character) } }
            guard !others.isEmpty else { return nil }
            return .one(Array(others))
        }
        let start: Character = first.lowerBound == "0" && first.upperBound > "0" ? "1" : first.lowerBound
        return .one([start, first.upperBound] + ranges.dropFirst().map(\.lowerBound))
    }

    /// - Returns: nil for one that is not written out.
    private mutating func repetition(of part: Part) -> Part? {
        var found = part
        switch rest.first {
        case "*": found = .repeated(part, least: 0, most: .max)
        case "+": found = .repeated(part, least: 1, most: .max)
        case "?": found = .repeated(part, least: 0, most: 1)
        case "{":
            guard let end = rest.firstIndex(of: "}") else { return nil }
            let bounds = String(rest[(rest.startIndex + 1)..<end]).split(
                separator: ",", omittingEmptySubsequences: false)
            guard let least = bounds.first.flatMap({ Int($0) }), bounds.count <= 2 else { return nil }
            let most = bounds.count == 1 ? least : Int(bounds[1]) ?? .max
            rest = rest[end...]
            found = .repeated(part, least: least, most: max(least, most))
        default: return part
        }
        rest.removeFirst()
        if rest.first == "?" || rest.first == "+" { rest.removeFirst() }
        return found
    }

    private mutating func take(_ character: Character) -> Bool {
        guard rest.first == character else { return false }
        rest.removeFirst()
        return true
    }
}
