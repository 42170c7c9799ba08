import CMicroHTTPD
import Glibc

/// The header fields of a request, in the order in which they were sent.
///
/// With the request line they are kept as they were on the wire, in one block. It begins with the places of the
/// well-known names. A table of `cmhd_field`s follows, whose offsets count from the text, and then the text. So a head
/// is one allocation, however many fields it has.
public struct HTTPRequestFields: Sendable {
    private let block: [UInt8]
    /// How many lines there are. A name may occur more than once.
    public let count: Int
    let target: Range<Int>
    /// A bit for each well-known name that is there. Most fields that are asked for are absent, which this shows
    /// without reading the block.
    private let present: UInt32

    private static var placesBytes: Int { Int(CMHD_FIELD_NAMES.rawValue) * MemoryLayout<cmhd_field_place>.stride }
    private static var entryBytes: Int { MemoryLayout<cmhd_field>.stride }
    private var text: Int { Self.placesBytes + count * Self.entryBytes }

    /// A request that was refused before its head was read has none.
    init(_ request: UnsafePointer<cmhd_request>) {
        let request = request.pointee
        guard let head = request.head, let places = request.places, let fields = request.fields else {
            self = HTTPRequestFields(target: "", fields: [])
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
                memcpy(start, places, Self.placesBytes)
                memcpy(start + Self.placesBytes, fields, table)
                memcpy(start + Self.placesBytes + table, head, Int(request.head_length))
                count = size
            }
        }
        self.block = block
        count = Int(request.field_count)
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
        count = table.count
        self.target = 0..<target.utf8.count
        self.present = present
    }

    /// A part of the text, without copying it.
    func slice(_ range: Range<Int>) -> ArraySlice<UInt8> {
        block[range.lowerBound + text..<range.upperBound + text]
    }

    /// Calls `body` with a part of the text.
    func withBytes<Result>(_ range: Range<Int>, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        block.withUnsafeBytes { block in
            body(UnsafeRawBufferPointer(rebasing: block[range.lowerBound + text..<range.upperBound + text]))
        }
    }

    /// Calls `body` with the bytes of the target.
    func withTarget<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result { withBytes(target, body) }

    private func entry(_ index: Int, in block: UnsafeRawBufferPointer) -> cmhd_field {
        block.loadUnaligned(fromByteOffset: Self.placesBytes + index * Self.entryBytes, as: cmhd_field.self)
    }

    private func valueRange(_ index: Int) -> Range<Int> {
        let entry = block.withUnsafeBytes { self.entry(index, in: $0) }
        return Int(entry.value)..<Int(entry.value + entry.value_length)
    }

    private func value(_ index: Int) -> ArraySlice<UInt8> { slice(valueRange(index)) }

    /// How many fields have the name, and the index of the first.
    private func place(of name: HTTPFieldName) -> cmhd_field_place {
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
        for index in 0..<count where isNamed(name, index) {
            if place.count == 0 { place.first = UInt16(index) }
            place.count += 1
        }
        return place
    }

    private func isNamed(_ name: HTTPFieldName, _ index: Int) -> Bool {
        block.withUnsafeBytes { block in
            let entry = entry(index, in: block)
            let start = text + Int(entry.name)
            return name.isSame(as: UnsafeRawBufferPointer(rebasing: block[start..<start + Int(entry.name_length)]))
        }
    }
}

extension HTTPRequestFields {
    /// The value of the first field of the name. Bytes that are not UTF-8 are replaced.
    public subscript(name: HTTPFieldName) -> String? {
        bytes(of: name).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The value of the first field of the name as it was sent, without copying it.
    public func bytes(of name: HTTPFieldName) -> ArraySlice<UInt8>? {
        let place = place(of: name)
        return place.count == 0 ? nil : value(Int(place.first))
    }

    /// Calls `body` with the value of the first field of the name as it was sent, if there is one. It counts and copies
    /// nothing, so it suits fields that every request is asked for.
    public func withValue(of name: HTTPFieldName, _ body: (UnsafeRawBufferPointer) -> Void) {
        let place = place(of: name)
        if place.count > 0 { withBytes(valueRange(Int(place.first)), body) }
    }

    /// The value of the only field of the name, as it was sent.
    public func only(_ name: HTTPFieldName) -> Single {
        let place = place(of: name)
        return switch place.count {
        case 0: .none
        case 1: .one(value(Int(place.first)))
        default: .several
        }
    }

    /// The occurrences of a field that may be sent once.
    public enum Single: Sendable {
        /// The request does not have the field.
        case none
        /// The value of the one field.
        case one(ArraySlice<UInt8>)
        /// The field is repeated, which its user has to refuse.
        case several
    }

    /// The values of every field of the name.
    public func values(of name: HTTPFieldName) -> [String] {
        let place = place(of: name)
        guard place.count > 0 else { return [] }
        return (Int(place.first)..<count).filter { isNamed(name, $0) }
            .map { String(decoding: value($0), as: UTF8.self) }
    }

    /// How many lines have the name.
    public func count(of name: HTTPFieldName) -> Int { Int(place(of: name).count) }

    /// Whether there is a field of the name.
    public func contains(_ name: HTTPFieldName) -> Bool { count(of: name) > 0 }
}
