/// Web origins (RFC 6454), each as browsers send it in `Origin`, or with `*` for the first label of its host:
/// `https://*.preview.example`.
public struct WebOrigins: Sendable {
    private let exact: Set<ArraySlice<UInt8>>
    /// What stands before and behind the label.
    private let patterns: [(before: ArraySlice<UInt8>, behind: ArraySlice<UInt8>)]

    /// Takes the texts as they are.
    public init(_ origins: [String]) {
        let texts = origins.map { ArraySlice($0.utf8) }
        let star = UInt8(ascii: "*")
        exact = Set(texts.filter { !$0.contains(star) })
        patterns = texts.compactMap { text in
            text.firstIndex(of: star).map { (text[..<$0], text[($0 + 1)...]) }
        }
    }

    /// Whether there is none.
    public var isEmpty: Bool { exact.isEmpty && patterns.isEmpty }

    /// Whether the origin is one of them, byte by byte.
    public func contains(_ origin: ArraySlice<UInt8>) -> Bool {
        exact.contains(origin)
            || patterns.contains { before, behind in
                guard origin.count > before.count + behind.count, origin.starts(with: before),
                    origin.suffix(behind.count).elementsEqual(behind)
                else { return false }
                return origin.dropFirst(before.count).dropLast(behind.count).allSatisfy(Self.isOfLabel)
            }
    }

    /// Letters in lower case, digits, hyphen and underscore: no dot, so one label.
    private static func isOfLabel(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
    }
}
