import HTTPServer

/// `Accept`: the media types that the client accepts, and their quality (RFC 9110, section 12.5.1).
///
/// ```swift
/// let type = AcceptedTypes(request).best(of: ["text/vnd.mermaid", "image/svg+xml"])
/// ```
struct AcceptedTypes {
    private struct Range {
        /// `*` for any.
        let type, subtype: String
        /// In thousandths, the finest quality that can be written.
        let quality: Int

        /// How closely the range names the type; `nil` when it does not match.
        func closeness(to type: String, _ subtype: String) -> Int? {
            if self.type == "*" { return 0 }
            guard self.type == type else { return nil }
            if self.subtype == "*" { return 1 }
            return self.subtype == subtype ? 2 : nil
        }
    }

    private let ranges: [Range]

    /// Malformed ranges are ignored. If none is left, any type is accepted, as without the field.
    init(_ request: HTTPRequest) {
        ranges = Self.weighted(request, .accept).compactMap { name, quality in
            let names = name.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
            guard let quality, names.count == 2, !names[0].isEmpty, !names[1].isEmpty,
                names[0] != "*" || names[1] == "*"
            else { return nil }
            return Range(type: names[0], subtype: names[1], quality: quality)
        }
    }

    /// The offered type with the highest quality, the first of equals; `nil` when none is acceptable.
    func best(of offered: [String]) -> String? {
        guard !ranges.isEmpty else { return offered.first }
        var best: (type: String, quality: Int)?
        for type in offered {
            let quality = quality(of: type)
            if quality > best?.quality ?? 0 { best = (type, quality) }
        }
        return best?.type
    }

    /// The quality of the range that names the type most closely.
    private func quality(of offered: String) -> Int {
        let parts = offered.split(separator: "/").map(String.init)
        guard parts.count == 2 else { return 0 }
        let naming = ranges.compactMap { range in
            range.closeness(to: parts[0], parts[1]).map { (closeness: $0, quality: range.quality) }
        }
        return naming.max { ($0.closeness, $0.quality) < ($1.closeness, $1.quality) }?.quality ?? 0
    }

    /// The items of a list with their qualities in thousandths, in lower case; nil is a malformed quality.
    fileprivate static func weighted(_ request: HTTPRequest, _ name: HTTPFieldName) -> [(name: String, quality: Int?)] {
        request.fields.values(of: name).flatMap { $0.split(separator: ",") }.map { item in
            let parts = item.split(separator: ";", omittingEmptySubsequences: false).map { part in
                part.filter { $0 != " " && $0 != "\t" }.lowercased()
            }
            let written = parts.dropFirst().first { $0.hasPrefix("q=") }
            return (parts[0], written.map { quality($0.dropFirst(2)) } ?? 1_000)
        }
    }

    /// `qvalue`: 0 or 1 with at most three decimals, RFC 9110, section 12.4.2.
    private static func quality(_ text: Substring) -> Int? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first, whole == "0" || whole == "1" else { return nil }
        let decimals = parts.count == 2 ? parts[1] : ""
        guard decimals.utf8.count <= 3, decimals.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        let thousandths = Int(decimals + String(repeating: "0", count: 3 - decimals.utf8.count)) ?? 0
        let quality = (whole == "1" ? 1_000 : 0) + thousandths
        return quality <= 1_000 ? quality : nil
    }
}

extension HTTPFieldName {
    static let acceptLanguage = HTTPFieldName("Accept-Language")
    static let contentLanguage = HTTPFieldName("Content-Language")
}

/// `Accept-Language`: the languages that the client prefers (RFC 9110, section 12.5.4).
struct AcceptedLanguages {
    /// Language ranges, the best first.
    private let ranges: [String]

    /// Ranges that are not well-formed are ignored.
    init(_ request: HTTPRequest) {
        let ranges = AcceptedTypes.weighted(request, .acceptLanguage).compactMap { range, quality in
            quality.flatMap { $0 > 0 && !range.isEmpty ? (range: range, quality: $0) : nil }
        }
        // Of equal ones the first counts; the order of a sort is stable.
        self.ranges = ranges.sorted { $0.quality > $1.quality }.map(\.range)
    }

    /// The language by lookup (RFC 4647, section 3.4): a range loses parts from its end until a language matches it.
    /// The first language when none does; nil when there is none.
    func best(of languages: [String]) -> String? {
        for range in ranges {
            var parts = range.split(separator: "-")
            while !parts.isEmpty {
                let prefix = parts.joined(separator: "-")
                if let language = languages.first(where: { $0.lowercased() == prefix }) { return language }
                parts.removeLast()
                // A single letter begins what it cannot stand without.
                if parts.last?.count == 1 { parts.removeLast() }
            }
        }
        return languages.first
    }
}
