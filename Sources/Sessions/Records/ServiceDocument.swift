/// The committed state of one service of one session.
package struct ServiceDocument: Sendable {
    /// The service's index in the ``ServiceCatalog``. A store that outlives the process writes the name instead.
    package let service: UInt16
    /// Whether the store cannot read the bytes. Then ``bytes`` is empty, and the store keeps what it has until the
    /// document is replaced or removed.
    package let isDamaged: Bool
    /// The creation order within the session. Later instances are removed first.
    package let birth: UInt64
    /// The session's revision at the last write.
    package let revision: UInt64
    /// When the instance was created, in steady time.
    package let createdAt: Int64
    /// When it was last written, in steady time.
    package let updatedAt: Int64
    /// The serialised document, as it is sent, so that reading encodes nothing.
    package let bytes: [UInt8]

    package init(
        service: UInt16, birth: UInt64, revision: UInt64, createdAt: Int64, updatedAt: Int64, bytes: [UInt8],
        isDamaged: Bool = false
    ) {
        self.service = service
        self.isDamaged = isDamaged
        self.birth = birth
        self.revision = revision
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.bytes = bytes
    }
}
