/// The id of a request in its response's `Request-Id` and in the log: 1 to 128 letters, digits and `-._`, which need no
/// escape anywhere.
public struct RequestID: Sendable, Hashable {
    /// The characters. A string has the 15 of an id that the server made in place, without memory elsewhere.
    public let text: String

    private static let prefixDigits = 5
    private static let numberDigits = 10
    private static var digits: StaticString { "0123456789abcdefghjkmnpqrstvwxyz" }

    /// - Parameter prefix: the server's 25 bits.
    /// - Parameter number: only the lowest 50 bits count.
    init(prefix: UInt32, number: UInt64) {
        text = String(unsafeUninitializedCapacity: Self.prefixDigits + Self.numberDigits) { room in
            for place in 0..<Self.prefixDigits {
                room[place] = Self.digit(UInt64(prefix), Self.prefixDigits - 1 - place)
            }
            for place in 0..<Self.numberDigits {
                room[Self.prefixDigits + place] = Self.digit(number, Self.numberDigits - 1 - place)
            }
            return Self.prefixDigits + Self.numberDigits
        }
    }

    /// - Parameter place: counted from the last digit, which is 0.
    private static func digit(_ number: UInt64, _ place: Int) -> UInt8 {
        digits.utf8Start[Int(truncatingIfNeeded: number >> UInt64(5 * place)) & 31]
    }

    /// The client's own id for its request; `nil` when it is not usable.
    init?(sent name: some Collection<UInt8>) {
        guard (1...128).contains(name.count), name.allSatisfy(Self.isUsable) else { return nil }
        text = String(decoding: name, as: UTF8.self)
    }

    private static func isUsable(_ character: UInt8) -> Bool {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    /// How many characters there are.
    public var count: Int { text.utf8.count }

    /// Calls `body` with the characters.
    @inline(__always)
    public func withBytes(_ body: (UnsafeRawBufferPointer) -> Void) {
        var text = text
        text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }
}

extension RequestID: CustomStringConvertible {
    public var description: String { text }
}

/// Gives each request its id: the client's if it sent a usable one, otherwise a new one.
///
/// New ids have 15 characters: five are drawn when the server starts, the others are the request's number.
struct RequestIDs: Sendable {
    private let prefix = UInt32.random(in: 0..<(1 << 25))

    /// - Parameter number: unique among the server's requests.
    func id(of fields: HTTPRequestFields, number: UInt64) -> RequestID {
        if let sent = fields.bytes(of: .requestID).flatMap({ RequestID(sent: $0) }) { return sent }
        return RequestID(prefix: prefix, number: number)
    }
}
