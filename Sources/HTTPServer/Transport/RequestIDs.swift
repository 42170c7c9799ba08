/// Gives each request its name: the client's, when it sent one that can stand in a log, or else a new one.
///
/// New ones have 15 characters, which is what a Swift string holds without allocating: five drawn when the
/// server starts, then the request's number.
struct RequestIDs: Sendable {
    private static var digits: StaticString { "0123456789abcdefghjkmnpqrstvwxyz" }
    private static let prefixDigits = 5
    private static let numberDigits = 10

    private let prefix = UInt32.random(in: 0..<(1 << 25))

    /// - Parameter number: the request's, which no other has.
    func id(of head: HTTPHead, number: UInt64) -> String {
        let place = head.place(of: .requestID)
        if place.count > 0 {
            let sent = head.value(Int(place.first))
            if Self.isUsable(sent) { return String(decoding: sent, as: UTF8.self) }
        }
        return id(number)
    }

    private func id(_ number: UInt64) -> String {
        let digits = Self.digits.utf8Start
        return String(unsafeUninitializedCapacity: Self.prefixDigits + Self.numberDigits) { buffer in
            for index in 0..<Self.prefixDigits {
                buffer[index] = digits[Int(prefix >> (UInt32(Self.prefixDigits - 1 - index) * 5)) & 31]
            }
            for index in 0..<Self.numberDigits {
                let digit = Int(truncatingIfNeeded: number >> (UInt64(Self.numberDigits - 1 - index) * 5)) & 31
                buffer[Self.prefixDigits + index] = digits[digit]
            }
            return Self.prefixDigits + Self.numberDigits
        }
    }

    private static func isUsable(_ id: ArraySlice<UInt8>) -> Bool {
        (1...128).contains(id.count)
            && id.allSatisfy {
                switch $0 {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
