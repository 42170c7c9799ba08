import CDeflate

/// The CRC-32 of a row's columns, kept in the row: SQLite sees that a page has been damaged only where its structure
/// suffers, and a flipped bit in a document is not a matter of structure.
struct RowChecksum {
    private var state = libdeflate_crc32(0, nil, 0)

    var value: Int64 { Int64(state) }

    mutating func add(_ number: Int64) {
        withUnsafeBytes(of: number.littleEndian) { addPart($0) }
    }

    /// The length goes in first, so that what one column loses no other can gain.
    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        add(Int64(bytes.count))
        addPart(bytes)
    }

    private mutating func addPart(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        state = libdeflate_crc32(state, start, bytes.count)
    }
}
