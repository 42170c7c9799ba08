import CMicroHTTPD
import Glibc

/// A request's head as it was on the wire, in one block: the request line and the fields.
///
/// The block begins with the places of the well-known names. A table of `cmhd_field`s follows, whose offsets count from
/// the text, and then the text. A head is one allocation, however many fields it has.
struct HTTPHead: Sendable {
    private let block: [UInt8]
    let fieldCount: Int
    let target: Range<Int>
    /// A bit for each well-known name that is there. Most fields that are asked for are absent, which this shows
    /// without reading the block.
    private let present: UInt32

    private static var placesBytes: Int { Int(CMHD_FIELD_NAMES.rawValue) * MemoryLayout<cmhd_field_place>.stride }
    private static var entryBytes: Int { MemoryLayout<cmhd_field>.stride }
    private var text: Int { Self.placesBytes + fieldCount * Self.entryBytes }

    /// A request that was refused before its head was read has none.
    init(_ request: UnsafePointer<cmhd_request>) {
        let request = request.pointee
        guard let head = request.head, request.head_length > 0 else {
            self = HTTPHead(target: "", fields: [])
            return
        }
        let table = Int(request.field_count) * Self.entryBytes
        let size = Self.placesBytes + table + Int(request.head_length)
        // `init(unsafeUninitializedCapacity:)` asks the runtime for the array's type each time, which takes longer than
        // all of this.
        var block: [UInt8] = []
        block.append(addingCapacity: size) { room in
            room.withUnsafeMutableBufferPointer { room, count in
                guard let start = room.baseAddress else { return }
                memcpy(start, request.places, Self.placesBytes)
                memcpy(start + Self.placesBytes, request.fields, table)
                memcpy(start + Self.placesBytes + table, head, Int(request.head_length))
                count = size
            }
        }
        self.block = block
        fieldCount = Int(request.field_count)
        target = Int(request.target)..<Int(request.target + request.target_length)
        present = request.present
    }

    /// For requests without a connection: in tests and for direct calls of a router.
    init(target: String, fields: [(HTTPFieldName, String)]) {
        var text = Array(target.utf8)
        var places = [cmhd_field_place](repeating: cmhd_field_place(), count: Int(CMHD_FIELD_NAMES.rawValue))
        var table: [cmhd_field] = []
        var present: UInt32 = 0
        for (name, value) in fields {
            let known = Int(name.known.rawValue)
            present |= 1 << name.known.rawValue
            if places[known].count == 0 { places[known].first = UInt16(table.count) }
            places[known].count += 1
            let start = text.count
            text += name.text.utf8
            let valueStart = text.count
            text += value.utf8
            table.append(
                cmhd_field(
                    name: UInt32(start), name_length: UInt32(valueStart - start), value: UInt32(valueStart),
                    value_length: UInt32(text.count - valueStart)))
        }
        block = places.withUnsafeBytes { Array($0) } + table.withUnsafeBytes { Array($0) } + text
        fieldCount = table.count
        self.target = 0..<target.utf8.count
        self.present = present
    }

    /// A part of the text, without copying it.
    func slice(_ range: Range<Int>) -> ArraySlice<UInt8> {
        block[range.lowerBound + text..<range.upperBound + text]
    }

    /// Calls `body` with the bytes of the target.
    func withTarget<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        block.withUnsafeBytes { block in
            body(UnsafeRawBufferPointer(rebasing: block[target.lowerBound + text..<target.upperBound + text]))
        }
    }

    private func entry(_ index: Int, in block: UnsafeRawBufferPointer) -> cmhd_field {
        block.loadUnaligned(fromByteOffset: Self.placesBytes + index * Self.entryBytes, as: cmhd_field.self)
    }

    func value(_ index: Int) -> ArraySlice<UInt8> {
        let entry = block.withUnsafeBytes { self.entry(index, in: $0) }
        return slice(Int(entry.value)..<Int(entry.value + entry.value_length))
    }

    /// Calls `body` with the value of a field.
    func withValue(_ index: Int, _ body: (UnsafeRawBufferPointer) -> Void) {
        block.withUnsafeBytes { block in
            let entry = entry(index, in: block)
            let start = text + Int(entry.value)
            body(UnsafeRawBufferPointer(rebasing: block[start..<start + Int(entry.value_length)]))
        }
    }

    /// Calls `body` with a part of the text.
    func withBytes(_ range: Range<Int>, _ body: (UnsafeRawBufferPointer) -> Void) {
        block.withUnsafeBytes { block in
            body(UnsafeRawBufferPointer(rebasing: block[range.lowerBound + text..<range.upperBound + text]))
        }
    }

    /// How many fields have the name, and the index of the first.
    func place(of name: HTTPFieldName) -> cmhd_field_place {
        guard present & 1 << name.known.rawValue != 0 else { return cmhd_field_place() }
        if name.known == CMHD_FIELD_OTHER { return search(name) }
        return block.withUnsafeBytes {
            $0.loadUnaligned(
                fromByteOffset: Int(name.known.rawValue) * MemoryLayout<cmhd_field_place>.stride,
                as: cmhd_field_place.self)
        }
    }

    private func search(_ name: HTTPFieldName) -> cmhd_field_place {
        var place = cmhd_field_place()
        for index in 0..<fieldCount where isNamed(name, index) {
            if place.count == 0 { place.first = UInt16(index) }
            place.count += 1
        }
        return place
    }

    /// Whether the field at the index has the name.
    func isNamed(_ name: HTTPFieldName, _ index: Int) -> Bool {
        block.withUnsafeBytes { block in
            let entry = entry(index, in: block)
            let start = text + Int(entry.name)
            return name.isSame(as: UnsafeRawBufferPointer(rebasing: block[start..<start + Int(entry.name_length)]))
        }
    }
}
