/// The proxies that are trusted to tell the client's address.
///
/// Each proxy appends the address of its own peer to the field. So the list is read from the right: while an address is
/// a trusted proxy's, the entry to its left was written by that proxy. The first address that is not a trusted proxy's
/// is the client's. What stands to its left the client wrote itself, and is ignored. An entry that is no
/// address, such as `unknown`, ends the walk; the client's address is then that of the proxy that wrote the entry.
/// Of a malformed `Forwarded` only the last entry counts, which the last proxy wrote; where that names no client, the
/// address is unknown.
public struct TrustedProxies: Sendable {
    /// Where the proxies write it. Only one counts: proxies pass on the others as the client sent them.
    public enum Field: String, Sendable, CaseIterable {
        /// RFC 7239.
        case forwarded
        /// Addresses, divided by commas.
        case xForwardedFor = "x-forwarded-for"
        /// No field, but bytes before the first request of a connection, and before TLS: the PROXY protocol, version 1
        /// or 2 (<https://www.haproxy.org/download/2.6/doc/proxy-protocol.txt>). All connections from the proxies'
        /// networks must begin with them.
        case proxyProtocol = "proxy-protocol"
    }

    /// The proxies' own addresses.
    public var networks: [AddressRange]
    /// Where they write it.
    public var field: Field

    /// Trusts what comes from these networks.
    public init(networks: [AddressRange], field: Field) {
        self.networks = networks
        self.field = field
    }

    func contains(_ address: PeerAddress) -> Bool { networks.contains { $0.contains(address) } }

    /// The client's address, for a request that came from `peer`.
    func client(behind peer: PeerAddress, _ fields: HTTPRequestFields) -> PeerAddress {
        var client = peer
        guard contains(peer) else { return client }
        guard let nodes = nodes(fields) else { return .unknown }
        for node in nodes.reversed() {
            guard let address = node.flatMap(PeerAddress.init(node:)) else { break }
            client = address
            guard contains(address) else { break }
        }
        return client
    }

    /// The entries in their order, with `nil` for one without an address; the whole is `nil` when the field is
    /// malformed and its last one names no client.
    private func nodes(_ fields: HTTPRequestFields) -> [String?]? {
        switch field {
        case .forwarded:
            let text = fields.values(of: Self.forwarded).joined(separator: ",")
            var list = ForwardedList(text)
            return list.nodes() ?? lastNode(of: text).map { [$0] }
        case .proxyProtocol: return []
        case .xForwardedFor:
            return fields.values(of: Self.xForwardedFor).flatMap { line in
                line.split(separator: ",", omittingEmptySubsequences: false).map {
                    String(ArraySlice($0.utf8).unpadded)
                }
            }
        }
    }

    /// Of a list with a mistake in it, which may divide into entries elsewhere than its last writer thought: what is
    /// behind the last comma, if that is no proxy's address.
    private func lastNode(of text: String) -> String? {
        guard let comma = text.lastIndex(of: ",") else { return nil }
        var list = ForwardedList(String(text[text.index(after: comma)...]))
        guard let node = list.nodes()?.first ?? nil, let address = PeerAddress(node: node), !contains(address) else {
            return nil
        }
        return node
    }

    private static let forwarded = HTTPFieldName("Forwarded")
    private static let xForwardedFor = HTTPFieldName("X-Forwarded-For")
}

extension PeerAddress {
    /// RFC 7239, section 6: an address, perhaps with a port; one of IPv6 is in brackets. Without a port, many proxies
    /// leave out the brackets.
    fileprivate init?(node: String) {
        if let address = PeerAddress(node) {
            self = address
            return
        }
        let isBracketed = node.first == "["
        guard let end = node.firstIndex(of: isBracketed ? "]" : ":") else { return nil }
        let host = isBracketed ? node[..<end].dropFirst() : node[..<end]
        let port = node[end...].dropFirst(isBracketed ? 1 : 0)
        guard port.isEmpty || (port.first == ":" && UInt16(port.dropFirst()) != nil),
            let address = PeerAddress(String(host)), isBracketed == host.contains(":")
        else { return nil }
        self = address
    }
}

extension ArraySlice<UInt8> {
    /// Without blanks at both ends.
    fileprivate var unpadded: String {
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        return String(decoding: drop(while: isBlank).reversed().drop(while: isBlank).reversed(), as: UTF8.self)
    }
}

/// The value of `Forwarded`, RFC 7239, section 4: elements divided by commas, of pairs divided by semicolons.
private struct ForwardedList {
    private var rest: ArraySlice<UInt8>

    init(_ text: String) { rest = ArraySlice(text.utf8) }

    /// The value of `for` of each element; the whole is `nil` when the text is malformed.
    mutating func nodes() -> [String?]? {
        var nodes: [String?] = []
        while !rest.isEmpty {
            var node: String?
            repeat {
                skipBlanks()
                let name = take { $0.isTokenByte }
                guard !name.isEmpty else { continue }
                guard skip("="), let value = value() else { return nil }
                guard name.lowercased() == "for" else { continue }
                guard node == nil else { return nil }
                node = value
            } while skip(";", afterBlanks: true)
            nodes.append(node)
            guard rest.isEmpty || skip(",") else { return nil }
        }
        return nodes
    }

    private mutating func skip(_ character: Unicode.Scalar, afterBlanks: Bool = false) -> Bool {
        if afterBlanks { skipBlanks() }
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func skipBlanks() {
        rest = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    }

    private mutating func take(while isPart: (UInt8) -> Bool) -> String {
        let part = rest.prefix(while: isPart)
        rest = rest[part.endIndex...]
        return String(decoding: part, as: UTF8.self)
    }

    /// A token or a quoted string. Some proxies leave out the quotes that a port or brackets need.
    private mutating func value() -> String? {
        guard skip("\"") else {
            let token = take { $0.isTokenByte || ":[]".utf8.contains($0) }
            return token.isEmpty ? nil : token
        }
        var text: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { return String(decoding: text, as: UTF8.self) }
            guard byte != UInt8(ascii: "\\") else {
                guard let escaped = rest.popFirst() else { return nil }
                text.append(escaped)
                continue
            }
            text.append(byte)
        }
        return nil
    }
}
