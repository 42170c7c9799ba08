import Glibc

/// The address of a connection's other end, kept as bytes and formatted on request.
public struct PeerAddress: Hashable, Sendable {
    /// 16 bytes, IPv4 mapped into IPv6 (RFC 4291, section 2.5.5.2); all zero when unknown.
    let high, low: UInt64
    /// The port of the other end.
    public let port: UInt16

    /// The address of a connection without a known peer.
    public static let unknown = PeerAddress(high: 0, low: 0, port: 0)

    init(high: UInt64, low: UInt64, port: UInt16) {
        self.high = high
        self.low = low
        self.port = port
    }

    init(_ address: UnsafePointer<sockaddr>?) {
        guard let address else {
            self = .unknown
            return
        }
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            self = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                PeerAddress($0.pointee.sin_addr, port: UInt16(bigEndian: $0.pointee.sin_port))
            }
        case AF_INET6:
            self = address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                PeerAddress($0.pointee.sin6_addr, port: UInt16(bigEndian: $0.pointee.sin6_port))
            }
        default: self = .unknown
        }
    }

    /// The address that a text names, without a port: `192.0.2.1` or `2001:db8::1`.
    public init?(_ text: String) {
        guard !text.utf8.contains(0) else { return nil }
        var v4 = in_addr()
        var v6 = in6_addr()
        if inet_pton(AF_INET, text, &v4) == 1 {
            self.init(v4, port: 0)
        } else if inet_pton(AF_INET6, text, &v6) == 1 {
            self.init(v6, port: 0)
        } else {
            return nil
        }
    }

    private init(_ address: in_addr, port: UInt16) {
        self.init(high: 0, low: 0xFFFF << 32 | UInt64(UInt32(bigEndian: address.s_addr)), port: port)
    }

    private init(_ address: in6_addr, port: UInt16) {
        self = withUnsafeBytes(of: address) { bytes in
            PeerAddress(
                high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)), port: port)
        }
    }

    var isIPv4: Bool { high == 0 && low >> 32 == 0xFFFF }

    /// The same for all addresses that one client has: an IPv4 address, or the /64 of an IPv6 address.
    public var network: UInt64 { isIPv4 ? low : high }

    /// Without the port, such as `192.0.2.1` or `2001:db8::1`; empty when unknown.
    public var host: String {
        withUnsafeTemporaryAllocation(byteCount: Self.hostBytes, alignment: 1) { buffer in
            String(decoding: buffer[..<writeHost(to: buffer)], as: UTF8.self)
        }
    }

    /// The most bytes of ``host``.
    public static let hostBytes = Int(INET6_ADDRSTRLEN)

    /// Writes ``host`` without making a string, because each line of a log has one.
    /// - Parameter buffer: has room for ``hostBytes``.
    /// - Returns: how many bytes were written.
    public func writeHost(to buffer: UnsafeMutableRawBufferPointer) -> Int {
        if high | low == 0 { return 0 }
        guard isIPv4 else {
            var address = in6_addr()
            withUnsafeMutableBytes(of: &address) {
                $0.storeBytes(of: high.bigEndian, as: UInt64.self)
                $0.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
            }
            let text = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
            return inet_ntop(AF_INET6, &address, text, socklen_t(buffer.count)).map { strlen($0) } ?? 0
        }
        var end = 0
        func append(_ byte: UInt8) {
            buffer[end] = byte
            end += 1
        }
        for shift: UInt64 in [24, 16, 8, 0] {
            let part = UInt8(truncatingIfNeeded: low >> shift)
            if part >= 100 { append(UInt8(ascii: "0") + part / 100) }
            if part >= 10 { append(UInt8(ascii: "0") + part / 10 % 10) }
            append(UInt8(ascii: "0") + part % 10)
            if shift > 0 { append(UInt8(ascii: ".")) }
        }
        return end
    }
}

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
