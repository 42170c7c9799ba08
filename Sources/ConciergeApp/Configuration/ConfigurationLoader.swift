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
    let files: FileReader
    private let added: SwiftServices

    /// - Parameter added: services in Swift that the program adds.
    package init(
        environment: [String: String], files: FileReader = FileReader(), adding added: SwiftServices = SwiftServices()
    ) {
        self.environment = environment
        self.files = files
        self.added = added
    }

    /// - Parameter file: the value of `--config`; `nil` without it.
    package func load(file: String? = nil, flags: [FlagValue] = []) -> LoadedConfiguration {
        var loaded = LoadedConfiguration()
        loaded.added = added
        apply(fileLayer(named: file, &loaded), to: &loaded)
        apply(EnvironmentLayer.read(environment, tasks: loaded.configuration.tasks.names), to: &loaded)
        apply(FlagLayer.read(flags), to: &loaded)
        readAdminKey(&loaded)
        checkTLS(&loaded)
        readRedisPasswords(&loaded)
        readRedisTLS(&loaded)
        readEncryptionKeys(&loaded)
        for name in loaded.configuration.tasks.names { readSecret(ofTask: name, &loaded) }
        loaded.problems += ConfigurationRules.problems(of: loaded)
        let services = readServices(&loaded)
        readFlows(&loaded, services)
        return loaded
    }

    private func fileLayer(named flag: String?, _ loaded: inout LoadedConfiguration) -> ConfigurationLayer {
        let named: (path: String, origin: ValueOrigin)?
        if let flag {
            named = (flag, .flag("--config"))
        } else if let path = environment[EnvironmentLayer.fileVariable], !path.isEmpty {
            named = (path, .environment(EnvironmentLayer.fileVariable))
        } else {
            named = nil
        }
        guard let path = named?.path ?? (files.exists(Self.defaultFile) ? Self.defaultFile : nil) else {
            return ConfigurationLayer()
        }
        loaded.file = path
        do {
            return FileLayer.read(try JSONFile(reading: path, with: files))
        } catch {
            // A missing file is corrected where it is named, and invalid JSON in the file itself.
            guard let named, error.code != "invalid_json" else { return ConfigurationLayer(problems: [error]) }
            return ConfigurationLayer(problems: [
                ConfigurationProblem(at: named.origin, code: error.code, error.message)
            ])
        }
    }

    private func apply(_ layer: ConfigurationLayer, to loaded: inout LoadedConfiguration) {
        loaded.problems += layer.problems
        for assignment in layer.assignments {
            let key = assignment.key
            if key.assign(assignment.written, &loaded.configuration) {
                loaded.origins[key.path] = assignment.origin
            } else {
                loaded.problems.append(
                    ConfigurationProblem(
                        at: assignment.origin, pointer: key.pointer, code: "bad_value",
                        key.refusal(of: assignment.written)))
            }
        }
    }

    /// Of `admin.key` and `admin.key_file`, the later source wins. Both in one source are ambiguous.
    private func readAdminKey(_ loaded: inout LoadedConfiguration) {
        guard let path = loaded.configuration.admin.keyFile else { return }
        let origin = loaded.origin(of: "admin.key_file")
        if loaded.configuration.admin.key != nil {
            let other = loaded.origin(of: "admin.key")
            if other.precedence > origin.precedence { return }
            if other.precedence == origin.precedence {
                loaded.problems.append(
                    ConfigurationProblem(
                        at: origin, pointer: "/admin/key_file", code: "conflict",
                        "admin.key and admin.key_file are both given; allowed is one of them"))
                return
            }
        }
        do {
            let line = try secretLine(of: path)
            let key = SecretSetting()
            guard let secret = key.read(.plain(String(line))) else {
                loaded.problems.append(
                    ConfigurationProblem(
                        at: origin, pointer: "/admin/key_file", code: "bad_value",
                        "the key in \(path) is not allowed (not shown); allowed is \(key.allowed)"))
                return
            }
            loaded.configuration.admin.key = secret
            loaded.origins["admin.key"] = origin
        } catch {
            loaded.problems.append(
                ConfigurationProblem(at: origin, pointer: "/admin/key_file", code: error.code, "\(error)"))
        }
    }

    /// The only line of a file with a secret.
    private func secretLine(of path: String) throws(FileProblem) -> String {
        // Far more than a secret has: a longer file is the wrong one.
        var line = Substring(String(decoding: try files.read(path, limit: 4096), as: UTF8.self))
        while let last = line.last, last.isNewline { line.removeLast() }
        return String(line)
    }

    private func readRedisPasswords(_ loaded: inout LoadedConfiguration) {
        guard case .redis(var address) = loaded.configuration.store else { return }
        func report(_ key: String, _ code: String, _ message: String) {
            loaded.problems.append(
                ConfigurationProblem(at: loaded.origin(of: key), pointer: "/\(key)", code: code, message))
        }
        func password(_ key: String, _ path: String?) -> String? {
            do {
                return try path.map(secretLine)
            } catch {
                report(key, error.code, "\(error)")
                return nil
            }
        }
        if let user = address.user, loaded.configuration.redisPasswordFile == nil {
            report(
                "store", "missing_key",
                "user \"\(user)\" of Redis needs a password: name its file in redis_password_file")
        }
        address.password = password("redis_password_file", loaded.configuration.redisPasswordFile)
        address.sentinelPassword = password(
            "redis_sentinel_password_file", loaded.configuration.redisSentinelPasswordFile)
        loaded.configuration.store = .redis(address)
    }

    private func readEncryptionKeys(_ loaded: inout LoadedConfiguration) {
        guard let path = loaded.configuration.encryptionKeysFile else { return }
        func report(_ code: String, _ message: String) {
            loaded.problems.append(
                ConfigurationProblem(
                    at: loaded.origin(of: "encryption_keys_file"), pointer: "/encryption_keys_file", code: code, message
                ))
        }
        do {
            loaded.configuration.encryptionKeys = DocumentKeys(try files.read(path, limit: 65_536))
            guard loaded.configuration.encryptionKeys == nil else { return }
            report("bad_value", "the keys in \(path) are not allowed (not shown); allowed is \(DocumentKeys.allowed)")
        } catch {
            report(error.code, "\(error)")
        }
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
        // A key that is missing is missed by the others.
        let origin = ["tls.\(key)", "tls.certificate", "tls.key", "tls.client_ca"]
            .compactMap { loaded.origins[$0] }.first
        loaded.problems.append(
            ConfigurationProblem(severity, at: origin ?? .builtIn, pointer: "/tls/\(key)", code: code, message))
    }

    /// A task that is sent needs an address and a secret: a receiver must be able to tell who sends.
    private func readSecret(ofTask name: String, _ loaded: inout LoadedConfiguration) {
        let task = loaded.configuration.tasks[name]
        func report(_ member: String, _ code: String, _ message: String) {
            let origin =
                loaded.origins["tasks.\(name).\(member)"]
                ?? loaded.origins.first {
                    $0.key.hasPrefix("tasks.\(name).")
                }?.value
            loaded.problems.append(
                ConfigurationProblem(
                    at: origin ?? .builtIn, pointer: JSONPointer(["tasks", name, member]).description, code: code,
                    message))
        }
        if task.url == nil {
            // One that is not allowed has been reported.
            guard !loaded.problems.contains(where: { $0.pointer == "/tasks/\(name)/url" }) else { return }
            return report("url", "missing_key", "tasks.\(name).url is missing: where the task is sent")
        }
        guard let path = task.secretFile else {
            return report(
                "secret_file", "missing_key",
                "tasks.\(name).secret_file is missing: the file with the secret of the signature")
        }
        do {
            let bytes = try files.read(path, limit: 4096)
            var line = Substring(String(decoding: bytes, as: UTF8.self))
            while let last = line.last, last.isNewline { line.removeLast() }
            guard let secret = WebhookSecret(String(line)) else {
                return report(
                    "secret_file", "bad_value",
                    "the secret in \(path) is not allowed (not shown); allowed is \(WebhookSecret.allowed)")
            }
            loaded.configuration.tasks[name].secret = secret
        } catch {
            report("secret_file", error.code, "\(error)")
        }
    }

    /// - Returns: all services that flows can refer to: every declared service, even if its file has mistakes.
    private func readServices(_ loaded: inout LoadedConfiguration) -> Navigation.ServiceDirectory {
        guard let directory = directory(\.services, "services", &loaded) else {
            return .declared(by: [], adding: added)
        }
        let found = ServiceDirectory.read(
            directory, namedAt: loaded.origin(of: "services"), with: files, beside: added.definitions.map(\.name))
        loaded.services = found.services
        loaded.serviceFileCount = found.fileCount
        loaded.problems += found.problems
        return .declared(by: found.services, adding: added, alsoNamed: found.names)
    }

    private func readFlows(_ loaded: inout LoadedConfiguration, _ services: Navigation.ServiceDirectory) {
        // Flows refer to services: flows beside the file refer to services beside the file.
        let hasOthers = loaded.origin(of: "services").isOutsideFile
        if let directory = hasOthers ? loaded.configuration.flows : directory(\.flows, "flows", &loaded) {
            let found = FlowDirectory.read(
                directory, namedAt: loaded.origin(of: "flows"), with: files, services: services)
            loaded.flows = found.catalog
            loaded.flowFileCount = found.fileCount
            loaded.problems += found.problems
        }
        checkMainFlow(&loaded)
        checkTasks(&loaded)
    }

    private func checkTasks(_ loaded: inout LoadedConfiguration) {
        if loaded.hasErrors || loaded.flows.ids.isEmpty { return }
        let known = loaded.flows.flows.flatMap(\.taskNames)
        for target in loaded.configuration.taskTargets {
            func warn(_ message: String) {
                loaded.problems.append(
                    ConfigurationProblem(
                        .warning, at: loaded.origin(of: "tasks.\(target.task).url"),
                        pointer: "/tasks/\(JSONPointer.escape(target.task))", code: "without_effect", message))
            }
            if !known.contains(target.task) {
                let guess = NearestName.of(target.task, among: known).map { "; did you mean \($0)?" } ?? ""
                warn("no flow has a task \(WrittenValue.quoted(target.task))\(guess)")
            }
            if target.isReadable {
                warn(
                    "the tasks \(WrittenValue.quoted(target.task)) go over the network unencrypted: an address with "
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
            "main_flow is \(WrittenValue.quoted(main)), and no flow of that id is loaded"
            + (guess.map { "; did you mean \($0)?" } ?? "")
        guard !origin.isOutsideFile,
            loaded.origin(of: "flows").isOutsideFile || loaded.origin(of: "services").isOutsideFile
        else {
            loaded.problems.append(
                ConfigurationProblem(at: origin, pointer: "/main_flow", code: "unknown_flow", message))
            return
        }
        // The configured flows are others, unless this looks like a mistake.
        loaded.configuration.mainFlow = nil
        guard guess != nil else { return }
        loaded.problems.append(
            ConfigurationProblem(.warning, at: origin, pointer: "/main_flow", code: "without_effect", message))
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
