/// What a user of Redis must be allowed, as docs/scaling.md has it.
enum RedisRights {
    /// As arguments of `ACL SETUSER`, without name and password.
    static func rules(prefix: String) -> [String] {
        ["on", "resetkeys", "~\(prefix)*", "resetchannels", "&\(prefix)*", "-@all"]
            + (commands.map(\.first) + [settings]).map { "+\($0)" }
    }

    /// To see Redis' own settings. Without this right they are not checked.
    static let settings = "config|get"

    /// Samples of all commands that the store sends, in scripts and otherwise.
    private static let commands: [(first: String, rest: String)] = [
        ("asking", ""), ("cluster|slots", ""), ("del", "KEY"), ("evalsha", "sha 0"), ("get", "KEY"),
        ("hdel", "KEY f"), ("hexists", "KEY f"), ("hget", "KEY f"), ("hgetall", "KEY"),
        ("hkeys", "KEY"), ("hmget", "KEY f"), ("hset", "KEY f v"), ("hsetnx", "KEY f v"), ("pexpire", "KEY 1"),
        ("pexpireat", "KEY 1"), ("ping", ""), ("role", ""), ("sadd", "KEY m"), ("script|load", "x"), ("select", "0"),
        ("set", "KEY v"), ("smembers", "KEY"), ("spublish", "KEY m"), ("srem", "KEY m"), ("ssubscribe", "KEY"),
        ("sunsubscribe", "KEY"), ("time", ""), ("wait", "0 0"), ("zadd", "KEY 0 m"), ("zcard", "KEY"),
        ("zrange", "KEY 0 -1"),
        ("zrangebylex", "KEY - +"), ("zrangebyscore", "KEY 0 1"), ("zrem", "KEY m"),
    ]

    /// Asks which of these rights are missing, without doing anything.
    static func question(_ keys: RedisKeys) -> RedisRequest {
        var request = RedisRequest()
        request.add(
            ["EVALSHA", .text(RedisScript.rights.digest), "0", .text(keys.floor)]
                + commands.map { command in
                    .text("\(String(command.first.map { $0 == "|" ? " " : $0 })) \(command.rest)")
                })
        return request
    }

    /// - Parameter reply: to ``question(_:)``: the commands that are missing.
    static func refusal(_ reply: RedisReply, _ address: RedisAddress, prefix: String) -> RedisFailure? {
        let missing = reply.list.compactMap { $0.text.map { $0.uppercased() } }
        guard !missing.isEmpty else { return nil }
        let user = address.user ?? "default"
        return RedisFailure(
            "User \"\(user)\" of \(address) may not use \(missing.joined(separator: ", ")) with keys and channels "
                + "\(prefix)*: docs/scaling.md has the rules that it needs.", isPermanent: true)
    }
}
