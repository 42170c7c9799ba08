/// What an address leads to.
extension RedisAddress {
    /// What a connection to a server begins with.
    var greeting: RedisRequest {
        var greeting = RedisRequest()
        if let password { greeting.add(["AUTH"] + (user.map { [.text($0)] } ?? []) + [.text(password)]) }
        if database != 0 { greeting.add("SELECT", .text(String(database))) }
        return greeting
    }

    /// The reply of a server to one command, on a connection of its own.
    func ask(
        _ words: RedisRequest.Word..., passwordFile: String = "redis_password_file",
        until deadline: ContinuousClock.Instant
    ) throws(RedisFailure) -> RedisReply {
        let link = try RedisLink(to: self, until: deadline)
        var request = greeting
        request.add(words)
        let replies = try link.exchange(request, until: deadline, toleratesErrors: true)
        if let error = replies.lazy.compactMap(\.error).first {
            throw RedisGreeting.refusal(error, self, passwordFile: passwordFile)
        }
        return replies.last ?? .none
    }

    /// The server itself, or the one that the first sentinel to respond names
    /// (<https://redis.io/docs/latest/develop/reference/sentinel-clients/>).
    func master(until deadline: ContinuousClock.Instant) throws(RedisFailure) -> RedisAddress {
        guard case .sentinels(let name) = kind else { return self }
        var reason = ""
        for sentinel in sentinels {
            do throws(RedisFailure) {
                let reply = try sentinel.ask(
                    "SENTINEL", "GET-MASTER-ADDR-BY-NAME", .text(name), passwordFile: "redis_sentinel_password_file",
                    until: min(deadline, .now + .milliseconds(500)))
                if let host = reply[0].text, let port = reply[1].number.flatMap(UInt16.init(exactly:)) {
                    return server(at: Place(host: host, port: port))
                }
                reason = "The sentinel at \(sentinel) knows no master \"\(name)\"."
            } catch {
                reason = error.sentence
            }
        }
        throw RedisFailure("No sentinel names the master \"\(name)\". The last one: \(reason)")
    }
}
