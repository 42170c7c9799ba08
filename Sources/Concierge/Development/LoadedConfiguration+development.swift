import Commands
import Configuration

extension LoadedConfiguration {
    /// The same for `concierge dev`: on loopback, with the demo, and journeys that have lost their version start over.
    ///
    /// - Throws: ``UsageError`` when a flag or a variable says otherwise.
    func forDevelopment() throws(UsageError) -> LoadedConfiguration {
        var result = self
        result.configuration.host = try onLoopback(configuration.host, "host")
        result.configuration.admin.host = try onLoopback(configuration.admin.host, "admin.host")
        result.configuration.demo = true
        result.configuration.orphanedJourneys = .restart
        if origins["log.requests"] == nil { result.configuration.log.requests = false }
        if origins["log.level"] == nil { result.configuration.log.level = .warning }
        if let again {
            result.again = {
                let loaded = again()
                return (try? loaded.forDevelopment()) ?? loaded
            }
        }
        return result
    }

    private func onLoopback(_ host: String, _ key: String) throws(UsageError) -> String {
        if ListenAddress.isLoopback(host) { return host }
        let origin = origin(of: key)
        // A file is also that of a server.
        guard origin.isOutsideFile else { return "127.0.0.1" }
        throw UsageError("dev listens on loopback alone, for one person's machine, and \(key) is \(host) (\(origin))")
    }
}
