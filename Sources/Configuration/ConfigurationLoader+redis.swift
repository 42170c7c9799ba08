import RedisStorage

extension ConfigurationLoader {
    /// Checks the files of `redis_tls.…`, and notes them in the address of the store, whose connections read them.
    func readRedisTLS(_ loaded: inout LoadedConfiguration) {
        let tls = loaded.configuration.redisTLS
        guard tls != RedisTLS() else { return }
        func report(
            _ code: String, _ key: String, _ message: String, _ severity: ConfigurationProblem.Severity = .error
        ) {
            loaded.report(
                code, "redis_tls.\(key)", message,
                missedBy: ["redis_tls.certificate", "redis_tls.key", "redis_tls.ca"], severity: severity)
        }
        guard case .redis(var address) = loaded.configuration.store, address.tls != nil else {
            let key = tls.authorities != nil ? "ca" : tls.certificate != nil ? "certificate" : "key"
            return report(
                "without_effect", key, "redis_tls.\(key) is given, and store is not at rediss://, so nothing uses it",
                .warning)
        }
        guard (tls.certificate == nil) == (tls.key == nil) else {
            let missing = tls.certificate == nil ? "certificate" : "key"
            return report(
                "missing_key", missing,
                "redis_tls.\(missing) is missing; redis_tls.certificate and redis_tls.key are needed together")
        }
        for (key, path) in [("ca", tls.authorities), ("certificate", tls.certificate), ("key", tls.key)] {
            guard let path else { continue }
            do { _ = try files.read(path) } catch { return report(error.code, key, "\(error)") }
        }
        address.tls = RedisTLS()
        address.tls?.authorities = tls.authorities.map(files.path(of:))
        address.tls?.certificate = tls.certificate.map(files.path(of:))
        address.tls?.key = tls.key.map(files.path(of:))
        if let problem = address.tls?.problem {
            let key =
                switch problem.file {
                case .authorities: "ca"
                case .certificate: "certificate"
                case .key: "key"
                }
            return report(problem.isMismatch ? "conflict" : "bad_value", key, problem.description)
        }
        loaded.configuration.store = .redis(address)
    }
}
