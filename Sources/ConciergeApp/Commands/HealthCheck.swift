/// `concierge health`: asks the server that runs with this configuration whether it is ready. For containers, whose
/// health check has no shell and no other program to ask with.
enum HealthCheck {
    /// - Returns: nil when it is ready, otherwise why not.
    static func failure(of configuration: Configuration) -> String? {
        let host = loopback(for: configuration.host)
        guard let answer = PlainHTTP(host: host, port: configuration.port).get("/health/ready") else {
            return "nothing answers at \(host), port \(configuration.port)"
        }
        return answer.status == 200 ? nil : "not ready: it answers with status \(answer.status)"
    }

    /// Where this machine reaches a listener on that address.
    static func loopback(for host: String) -> String {
        switch host {
        case "0.0.0.0", "localhost": "127.0.0.1"
        case "::": "::1"
        default: host
        }
    }
}
