/// The ``RequestLabels`` of all rows, one behind the other: an array for each would be counted as used by every request.
struct RequestLabelTable: Sendable {
    private let bytes: [UInt8]
    private let places: [Range<Int>]

    init(_ rows: [RequestRow]) {
        var bytes: [UInt8] = []
        places = rows.map { row in
            let start = bytes.count
            bytes += RequestLabels(of: row).bytes
            return start..<bytes.count
        }
        self.bytes = bytes
    }

    /// Gives `body` the labels of a row.
    @inline(__always)
    func lend(_ row: Int, to body: (UnsafeRawBufferPointer) -> Void) {
        bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[places[row]])) }
    }
}
