import CMicroHTTPD

/// A request's head as it stood on the wire, in one block: the request line and the fields, looked up in place.
///
/// The block begins with a table of `cmhd_field`s, whose offsets count from the text, and the text follows. One allocation holds all of a head, however many fields it has.
struct HTTPHead: Sendable {
    /// The table, then the text.
    private let block: [UInt8]
    let fieldCount: Int
    let target: Range<Int>

    private static let entryBytes = MemoryLayout<cmhd_field>.stride
    private var text: Int { fieldCount * Self.entryBytes }

    init(_ request: borrowing cmhd_request) {
        guard let head = request.head, request.head_length > 0 else {
            block = []
            fieldCount = 0
            target = 0..<0
            return
        }
        let table = UnsafeRawBufferPointer(
            start: request.fields, count: Int(request.field_count) * MemoryLayout<cmhd_field>.stride)
        let text = UnsafeRawBufferPointer(start: head, count: Int(request.head_length))
        var block: [UInt8] = []
        block.reserveCapacity(table.count + text.count)
        block.append(contentsOf: table)
        block.append(contentsOf: text)
        self.block = block
        fieldCount = Int(request.field_count)
        target = Int(request.target)..<Int(request.target + request.target_length)
    }

    /// For requests that come from no wire: tests, and whoever calls a router directly.
    init(target: String, fields: [(HTTPFieldName, String)]) {
        var text = Array(target.utf8)
        var table: [cmhd_field] = []
        for (name, value) in fields {
            let start = text.count
            text += name.text.utf8
            let valueStart = text.count
            text += value.utf8
            table.append(
                cmhd_field(
                    name: UInt32(start), name_length: UInt32(valueStart - start), value: UInt32(valueStart),
                    value_length: UInt32(text.count - valueStart), tag: name.tag))
        }
        block = table.withUnsafeBytes { Array($0) } + text
        fieldCount = table.count
        self.target = 0..<target.utf8.count
    }

    private func entry(_ index: Int) -> cmhd_field {
        block.withUnsafeBytes {
            $0.loadUnaligned(fromByteOffset: index * Self.entryBytes, as: cmhd_field.self)
        }
    }

    func value(_ index: Int) -> ArraySlice<UInt8> {
        let entry = entry(index)
        return slice(Int(entry.value)..<Int(entry.value + entry.value_length))
    }

    /// A part of the text, without copying it.
    func slice(_ range: Range<Int>) -> ArraySlice<UInt8> {
        block[range.lowerBound + text..<range.upperBound + text]
    }

    /// A part of the block that a slice of it was taken from, by that slice's indices.
    func part(_ span: RouteMatch.Span) -> ArraySlice<UInt8> {
        block[Int(span.lower)..<Int(span.upper)]
    }

    /// The index of the first field of that name, from `start` on.
    func index(of name: HTTPFieldName, from start: Int = 0) -> Int? {
        block.withUnsafeBytes { block in
            for index in start..<max(start, fieldCount) {
                let entry = block.loadUnaligned(fromByteOffset: index * Self.entryBytes, as: cmhd_field.self)
                guard entry.tag == name.tag, Int(entry.name_length) == name.text.utf8.count else { continue }
                let at = text + Int(entry.name)
                let found = UnsafeRawBufferPointer(rebasing: block[at..<(at + Int(entry.name_length))])
                if zip(found, name.text.utf8).allSatisfy({ $0.lowercasedASCII == $1.lowercasedASCII }) { return index }
            }
            return nil
        }
    }
}
