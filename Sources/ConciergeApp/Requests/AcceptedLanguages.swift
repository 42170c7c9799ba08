import HTTPServer

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
        let written = request.fields.values(of: .acceptLanguage).flatMap { $0.split(separator: ",") }
        var ranges: [(range: String, quality: Int)] = []
        for part in written {
            let parts = part.split(separator: ";").map { String($0).filter { $0 != " " && $0 != "\t" }.lowercased() }
            guard let range = parts.first, !range.isEmpty else { continue }
            var quality: Int? = 1_000
            for parameter in parts.dropFirst() where parameter.hasPrefix("q=") {
                quality = AcceptedTypes.quality(parameter.dropFirst(2))
            }
            if let quality, quality > 0 { ranges.append((range, quality)) }
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
