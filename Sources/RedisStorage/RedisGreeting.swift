import Sessions

/// The first commands on a new connection: who we are, which database, and whether this Redis can be used.
enum RedisGreeting {
    /// - Throws: ``RedisFailure``, which is permanent when trying again cannot help.
    static func say(
        to link: RedisLink, at address: RedisAddress, until deadline: ContinuousClock.Instant
    ) throws(RedisFailure) {
        var greeting = address.greeting
        let place = greeting.count
        // Every user may say it, and the reply has the version.
        greeting.add("HELLO", "2")
        greeting.add("PING")
        let replies = try link.exchange(greeting, until: deadline, toleratesErrors: true)
        for reply in replies {
            if let error = reply.error { throw refusal(error, address) }
        }
        let hello = replies[place].list
        guard let name = hello.firstIndex(where: { $0.text == "version" }), let version = replies[place][name + 1].text,
            let major = Int(version.prefix { $0 != "." })
        else { throw RedisFailure("\(address) does not say which version it has.") }
        guard major >= 7 else { throw tooOld(address, "has version \(version)") }
    }

    private static func tooOld(_ address: RedisAddress, _ what: String) -> RedisFailure {
        RedisFailure("\(address) \(what) of Redis: 7.0 or newer is needed.", isPermanent: true)
    }

    /// What an error of Redis means for a connection.
    ///
    /// - Parameter passwordFile: the key that names the file of the password.
    static func refusal(
        _ error: String, _ address: RedisAddress, passwordFile: String = "redis_password_file"
    ) -> RedisFailure {
        let user = "user \"\(address.user ?? "default")\""
        let advice: String
        switch error.prefix(while: { $0 != " " }) {
        case "WRONGPASS":
            advice = "there is no \(user), or its password is another one than in \(passwordFile)"
        case "NOAUTH":
            // What Redis says is about its protocol.
            return RedisFailure(
                "\(address) wants a password: name the file of the password in \(passwordFile).", isPermanent: true)
        case "NOPERM": advice = "docs/scaling.md has the rules that \(user) needs"
        case "ERR" where error.contains("AUTH") && error.contains("without any password"):
            advice = "it has no password for \(user): remove \(passwordFile), or give it one"
        case "ERR" where error.contains("DB index"): advice = "it has no database \(address.database)"
        case "ERR" where error.contains("unknown command"): return tooOld(address, "has a version before 6.0")
        // It is loading its data, has too many clients, or the like.
        default: return RedisFailure("\(address) refuses a connection: \(error).")
        }
        return RedisFailure("\(address) refuses a connection: \(advice) (\(error)).", isPermanent: true)
    }
}

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
        _ words: RedisRequest.Word..., isAsking: Bool = false, until deadline: ContinuousClock.Instant
    ) throws(RedisFailure) -> RedisReply {
        let link = try RedisLink(to: self, until: deadline)
        var request = greeting
        if isAsking { request.add("ASKING") }
        request.add(words)
        let replies = try link.exchange(request, until: deadline, toleratesErrors: true)
        if let error = replies.lazy.compactMap(\.error).first {
            throw RedisGreeting.refusal(error, self)
        }
        return replies.last ?? .none
    }
}

/// What a connection asks its server twice a second, on the way of all requests: whether it is a master, with how many
/// replicas, and what time it is.
struct RedisPulse: Sendable {
    /// Whether a replica can be of no use. A cluster's replica sends commands on to its master.
    let needsMaster: Bool
    /// How many replicas must be connected.
    let replicas: Int
    let time: RedisTime
    /// Called with each good reply, on the thread of the connection.
    let done: @Sendable () -> Void

    static let interval = Duration.milliseconds(500)
    /// A server that takes longer may have been replaced meanwhile, or be stuck.
    static let patience = Duration.seconds(1)
    static let request: RedisRequest = {
        var request = RedisRequest("ROLE")
        request.add("TIME")
        return request
    }()

    /// - Parameters:
    ///   - start: when the question was sent, by our clocks.
    ///   - node: of a cluster.
    /// - Returns: why no request may be sent, though the server responds.
    /// - Throws: ``RedisFailure`` when the connection is of no use.
    func judge(
        _ replies: [RedisReply], of server: RedisAddress, since start: RedisTime.Reading, node: RedisAddress.Place?
    ) throws(RedisFailure) -> String? {
        for reply in replies { if let error = reply.error { throw RedisGreeting.refusal(error, server) } }
        try checkRole(replies[0], of: server)
        time.note(replies[1], of: server, since: start, node: node)
        let count = replies[0][2].list.count
        guard needsMaster || replies[0][0].text == "master", count < replicas else { return nil }
        return "\(server) has \(count) of \(replicas) replicas."
    }

    func checkRole(_ reply: RedisReply, of server: RedisAddress) throws(RedisFailure) {
        guard needsMaster, reply[0].text != "master" else { return }
        throw RedisFailure("\(server) is not a master.")
    }
}
