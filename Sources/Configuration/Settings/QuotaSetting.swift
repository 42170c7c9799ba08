import HTTPServer
import JSONDocument

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
