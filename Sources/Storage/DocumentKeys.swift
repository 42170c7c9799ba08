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

/// Seals and opens what is stored of one session: its documents and its labels.
///
/// Each session has its own key, derived from the operator's key and its id, for AES-256-GCM with random nonces of 96
/// bits. NIST SP 800-38D (8.3) allows 2³² messages under such a key; a session that commits four documents a thousand
/// times in each second reaches that after twelve days without a pause, and the operator's key never.
///
/// Session and name are authenticated too: what was moved to another session or service cannot be opened.
package struct SessionSeal {
    private static let random = SystemRandom()

    private let keys: DocumentKeys
    private let id: SessionID
    /// The session's key under the first of the keys.
    private let current: SHA256Digest

    package init(_ keys: DocumentKeys, of id: SessionID) {
        self.keys = keys
        self.id = id
        current = Self.key(of: id, under: keys.first)
    }

    /// - Parameter name: of the service; empty for the labels.
    package func seal(_ text: [UInt8], named name: String) -> [UInt8] {
        associated(name).withUnsafeBytes {
            AuthenticatedCipher.seal(
                text, key: current, authenticating: $0, behind: keys.first.header, random: Self.random)
        }
    }

    /// `nil` when it was not sealed for this session and name with one of the keys, or has changed since.
    package func open(_ sealed: [UInt8], named name: String) -> [UInt8]? {
        guard let key = keys.key(of: sealed) else { return nil }
        let secret = key.id == keys.first.id ? current : Self.key(of: id, under: key)
        return sealed.withUnsafeBytes { sealed in
            associated(name).withUnsafeBytes {
                AuthenticatedCipher.open(
                    UnsafeRawBufferPointer(rebasing: sealed[key.header.count...]), key: secret, authenticating: $0)
            }
        }
    }

    /// Whether the first of the keys has sealed it.
    package func isCurrent(_ sealed: [UInt8]) -> Bool { sealed.starts(with: keys.first.header) }

    private func associated(_ name: String) -> [UInt8] { Self.bytes(of: id) + name.utf8 }

    private static func key(of id: SessionID, under key: DocumentKeys.Key) -> SHA256Digest {
        .derived(from: key.secret, for: "concierge store: key of a session".utf8 + bytes(of: id))
    }

    private static func bytes(of id: SessionID) -> [UInt8] {
        withUnsafeBytes(of: (id.high.bigEndian, id.low.bigEndian)) { Array($0) }
    }
}
