import JSONDocument
import Navigation
import Sessions
import Storage

/// Combines defaults, file, environment and flags; later sources win.
///
/// It does not stop at a problem: it reports every problem in every source, service file and flow file.
package struct ConfigurationLoader: Sendable {
    /// The file that is read if it exists and no file is named.
    package static let defaultFile = "config/concierge.json"

    private let environment: [String: String]
    package let files: FileReader
    private let added: SwiftServices

    /// - Parameter added: services in Swift that the program adds.
    package init(
        environment: [String: String], files: FileReader = FileReader(), adding added: SwiftServices = SwiftServices()
    ) {
        self.environment = environment
        self.files = files
        self.added = added
    }

    /// - Parameters:
    ///   - file: the value of `--config`; `nil` without it.
    ///   - readsFlows: whether service and flow files are read, too.
    package func load(
        file: String? = nil, flags: [FlagValue] = [], readsFlows: Bool = true
    ) -> LoadedConfiguration {
        var loaded = LoadedConfiguration()
        loaded.added = added
        loaded.again = { load(file: file, flags: flags) }
        readFile(named: file, &loaded)
        loaded.read(environment: environment)
        loaded.read(flags: flags)
        readAdminKey(&loaded)
        checkTLS(&loaded)
        readRedisPasswords(&loaded)
        readRedisTLS(&loaded)
        readEncryptionKeys(&loaded)
        readUsersKey(&loaded)
        for name in loaded.configuration.tasks.names { readSecret(ofTask: name, &loaded) }
        loaded.problems += ConfigurationRules.problems(of: loaded)
        guard readsFlows else { return loaded }
        let services = readServices(&loaded)
        readFlows(&loaded, services)
        return loaded
    }

    private func readFile(named flag: String?, _ loaded: inout LoadedConfiguration) {
        let named: (path: String, origin: ValueOrigin)?
        if let flag {
            named = (flag, .flag("--config"))
        } else if let path = environment[LoadedConfiguration.fileVariable], !path.isEmpty {
            named = (path, .environment(LoadedConfiguration.fileVariable))
        } else {
            named = nil
        }
        guard let path = named?.path ?? (files.exists(Self.defaultFile) ? Self.defaultFile : nil) else { return }
        loaded.file = path
        do {
            loaded.read(try JSONFile(reading: path, with: files))
        } catch {
            // A missing file is corrected where it is named, and invalid JSON in the file itself.
            let isNamed = error.code != "invalid_json"
            loaded.problems.append(
                named.map { isNamed ? ConfigurationProblem(at: $0.origin, code: error.code, error.message) : error }
                    ?? error)
        }
    }

    /// Of `admin.key` and `admin.key_file`, the later source wins. Both in one source are ambiguous.
    private func readAdminKey(_ loaded: inout LoadedConfiguration) {
        guard let path = loaded.configuration.admin.keyFile else { return }
        let origin = loaded.origin(of: "admin.key_file")
        if loaded.configuration.admin.key != nil {
            let other = loaded.origin(of: "admin.key")
            if other.precedence > origin.precedence { return }
            guard other.precedence < origin.precedence else {
                return loaded.report(
                    "conflict", "admin.key_file",
                    "admin.key and admin.key_file are both given; allowed is one of them")
            }
        }
        let setting = Setting<Secret>.secret
        let key = loaded.content(of: path, setting.allowed, named: "admin.key_file", with: files) {
            setting.read(.plain(Self.line($0)))
        }
        guard let key else { return }
        loaded.configuration.admin.key = key
        loaded.origins["admin.key"] = origin
    }

    private static func line(_ file: [UInt8]) -> String {
        var line = Substring(String(decoding: file, as: UTF8.self))
        while let last = line.last, last.isNewline { line.removeLast() }
        return String(line)
    }

    private func readRedisPasswords(_ loaded: inout LoadedConfiguration) {
        guard case .redis(var address) = loaded.configuration.store else { return }
        func password(_ key: String, _ path: String?) -> String? {
            path.flatMap { loaded.content(of: $0, "", named: key, with: files, read: Self.line) }
        }
        if let user = address.user, loaded.configuration.redisPasswordFile == nil {
            loaded.report(
                "missing_key", "store",
                "user \"\(user)\" of Redis needs a password: name its file in redis_password_file")
        }
        address.password = password("redis_password_file", loaded.configuration.redisPasswordFile)
        address.sentinelPassword = password(
            "redis_sentinel_password_file", loaded.configuration.redisSentinelPasswordFile)
        loaded.configuration.store = .redis(address)
    }

    private func readEncryptionKeys(_ loaded: inout LoadedConfiguration) {
        guard let path = loaded.configuration.encryptionKeysFile else { return }
        loaded.configuration.encryptionKeys = loaded.content(
            of: path, DocumentKeys.allowed, named: "encryption_keys_file", with: files, limit: 65_536,
            read: DocumentKeys.init)
    }

    private func readUsersKey(_ loaded: inout LoadedConfiguration) {
        guard let path = loaded.configuration.log.usersKeyFile else { return }
        loaded.configuration.log.usersKey = loaded.content(
            of: path, UserHashKey.allowed, named: "log.users_key_file", with: files
        ) { UserHashKey(Self.line($0)) }
    }

    /// The files are read again when the server starts.
    private func checkTLS(_ loaded: inout LoadedConfiguration) {
        let severity: ConfigurationProblem.Severity
        let (key, code, message): (String, String, String)
        do {
            guard let sentence = try TLSFiles.read(loaded.configuration.tls, with: files)?.lapse() else { return }
            (severity, key, code) = (.warning, "certificate", "expired_certificate")
            message = "\(loaded.configuration.tls.certificate ?? ""): \(sentence): clients will refuse it"
        } catch {
            (severity, key, code, message) = (.error, error.key, error.code, error.description)
        }
        loaded.report(
            code, "tls.\(key)", message, missedBy: ["tls.certificate", "tls.key", "tls.client_ca"], severity: severity)
    }

    /// A task that is sent needs an address and a secret: a receiver must be able to tell who sends.
    private func readSecret(ofTask name: String, _ loaded: inout LoadedConfiguration) {
        let task = loaded.configuration.tasks[name]
        let members = ConfigurationKey.ofTask(name).map(\.path)
        if task.url == nil {
            // One that is not allowed has been reported.
            guard !loaded.problems.contains(where: { $0.pointer == "/tasks/\(name)/url" }) else { return }
            return loaded.report(
                "missing_key", "tasks.\(name).url", "tasks.\(name).url is missing: where the task is sent",
                missedBy: members)
        }
        guard let path = task.secretFile else {
            return loaded.report(
                "missing_key", "tasks.\(name).secret_file",
                "tasks.\(name).secret_file is missing: the file with the secret of the signature", missedBy: members)
        }
        loaded.configuration.tasks[name].secret = loaded.content(
            of: path, WebhookSecret.allowed, named: "tasks.\(name).secret_file", with: files
        ) { WebhookSecret(Self.line($0)) }
    }

    /// - Returns: all services that flows can refer to: every declared service, even if its file has mistakes.
    private func readServices(_ loaded: inout LoadedConfiguration) -> ServiceDirectory {
        guard let directory = directory(\.services, "services", &loaded) else {
            return .declared(by: [], adding: added)
        }
        let names = loaded.readServices(in: directory, with: files)
        return .declared(by: loaded.services, adding: added, alsoNamed: names)
    }

    private func readFlows(_ loaded: inout LoadedConfiguration, _ services: ServiceDirectory) {
        // Flows refer to services: flows beside the file refer to services beside the file.
        let hasOthers = loaded.origin(of: "services").isOutsideFile
        if let directory = hasOthers ? loaded.configuration.flows : directory(\.flows, "flows", &loaded) {
            loaded.readFlows(in: directory, with: files, referringTo: services)
        }
        checkMainFlow(&loaded)
        checkTasks(&loaded)
    }

    private func checkTasks(_ loaded: inout LoadedConfiguration) {
        if loaded.hasErrors || loaded.flows.ids.isEmpty { return }
        var known = loaded.flows.flows.flatMap(\.taskNames)
        if let notices = loaded.configuration.sessionNotices {
            if known.contains(notices) {
                loaded.report(
                    "conflict", "session_notices",
                    "session_notices is \(notices.quoted), and a flow has a task of that name; allowed is another")
            }
            known.append(notices)
        }
        for target in loaded.configuration.taskTargets {
            func warn(_ message: String) {
                loaded.report("without_effect", "tasks.\(target.name).url", message, severity: .warning)
            }
            if !known.contains(target.name) {
                let question = NearestName.question(for: target.name, among: known)
                warn("no flow has a task \(target.name.quoted)\(question)")
            }
            if target.isReadable {
                warn(
                    "the tasks \(target.name.quoted) go over the network unencrypted: an address with "
                        + "https:// keeps their input secret, and their results genuine")
            }
        }
    }

    private func checkMainFlow(_ loaded: inout LoadedConfiguration) {
        // If flow files have mistakes, the set of flows is unknown.
        guard let main = loaded.configuration.mainFlow, !loaded.hasErrors, loaded.flows.flow(main) == nil else {
            return
        }
        let origin = loaded.origin(of: "main_flow")
        let guess = NearestName.of(main, among: loaded.flows.ids)
        let message =
            "main_flow is \(main.quoted), and no flow of that id is loaded"
            + (guess.map { "; did you mean \($0)?" } ?? "")
        guard !origin.isOutsideFile,
            loaded.origin(of: "flows").isOutsideFile || loaded.origin(of: "services").isOutsideFile
        else {
            return loaded.report("unknown_flow", "main_flow", message)
        }
        // The configured flows are others, unless this looks like a mistake.
        loaded.configuration.mainFlow = nil
        guard guess != nil else { return }
        loaded.report("without_effect", "main_flow", message, severity: .warning)
    }

    /// The configured directory, or the one of that name beside the file, if it exists.
    private func directory(
        _ place: WritableKeyPath<Configuration, String?>, _ name: String, _ loaded: inout LoadedConfiguration
    ) -> String? {
        if loaded.configuration[keyPath: place] == nil, let file = loaded.file, loaded.origins[name] == nil {
            let beside = PathText.join(PathText.directory(of: file), name)
            if files.exists(beside) { loaded.configuration[keyPath: place] = beside }
        }
        return loaded.configuration[keyPath: place]
    }
}
