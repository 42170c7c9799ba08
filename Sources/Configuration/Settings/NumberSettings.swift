import HTTPServer
import JSONDocument

extension Setting where Value == Int {
    /// A whole number in a range.
    static func integer(_ range: ClosedRange<Int>) -> Self {
        Self(
            name: "integer", allowed: "an integer from \(range.lowerBound) to \(range.upperBound)",
            schema: integerSchema(range), read: { $0.wholeNumber.flatMap { range.contains($0) ? $0 : nil } },
            show: { "\($0)" })
    }

    /// A number of bytes: an integer, or text with a binary unit such as `"64KiB"`.
    static func bytes(_ range: ClosedRange<Int>) -> Self {
        Self(
            name: "bytes", allowed: "a number of bytes from \(range.lowerBound) to \(range.upperBound)",
            examples: "65536, \"64KiB\" or \"1MiB\"",
            schema: ["anyOf": [integerSchema(range), ["type": "string", "pattern": "^[0-9]+(KiB|MiB|GiB)$"]]],
            read: { written in
                let bytes = written.wholeNumber ?? written.string.flatMap(bytes(withUnit:))
                return bytes.flatMap { range.contains($0) ? $0 : nil }
            }, show: { "\($0)" })
    }

    private static func integerSchema(_ range: ClosedRange<Int>) -> JSONDocument {
        ["type": "integer", "minimum": JSONDocument(range.lowerBound), "maximum": JSONDocument(range.upperBound)]
    }

    private static func bytes(withUnit text: String) -> Int? {
        let units = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)]
        guard let (suffix, size) = units.first(where: { text.hasSuffix($0.0) }),
            let count = Int(text.dropLast(suffix.count))
        else { return nil }
        let (bytes, overflow) = count.multipliedReportingOverflow(by: size)
        return overflow ? nil : bytes
    }
}

extension Setting where Value == Duration {
    /// A duration in the form of ``DurationText``. A bare number is refused, because it has no unit.
    static func duration(_ range: ClosedRange<Duration>) -> Self {
        let (least, most) = (DurationText.format(range.lowerBound), DurationText.format(range.upperBound))
        return Self(
            name: "duration", allowed: "a duration from \"\(least)\" to \"\(most)\"",
            examples: "\"250ms\", \"90s\", \"30m\", \"12h\", \"7d\" or \"PT30M\"",
            schema: ["type": "string", "pattern": JSONDocument(DurationText.pattern)],
            read: { $0.string.flatMap { DurationText.parse($0) }.flatMap { range.contains($0) ? $0 : nil } },
            show: { DurationText.format($0).inJSON },
            guess: { written in
                let number = written.wholeNumber ?? written.string.flatMap { Int($0) }
                return number.flatMap { $0 < 0 ? nil : "\"\($0)s\"" }
            })
    }
}

extension WrittenValue {
    /// A number in a file, or outside of a file the text of one.
    fileprivate var wholeNumber: Int? {
        switch self {
        case .integer(let integer): integer
        case .plain(let text): Int(text)
        default: nil
        }
    }
}

extension Setting where Value == Quota? {
    /// A quota as `600/1m`, or `none`.
    static var quota: Self {
        let counts = Setting<Int>.integer(1...1_000_000_000)
        let windows = Setting<Duration>.duration(.seconds(1) ... .seconds(86_400))
        return Self(
            name: "quota",
            allowed: "a number, a slash and a duration up to \"1d\", or none",
            examples: "\"600/1m\"",
            schema: [
                "type": "string",
                "pattern": JSONDocument("^(none|[0-9]+/\(DurationText.pattern.dropFirst().dropLast()))$"),
            ],
            read: { written in
                if written.string == "none" { return .some(nil) }
                let parts = written.string?.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
                guard let parts, parts.count == 2, let count = counts.read(.plain(String(parts[0]))),
                    let window = windows.read(.plain(String(parts[1])))
                else { return nil }
                return Quota(count: count, window: window)
            },
            show: { ($0.map { "\($0.count)/\(DurationText.format($0.window))" } ?? "none").inJSON })
    }
}
