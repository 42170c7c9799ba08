import JSONDocument
import Sessions

/// An admin key of which only the digest is known.
///
/// SHA-256 suffices, without salt and without a slow function as for passwords: a key is a random text that nobody can
/// guess, so no table of digests holds it. A slow function would let anybody who sends wrong keys use up the processor.
package struct AdminKeyHash: Sendable, Equatable {
    /// For the log.
    package let name: String
    /// What the log calls the key of the configuration, and a caller on loopback without one.
    package static let (plainName, loopbackName) = ("admin.key", "loopback")
    package let digest: SHA256Digest

    package init(name: String, digest: SHA256Digest) {
        self.name = name
        self.digest = digest
    }
}

extension Setting where Value == [AdminKeyHash] {
    /// Digests of admin keys, each with a name: `backend-2026:` and 64 hexadecimal digits.
    static var keyHashes: Self {
        Self(
            name: "list of digests",
            allowed:
                "a list of NAME:DIGEST, where names are letters, digits, dots, hyphens and underlines, occur once and are not `admin.key` or `loopback`",
            examples: "[\"backend-2026:9f86…0a08\"], from `printf %s \"$KEY\" \\| sha256sum`",
            schema: ["type": "array", "items": ["type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}:[0-9a-f]{64}$"]],
            read: { written in
                guard let items = written.items else { return nil }
                let hashes = items.compactMap { $0.flatMap(hash) }
                guard hashes.count == items.count, Set(hashes.map(\.name)).count == hashes.count else { return nil }
                return hashes
            },
            show: { "[" + $0.map { "\($0.name):\($0.digest.text())".inJSON }.joined(separator: ", ") + "]" },
            // A key that was written in place of its digest must not be printed.
            fault: { _ in "has an item that is not allowed (not shown)" })
    }

    private static func hash(_ text: String) -> AdminKeyHash? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, KeyName.isValid(parts[0], most: 64),
            ![AdminKeyHash.plainName, AdminKeyHash.loopbackName].contains(String(parts[0]))
        else { return nil }
        let digits = Array(parts[1].utf8)
        guard digits.count == 64 else { return nil }
        var words: [UInt64] = []
        for start in stride(from: 0, to: 64, by: 16) {
            guard let word = Hexadecimal.word(digits[start..<start + 16]) else { return nil }
            words.append(word.bigEndian)
        }
        return AdminKeyHash(
            name: String(parts[0]), digest: SHA256Digest(words: (words[0], words[1], words[2], words[3])))
    }
}
