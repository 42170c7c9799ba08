import Sessions

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
