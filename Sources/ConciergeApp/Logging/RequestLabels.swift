import JSONDocument

/// What the lines of all requests in one row of the metrics have in common, made once.
struct RequestLabels: Sendable {
    /// From behind the request's id to in front of its status:
    /// `","method":"GET","route":"/v1/session","listener":"public","status":`.
    let bytes: [UInt8]

    init(of row: RequestRow) {
        var members = JSONWriter()
        members.name("method")
        members.string(row.method)
        members.name("route")
        members.string(row.route)
        members.name("listener")
        members.string(row.listener)
        bytes = Array("\",".utf8) + LogForm.visible(members.bytes) + Array(",\"status\":".utf8)
    }
}

/// Those of all rows, one behind the other: an array for each would be counted as used by every request.
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
