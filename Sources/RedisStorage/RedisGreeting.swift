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
