import Sessions
import Storage

/// A service as it is stored in the row of its session.
struct StoredDocument {
    /// Where the bytes are.
    enum Content {
        case inRow([UInt8])
        case beside(DocumentPieces)
    }

    let name: String
    let birth: UInt64
    let revision: UInt64
    let createdAt: Int64
    let updatedAt: Int64
    var content: Content
    /// Whether the bytes are sealed (``SessionSeal``).
    var isSealed: Bool

    init(_ document: ServiceDocument, named name: String, _ content: Content, isSealed: Bool) {
        self.name = name
        birth = document.birth
        revision = document.revision
        createdAt = document.createdAt
        updatedAt = document.updatedAt
        self.content = content
        self.isSealed = isSealed
    }

    /// The size of the document, in bytes, with those of its seal.
    var size: Int {
        switch content {
        case .inRow(let bytes): bytes.count
        case .beside(let pieces): pieces.size
        }
    }

    /// - Parameter bytes: nil when they are damaged.
    func document(service: UInt16, _ bytes: [UInt8]?) -> ServiceDocument {
        ServiceDocument(
            service: service, birth: birth, revision: revision, createdAt: createdAt, updatedAt: updatedAt,
            bytes: bytes ?? [], isDamaged: bytes == nil)
    }

    // MARK: Format

    /// - Parameters:
    ///   - start: the session's creation time. Other times are near it.
    ///   - isMarked: whether the row says of each document if it is sealed.
    func write(to state: inout StateWriter, from start: Int64, isMarked: Bool) {
        state.add(name)
        state.add(birth)
        state.add(revision)
        state.add(difference: createdAt &- start)
        state.add(difference: updatedAt &- createdAt)
        func add(place: UInt64) { state.add(isMarked ? place << 1 | (isSealed ? 1 : 0) : place) }
        switch content {
        case .inRow(let bytes):
            add(place: 0)
            state.add(bytes)
        case .beside(let pieces):
            add(place: UInt64(pieces.first))
            state.add(UInt64(pieces.size))
            state.add(UInt64(pieces.checksum))
        }
    }

    init(from state: inout StateReader, start: Int64, isMarked: Bool) throws(StateReader.Malformed) {
        name = try state.text()
        birth = try state.number()
        revision = try state.number()
        createdAt = start &+ (try state.difference())
        updatedAt = createdAt &+ (try state.difference())
        let place = try state.number()
        isSealed = isMarked && place & 1 == 1
        let first = Int64(bitPattern: isMarked ? place >> 1 : place)
        guard first != 0 else {
            content = .inRow(try state.bytes())
            return
        }
        let (size, checksum) = (try state.count(), try state.number())
        guard (1..<1 << 56).contains(first), size < 1 << 40 else { throw StateReader.Malformed() }
        content = .beside(DocumentPieces(first: first, size: size, checksum: UInt32(truncatingIfNeeded: checksum)))
    }
}

/// The place of a document that is too large for its session's row: pieces with consecutive ids in the table
/// `documents`.
///
/// No other row fits on the page of a row that is longer than half a page, up to the length at which SQLite moves the
/// rest of the row to pages of its own. So documents of such lengths are cut into pieces, of which several share a
/// page: a document of 1 to 4 KB takes about a tenth more than its size.
struct DocumentPieces: Equatable {
    let first: Int64
    let size: Int
    /// CRC-32 of the whole document.
    let checksum: UInt32

    /// The longest document in a row, so that a write to another service never rewrites a large document.
    static let longestInRow = 512
    /// Six pieces share a page of 4 KiB.
    private static let piece = 664
    /// SQLite moves the rest of a longer row to pages that it fills.
    private static let longestInPieces = 4_057

    var ids: ClosedRange<Int64> { first...first + Int64(Self.count(for: size)) - 1 }

    static func count(for size: Int) -> Int { size > longestInPieces ? 1 : max(1, (size + piece - 1) / piece) }

    /// The part of the document that each row holds.
    static func parts(of document: [UInt8]) -> [ArraySlice<UInt8>] {
        guard count(for: document.count) > 1 else { return [document[...]] }
        return stride(from: 0, to: document.count, by: piece).map { document[$0..<min($0 + piece, document.count)] }
    }
}
