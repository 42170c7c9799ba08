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
        let replies = try link.exchange(greeting, until: deadline)
        let version = replies[place].pairs.first { $0.name == "version" }?.value.text
        guard let version, let major = Int(version.prefix { $0 != "." }) else {
            throw RedisFailure("\(address) does not say which version it has.")
        }
        guard major >= 7 else { throw tooOld(address, "has version \(version)") }
    }

    private static func tooOld(_ address: RedisAddress, _ what: String) -> RedisFailure {
        RedisFailure("\(address) \(what) of Redis: 7.0 or newer is needed.", isPermanent: true)
    }

    /// What an error of Redis means for a connection.
    static func refusal(_ error: String, _ address: RedisAddress) -> RedisFailure {
        let user = "user \"\(address.user ?? "default")\""
        let advice: String
        switch error.prefix(while: { $0 != " " }) {
        case "WRONGPASS":
            advice = "there is no \(user), or its password is another one than in \(address.passwordFile)"
        case "NOAUTH":
            // What Redis says is about its protocol.
            return RedisFailure(
                "\(address) wants a password: name the file of the password in \(address.passwordFile).",
                isPermanent: true)
        case "NOPERM": advice = "docs/scaling.md has the rules that \(user) needs"
        case "ERR" where error.contains("AUTH") && error.contains("without any password"):
            advice = "it has no password for \(user): remove \(address.passwordFile), or give it one"
        case "ERR" where error.contains("DB index"): advice = "it has no database \(address.database)"
        case "ERR" where error.contains("unknown command"): return tooOld(address, "has a version before 6.0")
        // It is loading its data, has too many clients, or the like.
        default: return RedisFailure("\(address) refuses a connection: \(error).")
        }
        return RedisFailure("\(address) refuses a connection: \(advice) (\(error)).", isPermanent: true)
    }
}

extension RedisAddress {
    /// What a connection to a server begins with.
    var greeting: RedisRequest {
        var greeting = RedisRequest()
        if let password { greeting.add(["AUTH"] + (user.map { [.text($0)] } ?? []) + [.text(password)]) }
        if database != 0 { greeting.add("SELECT", .text(String(database))) }
        return greeting
    }
}

/// What a connection asks its server twice a second, on the way of all requests: whether it is a master, with how many
/// replicas, and what time it is.
struct RedisPulse: Sendable {
    /// A cluster's replica sends commands on to its master; elsewhere a replica is of no use.
    let isCluster: Bool
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

    /// Asks on a new connection. See ``judge(_:of:named:since:)``.
    func ask(
        _ link: RedisLink, of server: RedisAddress, named master: SentinelAnswers.Master?,
        until end: ContinuousClock.Instant
    ) throws(RedisFailure) {
        let start = time.read()
        let replies = try link.exchange(Self.request, until: end)
        try judge(replies, of: server, named: master, since: start)
    }

    /// - Parameters:
    ///   - master: as sentinels have named it.
    ///   - start: when the question was sent, by our clocks.
    /// - Throws: ``RedisFailure`` when the connection is of no use.
    func judge(
        _ replies: [RedisReply], of server: RedisAddress, named master: SentinelAnswers.Master? = nil,
        since start: RedisTime.Reading
    ) throws(RedisFailure) {
        if let error = replies.lazy.compactMap(\.error).first { throw RedisGreeting.refusal(error, server) }
        let isMaster = replies[0][0].text == "master"
        guard isMaster || isCluster else {
            let name = master.map { "\(server), which the sentinel at \($0.source) names," } ?? "\(server)"
            throw RedisFailure("\(name) is not a master.")
        }
        let count = replies[0][2].list.count
        guard !isMaster || count >= replicas else {
            throw RedisFailure("\(server) has \(count) of \(replicas) replicas.")
        }
        time.note(replies[1], of: server, since: start, node: isCluster ? server.places[0] : nil)
        done()
    }
}
