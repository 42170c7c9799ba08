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
