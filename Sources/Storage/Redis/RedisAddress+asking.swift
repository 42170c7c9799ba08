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
    ///
    /// - Parameter isAsking: whether the command's slot is only on its way to that server.
    func ask(
        _ words: RedisRequest.Word..., passwordFile: String = "redis_password_file", isAsking: Bool = false,
        until deadline: ContinuousClock.Instant
    ) throws(RedisFailure) -> RedisReply {
        let link = try RedisLink(to: self, until: deadline)
        var request = greeting
        if isAsking { request.add("ASKING") }
        request.add(words)
        let replies = try link.exchange(request, until: deadline, toleratesErrors: true)
        if let error = replies.lazy.compactMap(\.error).first {
            throw RedisGreeting.refusal(error, self, passwordFile: passwordFile)
        }
        return replies.last ?? .none
    }

    /// The server itself, or the first one that a sentinel names and that is a master
    /// (<https://redis.io/docs/latest/develop/reference/sentinel-clients/>). After a failover some sentinels know it later
    /// than others.
    func master(until deadline: ContinuousClock.Instant) throws(RedisFailure) -> RedisAddress {
        guard case .sentinels(let name) = kind else { return self }
        var failure = RedisFailure("There is none.")
        for sentinel in sentinels {
            do throws(RedisFailure) {
                let reply = try sentinel.ask(
                    "SENTINEL", "GET-MASTER-ADDR-BY-NAME", .text(name), passwordFile: "redis_sentinel_password_file",
                    until: min(deadline, .now + Self.patience))
                guard let host = reply[0].text, let port = reply[1].number.flatMap(UInt16.init(exactly:)) else {
                    throw RedisFailure("The sentinel at \(sentinel) knows no master \"\(name)\".")
                }
                let server = server(at: Place(host: host, port: port))
                if try server.ask("ROLE", until: min(deadline, .now + Self.patience))[0].text == "master" {
                    return server
                }
                throw RedisFailure("\(server), which the sentinel at \(sentinel) names, is not a master.")
            } catch {
                failure = error
            }
        }
        throw RedisFailure(
            "No sentinel names a master \"\(name)\" that responds. The last reason: \(failure.sentence)",
            isPermanent: failure.isPermanent)
    }

    /// The most time for a sentinel, and for the server that it names.
    private static let patience = Duration.milliseconds(500)
}
