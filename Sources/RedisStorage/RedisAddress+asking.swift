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
