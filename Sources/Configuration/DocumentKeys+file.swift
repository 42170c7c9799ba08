import Storage

extension DocumentKeys {
    static let allowed =
        "one line NAME:BASE64 for each key, where names are letters, digits, dots, hyphens and underlines and occur once, and "
        + "BASE64 is that of \(keyBytes) random bytes (openssl rand -base64 \(keyBytes))"

    /// The keys of a file; lines beginning with `#` are comments. `nil` for anything else than ``allowed``.
    package init?(_ file: [UInt8]) {
        var keys: [(id: String, secret: [UInt8])] = []
        for line in String(decoding: file, as: UTF8.self).split(whereSeparator: \.isNewline) where line.first != "#" {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let secret = Base64.decoded(Array(parts[1].utf8)) else { return nil }
            keys.append((String(parts[0]), secret))
        }
        self.init(keys)
    }
}
