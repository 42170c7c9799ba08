import Glibc

/// A block of addresses, such as `10.0.0.0/8` or `2001:db8::/32`; without a length, one address.
public struct AddressRange: Hashable, Sendable, CustomStringConvertible {
    // No text: ranges are compared with the address of each request.
    private let high, low: UInt64
    private let highMask, lowMask: UInt64

    /// - Returns: `nil` unless the text is an address, perhaps with a prefix length, without a bit behind the prefix.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let address = parts.first.flatMap({ PeerAddress(String($0)) }) else { return nil }
        // IPv4 addresses are kept mapped into IPv6.
        let offset = parts[0].contains(":") ? 0 : 96
        var length = 128
        if parts.count == 2 {
            guard let written = UInt8(parts[1]), String(written) == parts[1], Int(written) + offset <= 128 else {
                return nil
            }
            length = Int(written) + offset
        }
        // A shift by 64 or more gives 0.
        highMask = length >= 64 ? .max : ~(UInt64.max >> UInt64(length))
        lowMask = length <= 64 ? 0 : UInt64.max << UInt64(128 - length)
        guard address.high & ~highMask == 0, address.low & ~lowMask == 0 else { return nil }
        (high, low) = (address.high, address.low)
    }

    public var description: String {
        let length = highMask.nonzeroBitCount + lowMask.nonzeroBitCount
        let address = PeerAddress(high: high, low: low, port: 0)
        let host = high | low == 0 ? "::" : address.host
        let offset = address.isIPv4 && length >= 96 ? 96 : 0
        return length == 128 ? host : "\(host)/\(length - offset)"
    }

    /// Whether every address is in the block, or every IPv4 address.
    public var isEverything: Bool {
        (highMask, lowMask) == (0, 0) || (high, low >> 32) == (0, 0xFFFF) && (highMask, lowMask) == (.max, .max << 32)
    }

    /// Whether the address is in the block.
    public func contains(_ address: PeerAddress) -> Bool {
        ((address.high ^ high) & highMask) | ((address.low ^ low) & lowMask) == 0
    }
}
