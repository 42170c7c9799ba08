import Sessions

/// The keys that stored documents are encrypted with. The first one seals, each of them opens.
package struct DocumentKeys: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    package struct Key: Sendable, Equatable {
        package let id: String
        let secret: SHA256Digest
        /// In front of all that was sealed with the key: the length of the id, and the id.
        let header: [UInt8]

        /// How many bytes longer a text is when it is sealed.
        package var overhead: Int { header.count + AuthenticatedCipher.overhead }

        /// Tells the key from another one with the same id, and nothing about it.
        package var fingerprint: Int64 {
            SHA256Digest.derived(from: secret, for: Array("concierge store: fingerprint of a key".utf8))
                .withBytes { Int64(littleEndian: $0.loadUnaligned(as: Int64.self)) }
        }
    }

    package let first: Key
    private let others: [Key]

    /// The bytes of a key.
    package static let keyBytes = SHA256Digest.byteCount

    /// `nil` without keys, with two of the same id, with an id that is not 1 to 32 letters, digits, dots, hyphens and
    /// underlines, or with a key that does not have ``keyBytes``.
    package init?(_ written: [(id: String, secret: [UInt8])]) {
        let keys = written.compactMap { id, secret -> Key? in
            guard KeyName.isValid(id, most: 32), let secret = SHA256Digest(bytes: secret) else { return nil }
            return Key(id: id, secret: secret, header: [UInt8(id.utf8.count)] + id.utf8)
        }
        guard let first = keys.first, keys.count == written.count, Set(keys.map(\.id)).count == keys.count else {
            return nil
        }
        self.first = first
        others = Array(keys.dropFirst())
    }

    package var all: [Key] { [first] + others }

    package subscript(id: String) -> Key? { first.id == id ? first : others.first { $0.id == id } }

    /// The key that sealed these bytes; `nil` when it is not here, or the bytes are not sealed.
    func key(of sealed: [UInt8]) -> Key? {
        guard let length = sealed.first.map(Int.init), (1..<sealed.count).contains(length) else { return nil }
        return self[String(decoding: sealed[1...length], as: UTF8.self)]
    }

    package var description: String { "********" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
