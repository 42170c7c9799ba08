import JSONDocument
import RedisStorage

extension Setting where Value == Configuration.Store {
    /// The store of sessions: a scheme, for some stores followed by an address.
    static var store: Self {
        Self(
            name: "store",
            allowed:
                "memory, redis://[USER@]HOST[:PORT][/DATABASE], redis+sentinel://[USER@]HOST[:PORT],…/MASTER[/DATABASE], "
                + "redis+cluster://[USER@]HOST[:PORT],… (with TLS rediss), or sqlite: and the path of a file",
            schema: ["type": "string", "pattern": "^(memory|sqlite:.+|rediss?(\\+sentinel|\\+cluster)?://.+)$"],
            read: { $0.string.flatMap(Configuration.Store.init) }, show: { $0.description.inJSON },
            fault: { $0.string.flatMap(fault(ofAddress:)) }, guess: { $0.string.flatMap(guess(for:)) })
    }

    private static func fault(ofAddress text: String) -> String? {
        guard text.lowercased().hasPrefix("redis") else { return nil }
        do throws(RedisAddressError) {
            _ = try RedisAddress(text)
            return "has a password (not shown), which belongs in the file of redis_password_file"
        } catch {
            // It may have a password.
            return "is not what it should be (not shown): \(error)"
        }
    }

    private static func guess(for text: String) -> String? {
        let scheme = text.prefix { $0 != ":" }
        if scheme == "sqlite" { return Configuration.Store.guess(ofFile: text.dropFirst(scheme.count + 1)) }
        guard let nearest = NearestName.of(String(scheme), among: Configuration.Store.schemes) else { return nil }
        guard nearest != "redis" else { return nil }
        let address = nearest == "sqlite" ? ":" + text.dropFirst(scheme.count + 1) : ""
        return "\"\(nearest)\(address)\""
    }
}

extension Configuration {
    /// The store of sessions. A further kind of store is a case here.
    package enum Store: Sendable, Equatable {
        case memory
        /// In an SQLite database, in the file of that path, relative to the working directory.
        case sqlite(String)
        /// In Redis, which other servers may use as well.
        case redis(RedisAddress)
    }
}

extension Configuration.Store: CustomStringConvertible {
    static let schemes = ["memory", "sqlite", "redis"]

    /// Reads `memory`, `sqlite:FILE`, or an address of Redis.
    init?(_ text: String) {
        let prefix = "sqlite:"
        if text == "memory" {
            self = .memory
        } else if text.hasPrefix(prefix), Self.isPath(text.dropFirst(prefix.count)) {
            self = .sqlite(String(text.dropFirst(prefix.count)))
        } else if let address = try? RedisAddress(text), address.password == nil {
            self = .redis(address)
        } else {
            return nil
        }
    }

    /// Whether SQLite takes the text for the path of a file, and for nothing else
    /// (<https://www.sqlite.org/c3ref/open.html>, <https://www.sqlite.org/uri.html>).
    private static func isPath(_ text: Substring) -> Bool {
        !text.isEmpty && !text.utf8.contains(0) && text != ":memory:" && !text.hasPrefix(uriScheme)
    }

    private static let uriScheme = "file:"

    /// What the operator may have meant by a text that SQLite does not take for a path.
    fileprivate static func guess(ofFile text: Substring) -> String? {
        if text.contains(":memory:") || text.contains("mode=memory") { return "\"memory\"" }
        guard text.hasPrefix(uriScheme) else { return nil }
        let path = text.dropFirst(uriScheme.count).prefix { $0 != "?" && $0 != "#" }
        return path.isEmpty ? nil : "\"sqlite:\(path)\""
    }

    /// As in the configuration.
    package var description: String {
        switch self {
        case .memory: "memory"
        case .sqlite(let path): "sqlite:\(path)"
        case .redis(let address): address.description
        }
    }

    /// Only its scheme.
    package var kind: String {
        switch self {
        case .memory: "memory"
        case .sqlite: "sqlite"
        case .redis: "redis"
        }
    }
}
