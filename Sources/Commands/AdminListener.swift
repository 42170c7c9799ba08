import Configuration

/// The admin listener of the server that the configuration describes, for commands that talk to it.
struct AdminListener {
    private let server: PlainHTTP
    /// Where it is, for people.
    let place: String
    private let key: Secret?

    /// - Parameter timeoutSeconds: for how long nothing may come of a response.
    init(_ configuration: Configuration, timeoutSeconds: Int) {
        let host = HealthCheck.loopback(for: configuration.admin.host)
        var server = PlainHTTP(
            host: host, port: configuration.admin.port,
            trust: configuration.tls.certificate.map { .certificate(in: $0) })
        server.timeoutSeconds = timeoutSeconds
        self.server = server
        place = "\(host), port \(configuration.admin.port)"
        key = configuration.admin.key
    }

    /// - Parameter sink: gets the body of a response 200 as it comes; false ends the transfer.
    /// - Returns: nil when nothing answers, or the response breaks off.
    func send(
        _ method: String, _ path: String, type: String? = nil, body: [UInt8] = [],
        into sink: ((UnsafeRawBufferPointer) -> Bool)? = nil
    ) -> PlainHTTP.Answer? {
        var fields = key.map { [(name: "X-Admin-Key", value: $0.revealed)] } ?? []
        if let type { fields.append((name: "Content-Type", value: type)) }
        return server.send(method, path, fields: fields, body: body, into: sink)
    }

    /// Why a request was refused, in a sentence.
    func refusal(_ answer: PlainHTTP.Answer) -> String {
        answer.status == 401
            ? "the server at \(place) requires its key: give it with --admin-key-file"
            : "the server at \(place) responds with status \(answer.status)"
    }
}
