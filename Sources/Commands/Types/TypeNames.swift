/// Names of types or members in one scope, none of them given twice.
struct TypeNames {
    private var taken: Set<String>

    init(reserving names: some Sequence<String>) { taken = Set(names) }

    /// The name, or the name with a number where it is taken.
    mutating func take(_ name: String) -> String {
        var candidate = name
        var number = 1
        while !taken.insert(candidate).inserted {
            number += 1
            candidate = "\(name)\(number)"
        }
        return candidate
    }

    /// The name of a type: `QuoteDraft` for `quote-draft`.
    static func type(_ texts: String...) -> String {
        identifier(texts.flatMap(words).map { $0.prefix(1).uppercased() + $0.dropFirst() })
    }

    /// The name of a member: `verifiedAt` for `verified_at`, `sku` for `SKU`.
    static func member(_ text: String) -> String {
        let words = words(of: text)
        guard let first = words.first else { return "unnamed" }
        let isAcronym = first.allSatisfy { $0.isUppercase || $0.isNumber }
        return identifier(
            [isAcronym ? first.lowercased() : first.prefix(1).lowercased() + first.dropFirst()]
                + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() })
    }

    private static func words(of text: String) -> [Substring] {
        text.split { !$0.isASCII || !($0.isLetter || $0.isNumber) }
    }

    private static func identifier(_ words: [String]) -> String {
        let name = words.joined()
        if name.isEmpty { return "Unnamed" }
        return name.first?.isNumber == true ? "_\(name)" : name
    }
}
