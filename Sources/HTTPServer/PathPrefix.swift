/// The path under which a proxy publishes a server: it stands before the path of every address that the server gives.
///
/// It is fixed, or each request says it in `X-Forwarded-Prefix`, if it comes from a trusted proxy. A fixed one counts
/// alone, because a proxy that does not know the field passes on what a client wrote.
final class PathPrefix: Sendable {
    private let fixed: String
    private let proxies: TrustedProxies?

    /// Nil for a server that has none: its requests do not look for one.
    init?(_ configuration: HTTPServerConfiguration) {
        // Behind the PROXY protocol a request comes from its client's address, not from the proxy's.
        let proxies = configuration.trustedProxies.flatMap { $0.field == .proxyProtocol ? nil : $0 }
        guard configuration.basePath != nil || proxies != nil else { return nil }
        fixed = configuration.basePath ?? ""
        self.proxies = configuration.basePath == nil ? proxies : nil
    }

    /// Empty where there is none.
    func text(for fields: HTTPRequestFields, from peer: PeerAddress) -> String {
        guard fields.contains(.forwardedPrefix), let proxies else { return fixed }
        guard proxies.contains(peer), case .one(var value) = fields.only(.forwardedPrefix) else { return "" }
        if value.last == UInt8(ascii: "/") { value = value.dropLast() }
        return Self.isValid(value) ? String(decoding: value, as: UTF8.self) : ""
    }

    private static let mostBytes = 256

    /// Whether it is a slash and a segment, maybe several times, of characters that mean nothing anywhere (RFC 3986,
    /// section 2.3). Two slashes at its beginning would make it the name of another host.
    static func isValid(_ path: some Collection<UInt8>) -> Bool {
        guard path.first == UInt8(ascii: "/"), path.count <= mostBytes else { return false }
        return path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy {
            !$0.isEmpty && $0.allSatisfy(\.isUnreserved) && !$0.elementsEqual(".".utf8) && !$0.elementsEqual("..".utf8)
        }
    }
}

extension HTTPServerConfiguration {
    /// Whether ``basePath`` may have this value: `/` and a segment, maybe several times, of letters, digits and `-._~`,
    /// with at most 256 bytes.
    public static func isBasePath(_ text: String) -> Bool { PathPrefix.isValid(text.utf8) }
}

extension UInt8 {
    fileprivate var isUnreserved: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: "-._~".utf8.contains(self)
        }
    }
}
