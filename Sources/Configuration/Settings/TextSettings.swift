import Glibc
import HTTPServer
import JSONDocument

extension Setting where Value == String {
    private static func text(
        _ name: String, _ allowed: String, examples: String? = nil, schema: JSONDocument,
        isAllowed: @escaping @Sendable (String) -> Bool
    ) -> Self {
        Self(
            name: name, allowed: allowed, examples: examples, schema: schema,
            read: { $0.string.flatMap { isAllowed($0) ? $0 : nil } }, show: \.inJSON)
    }

    /// A file or directory. In a file, it is relative to that file; elsewhere to the working directory.
    static var path: Self {
        // A NUL would end the path early in system calls.
        var path = text("path", "a path", schema: ["type": "string", "minLength": 1]) {
            !$0.isEmpty && !$0.utf8.contains(0)
        }
        path.isPath = true
        return path
    }

    /// The name of a cookie (RFC 6265, section 4.1.1), without the prefixes that browsers know.
    static var cookieName: Self {
        text(
            "string", "1 to 64 letters, digits and _.-",
            schema: ["type": "string", "pattern": "^[A-Za-z0-9_.-]{1,64}$"]
        ) { text in
            (1...64).contains(text.utf8.count) && !text.hasPrefix("__")
                && text.utf8.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."),
                        UInt8(ascii: "-"):
                        true
                    default: false
                    }
                }
        }
    }

    /// The id of a flow. Whether the flow exists is checked when the flow files have been read.
    static var flowName: Self {
        text("flow", "the id of a flow", schema: ["type": "string", "minLength": 1]) { !$0.isEmpty }
    }

    /// The name of tasks that no flow has.
    static var taskName: Self {
        text("task", "the name of a task", schema: ["type": "string", "minLength": 1]) { !$0.isEmpty }
    }

    /// What keys of Redis begin with. Braces would decide to which node of a cluster a key belongs, and characters with
    /// a meaning in patterns would allow Redis' user more keys, or others, than those.
    static var redisPrefix: Self {
        text(
            "string", "1 to 32 letters, digits and _.:-",
            schema: ["type": "string", "pattern": "^[A-Za-z0-9_.:-]{1,32}$"]
        ) { text in
            (1...32).contains(text.utf8.count)
                && text.unicodeScalars.allSatisfy { scalar in
                    switch scalar {
                    case "A"..."Z", "a"..."z", "0"..."9", "_", ".", ":", "-": true
                    default: false
                    }
                }
        }
    }

    /// An address to listen on. Names are not looked up, so that a server's address does not depend on a resolver.
    static var address: Self {
        text(
            "address", "an IPv4 or IPv6 address, localhost, unix: and a path of at most 107 bytes, or systemd",
            schema: ["type": "string", "pattern": "^(localhost|systemd|[0-9.]+|[0-9a-fA-F:.]+|unix:.+)$"],
            isAllowed: ListenAddress.isValid)
    }

    /// What stands before the paths of a server's addresses.
    static var basePath: Self {
        text(
            "string", "a path of letters, digits and -._~, without a final slash", examples: "\"/concierge\"",
            schema: ["type": "string", "pattern": "^(/[A-Za-z0-9._~-]+)+$", "maxLength": 256],
            isAllowed: HTTPServerConfiguration.isBasePath)
    }

    /// Where something is sent: a URL of HTTP (RFC 9110, section 4.2).
    static var webAddress: Self {
        var setting = text(
            "URL", "an http or https URL without user, password and fragment",
            examples: "\"https://back-end.example/tasks\"",
            schema: ["type": "string", "pattern": "^https?://[^/?#@]", "maxLength": 2048]
        ) { text in
            guard text.utf8.count <= 2_048,
                text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }),
                let scheme = ["https://", "http://"].first(where: { text.hasPrefix($0) })
            else { return false }
            let authority = text.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" }
            // A password in an address ends up in logs.
            return !authority.isEmpty && !authority.hasPrefix(":") && !authority.contains("@")
        }
        // It may have a password, or a token in its query.
        setting.fault = { _ in hidden }
        return setting
    }
}

extension Setting where Value == Secret {
    /// A text that must not be guessed and is never printed. Sixteen random letters and digits are about 95 bits, which
    /// cannot be guessed over a network; a header field must hold the longest.
    static var secret: Self {
        Self(
            name: "secret", allowed: "16 to 256 visible ASCII characters, without blanks",
            schema: ["type": "string", "pattern": "^[!-~]{16,256}$"],
            read: { written in
                guard let text = written.string, (16...256).contains(text.utf8.count),
                    text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
                else { return nil }
                return Secret(text)
            }, show: { _ in Secret.mask.inJSON }, isSecret: true)
    }
}

extension Setting where Value == [String] {
    /// Web origins (RFC 6454): scheme, host and perhaps a port, as browsers send them in `Origin`.
    static var origins: Self {
        list(
            "list of origins",
            "a list of origins: scheme, host, port unless implied; lower case, no path; "
                + "`*` only for the first of three or more labels",
            examples: "[\"https://app.example.org\", \"http://localhost:3000\", \"https://*.preview.example.org\"]",
            pattern: #"^[a-z][a-z0-9+.-]*://((\*\.)?[a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]+)?$"#,
            of: { WebOrigin.isAllowed($0) ? $0 : nil },
            reason: {
                switch $0 {
                case "*": ", which would let every site act for its visitors"
                case "null": ", which stands for every page without an origin"
                case let origin where origin.contains("*"): ", which would allow more than the labels of one domain"
                default: ""
                }
            })
    }
}

extension Setting where Value == [String] {
    /// Names of header fields (RFC 9110, section 5.1).
    static var fieldNames: Self {
        list(
            "list of names", "a list of names of header fields", examples: "[\"traceparent\", \"x-client-version\"]",
            pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$", of: { $0 != "*" && HTTPFieldName.isValid($0) ? $0 : nil },
            reason: { $0 == "*" ? ", which browsers take for a name where a page sends cookies" : "" })
    }
}

extension Setting where Value == [AddressRange] {
    /// Networks, such as those of the proxies in front of the server.
    static var networks: Self {
        list(
            "list of networks", "a list of IPv4 or IPv6 addresses and networks, without bits behind the prefix",
            examples: "[\"10.0.0.0/8\", \"2001:db8::/32\"]", pattern: "^[0-9a-fA-F:.]+(/[0-9]{1,3})?$",
            of: { AddressRange($0) })
    }
}

extension Setting {
    /// - Parameter reason: why an item is not allowed, to follow the item.
    private static func list<Item>(
        _ name: String, _ allowed: String, examples: String, pattern: JSONDocument,
        of item: @escaping @Sendable (String) -> Item?, reason: @escaping @Sendable (String) -> String = { _ in "" }
    ) -> Self where Value == [Item], Item: CustomStringConvertible {
        Self(
            name: name, allowed: allowed, examples: "\(examples) (outside of a file divided by commas)",
            schema: ["type": "array", "items": ["type": "string", "pattern": pattern]],
            read: { written in
                guard let items = written.items else { return nil }
                let values = items.compactMap { $0.flatMap(item) }
                return values.count == items.count ? values : nil
            },
            show: { "[" + $0.map { "\($0)".inJSON }.joined(separator: ", ") + "]" },
            fault: { written in
                guard let items = written.items, let place = items.firstIndex(where: { $0.flatMap(item) == nil })
                else { return nil }
                let shown = items[place].map(\.quoted) ?? "a value that is not a string"
                return "has \(shown) as item \(place + 1)\(items[place].map(reason) ?? "")"
            })
    }
}

/// An address to listen on, as text.
package enum ListenAddress {
    static func isValid(_ text: String) -> Bool {
        if let path = path(text) { return (1...107).contains(path.utf8.count) && !path.utf8.contains(0) }
        return text == "localhost" || text == inherited || isOfInternet(text)
    }

    /// Stands for a socket that the process was given when it was started.
    package static let inherited = "systemd"

    /// The path of a socket in the file system, which the address names as `unix:PATH`; it is relative to the working
    /// directory.
    package static func path(_ address: String) -> Substring? {
        let scheme = "unix:"
        return address.hasPrefix(scheme) ? address.dropFirst(scheme.count) : nil
    }

    /// Whether a listener at the address has the port that the configuration names.
    @Sendable package static func hasPort(_ address: String) -> Bool { path(address) == nil && address != inherited }

    static func isOfInternet(_ text: String) -> Bool { isAddress(text, AF_INET) || isAddress(text, AF_INET6) }

    /// Whether only this machine can reach a listener at the address.
    package static func isLoopback(_ address: String) -> Bool {
        if address == "localhost" || path(address) != nil { return true }
        var v4 = in_addr()
        if inet_pton(AF_INET, address, &v4) == 1 { return UInt32(bigEndian: v4.s_addr) >> 24 == 127 }
        var v6 = in6_addr()
        guard inet_pton(AF_INET6, address, &v6) == 1 else { return false }
        return withUnsafeBytes(of: v6) { bytes in
            bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
        }
    }

    private static func isAddress(_ text: String, _ family: Int32) -> Bool {
        // Large enough for either family.
        var address = in6_addr()
        return !text.utf8.contains(0) && inet_pton(family, text, &address) == 1
    }
}

/// A web origin, as text.
private enum WebOrigin {
    static func isAllowed(_ text: String) -> Bool {
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else { return false }
        let scheme = text[..<colon]
        guard let first = scheme.utf8.first, (0x61...0x7A).contains(first), scheme.utf8.allSatisfy(isOfScheme) else {
            return false
        }
        var host = text[colon...].dropFirst(3)
        if let colon = host.lastIndex(of: ":"), host.last != "]" {
            let port = host[host.index(after: colon)...]
            // Browsers omit the scheme's default port, so such an entry could never match.
            let implied: UInt16? = ["https": 443, "http": 80][String(scheme)]
            guard let number = UInt16(port), number != 0, number != implied, String(number) == port else {
                return false
            }
            host = host[..<colon]
        }
        guard host.hasPrefix("*.") else { return isHost(host) }
        host = host.dropFirst(2)
        let labels = host.split(separator: ".")
        // The URL Standard, section 3.5: a host whose last label is a number is an address.
        return isHost(host) && host.first != "[" && labels.count >= 2 && labels.last.flatMap { UInt64($0) } == nil
    }

    /// RFC 3986, section 3.1, in lower case. Shells of apps and extensions of browsers have schemes of their own.
    private static func isOfScheme(_ byte: UInt8) -> Bool {
        isOfName(byte) && byte != UInt8(ascii: "_") || byte == UInt8(ascii: "+")
    }

    private static func isHost(_ host: Substring) -> Bool {
        if host.first == "[", host.last == "]" {
            return host.contains(":") && ListenAddress.isOfInternet(String(host.dropFirst().dropLast()))
        }
        return !host.isEmpty && host.utf8.allSatisfy(isOfName)
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
    }
}
