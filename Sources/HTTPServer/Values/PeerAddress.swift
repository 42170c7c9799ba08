import Glibc

/// The address of a connection's other end, kept as bytes and formatted on request.
public struct PeerAddress: Hashable, Sendable {
    /// 16 bytes, IPv4 mapped into IPv6 (RFC 4291, section 2.5.5.2); all zero when unknown.
    let high, low: UInt64
    /// The port of the other end.
    public let port: UInt16

    /// The address of a connection without a known peer.
    public static let unknown = PeerAddress(high: 0, low: 0, port: 0)

    private init(high: UInt64, low: UInt64, port: UInt16) {
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
                PeerAddress(
                    high: 0, low: 0xFFFF << 32 | UInt64(UInt32(bigEndian: $0.pointee.sin_addr.s_addr)),
                    port: UInt16(bigEndian: $0.pointee.sin_port))
            }
        case AF_INET6:
            self = address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
                withUnsafeBytes(of: pointer.pointee.sin6_addr) { bytes in
                    PeerAddress(
                        high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                        low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
                        port: UInt16(bigEndian: pointer.pointee.sin6_port))
                }
            }
        default: self = .unknown
        }
    }

    /// Without the port, such as `192.0.2.1` or `2001:db8::1`; empty when unknown.
    public var host: String {
        if self == .unknown { return "" }
        if high == 0, low >> 32 == 0xFFFF {
            return [24, 16, 8, 0].map { String(low >> UInt64($0) & 0xFF) }.joined(separator: ".")
        }
        var address = in6_addr()
        withUnsafeMutableBytes(of: &address) {
            $0.storeBytes(of: high.bigEndian, as: UInt64.self)
            $0.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
            inet_ntop(AF_INET6, &address, buffer.baseAddress, socklen_t(buffer.count)).map { String(cString: $0) } ?? ""
        }
    }
}
