import Sessions

/// The first commands on a new connection: who we are, which database, and whether this Redis can be used.
enum RedisGreeting {
    /// - Throws: ``RedisFailure``, which is permanent when trying again cannot help.
    static func say(
        to link: RedisLink, at address: RedisAddress, until deadline: ContinuousClock.Instant
    ) throws(RedisFailure) {
        var greeting = RedisRequest()
        if let password = address.password {
            greeting.add(["AUTH"] + (address.user.map { [.text($0)] } ?? []) + [.text(password)])
        }
        // Every user may say it, and the reply has the version.
        greeting.add("HELLO", "2")
        if address.database != 0 { greeting.add("SELECT", .text(String(address.database))) }
        greeting.add("PING")
        let replies = try link.exchange(greeting, until: deadline, toleratesErrors: true)
        for reply in replies {
            if let error = reply.error { throw refusal(error, address) }
        }
        let hello = replies[address.password == nil ? 0 : 1].list
        let place = hello.firstIndex { $0.text == "version" }.map { $0 + 1 }
        guard let version = place.flatMap({ $0 < hello.count ? hello[$0].text : nil }),
            let major = Int(version.prefix { $0 != "." })
        else { throw RedisFailure("\(address) does not say which version it has.") }
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
            advice = "there is no \(user), or its password is another one than in redis_password_file"
        case "NOAUTH":
            // What Redis says is about its protocol.
            return RedisFailure(
                "\(address) wants a password: name the file of the password in redis_password_file.", isPermanent: true)
        case "NOPERM": advice = "docs/scaling.md has the rules that \(user) needs"
        case "ERR" where error.contains("AUTH") && error.contains("without any password"):
            advice = "it has no password for \(user): remove redis_password_file, or give it one"
        case "ERR" where error.contains("DB index"): advice = "it has no database \(address.database)"
        case "ERR" where error.contains("unknown command"): return tooOld(address, "has a version before 6.0")
        // It is loading its data, has too many clients, or the like.
        default: return RedisFailure("\(address) refuses a connection: \(error).")
        }
        return RedisFailure("\(address) refuses a connection: \(advice) (\(error)).", isPermanent: true)
    }
}
