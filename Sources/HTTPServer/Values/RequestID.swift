/// What a request is called in its answer's `Request-Id` and in the log: 1 to 128 letters, digits and `-._`, so that it
/// may stand anywhere as it is.
public struct RequestID: Sendable, Hashable {
    /// A name that the server made is in place: neither making nor forgetting it takes memory.
    private enum Form: Sendable {
        case made(InlineArray<16, UInt8>)
        case sent([UInt8])
    }

    private let form: Form

    /// How many characters a name has that the server made.
    static let madeLength = prefixDigits + numberDigits
    private static let prefixDigits = 5
    private static let numberDigits = 10
    private static var digits: StaticString { "0123456789abcdefghjkmnpqrstvwxyz" }

    /// - Parameter prefix: 25 bits, that are the server's.
    /// - Parameter number: of which the lowest 50 bits count.
    init(prefix: UInt32, number: UInt64) {
        var characters = InlineArray<16, UInt8>(repeating: 0)
        for place in 0..<Self.prefixDigits {
            characters[place] = Self.digit(UInt64(prefix), Self.prefixDigits - 1 - place)
        }
        for place in 0..<Self.numberDigits {
            characters[Self.prefixDigits + place] = Self.digit(number, Self.numberDigits - 1 - place)
        }
        form = .made(characters)
    }

    /// - Parameter place: from the last digit, which is 0.
    private static func digit(_ number: UInt64, _ place: Int) -> UInt8 {
        digits.utf8Start[Int(truncatingIfNeeded: number >> UInt64(5 * place)) & 31]
    }

    /// The client's own name for its request; nil when it is not one that may stand anywhere.
    init?(sent name: some Collection<UInt8>) {
        guard (1...128).contains(name.count), name.allSatisfy(Self.isUsable) else { return nil }
        form = .sent(Array(name))
    }

    private static func isUsable(_ character: UInt8) -> Bool {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    /// The characters as a string.
    public var text: String {
        var text = ""
        lend { text = String(decoding: $0, as: UTF8.self) }
        return text
    }

    /// How many characters there are.
    public var count: Int {
        switch form {
        case .made: Self.madeLength
        case .sent(let name): name.count
        }
    }

    /// Gives `body` the characters.
    @inline(__always)
    public func lend(to body: (UnsafeRawBufferPointer) -> Void) {
        switch form {
        case .made(let characters):
            characters.span.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[..<Self.madeLength])) }
        case .sent(let name): name.withUnsafeBytes(body)
        }
    }
}

extension RequestID {
    public static func == (left: Self, right: Self) -> Bool { left.text == right.text }

    public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension RequestID: CustomStringConvertible {
    public var description: String { text }
}

/// Gives each request its name: the client's, when it sent one that can stand in a log, or else a new one.
///
/// New ones have 15 characters: five drawn when the server starts, then the request's number.
struct RequestIDs: Sendable {
    private let prefix = UInt32.random(in: 0..<(1 << 25))

    /// - Parameter number: the request's, which no other has.
    func id(of head: HTTPHead, number: UInt64) -> RequestID {
        let place = head.place(of: .requestID)
        if place.count > 0, let sent = RequestID(sent: head.value(Int(place.first))) { return sent }
        return RequestID(prefix: prefix, number: number)
    }
}
