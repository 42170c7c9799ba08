import JSONDocument

/// The values and problems of a source.
struct ConfigurationLayer {
    var assignments: [Assignment] = []
    var problems: [ConfigurationProblem] = []
}

/// A value of a key from one source. The loader decides which source wins.
struct Assignment {
    let key: ConfigurationKey
    let written: WrittenValue
    let origin: ValueOrigin
}

/// The values of the variables `CONCIERGE_…`.
enum EnvironmentLayer {
    static let prefix = "CONCIERGE_"
    /// Names the file itself, so it is not a key of the file.
    static let fileVariable = "CONCIERGE_CONFIG"

    /// An empty variable counts as missing, because Compose sets one for `${PORT:-}`.
    ///
    /// - Parameter tasks: the names of tasks that the file has.
    static func read(_ environment: [String: String], tasks: [String]) -> ConfigurationLayer {
        var layer = ConfigurationLayer()
        for (name, text) in environment.sorted(by: { $0.key < $1.key }) where name.hasPrefix(prefix) {
            if name == fileVariable { continue }
            guard let key = byName[name] ?? ConfigurationKey.ofTask(variable: name, known: tasks) else {
                layer.problems.append(unknown(name))
                continue
            }
            if text.isEmpty { continue }
            layer.assignments.append(Assignment(key: key, written: .plain(text), origin: .environment(name)))
        }
        return layer
    }

    private static let byName = Dictionary(
        uniqueKeysWithValues: ConfigurationKey.all.map { ($0.environmentName, $0) })

    private static func unknown(_ name: String) -> ConfigurationProblem {
        // Without the prefix, which would make all names similar.
        let known = ConfigurationKey.all.map { String($0.environmentName.dropFirst(prefix.count)) } + ["CONFIG"]
        let guess = NearestName.of(String(name.dropFirst(prefix.count)), among: known)
        return ConfigurationProblem(
            at: .environment(name), code: "unknown_key",
            "there is no key for this variable" + (guess.map { "; did you mean \(prefix)\($0)?" } ?? ""))
    }
}

/// The values of the command line. The last value of a key wins.
enum FlagLayer {
    static func read(_ values: [FlagValue]) -> ConfigurationLayer {
        var layer = ConfigurationLayer()
        for value in values {
            guard let key = ConfigurationKey.named(value.path) else {
                layer.problems.append(
                    .unknownKey(value.path, at: .flag(value.flag), pointer: ConfigurationKey.pointer(of: value.path)))
                continue
            }
            layer.assignments.append(Assignment(key: key, written: .plain(value.text), origin: .flag(value.flag)))
        }
        return layer
    }
}

/// A value on the command line: by its own flag, or by `--set key=value`.
package struct FlagValue: Sendable, Equatable {
    /// The flag as the operator writes it: `--port`, `--set`.
    package let flag: String
    /// The path of the key, which need not exist for `--set`.
    package let path: String
    package let text: String

    package init(flag: String, path: String, text: String) {
        self.flag = flag
        self.path = path
        self.text = text
    }
}

/// The values of a configuration file: an object of keys, grouped in objects.
enum FileLayer {
    static func read(_ file: JSONFile) -> ConfigurationLayer {
        var layer = ConfigurationLayer()
        guard let members = file.document.members else {
            let problem = ConfigurationProblem(
                at: file.origin(of: .root), code: "wrong_type",
                "the file holds \(file.document.kind.phrase); it must hold an object")
            return ConfigurationLayer(problems: [problem])
        }
        for (name, value) in members {
            if name == FileSchema.key { continue }
            if name.contains(".") {
                layer.problems.append(dotted(name, at: JSONPointer([name]), in: file))
            } else if ConfigurationKey.groups.contains(name) {
                readGroup(name, value, file, at: JSONPointer([name]), into: &layer)
            } else if name == ConfigurationKey.taskGroup, let tasks = value.members {
                for (task, value) in tasks {
                    readGroup("\(name).\(task)", value, file, at: JSONPointer([name, task]), into: &layer)
                }
            } else {
                readKey(name, value, at: JSONPointer([name]), file, into: &layer)
            }
        }
        return layer
    }

    private static func readGroup(
        _ group: String, _ value: JSONDocument, _ file: JSONFile, at pointer: JSONPointer,
        into layer: inout ConfigurationLayer
    ) {
        guard let members = value.members else {
            layer.problems.append(
                ConfigurationProblem(
                    at: file.origin(of: pointer), pointer: "\(pointer)", code: "wrong_type",
                    "\(group) is \(value.kind.phrase); expected an object with the keys of this group"))
            return
        }
        for (name, value) in members {
            let pointer = pointer.appending(name)
            if name.contains(".") {
                layer.problems.append(dotted(name, at: pointer, in: file))
            } else {
                readKey("\(group).\(name)", value, at: pointer, file, into: &layer)
            }
        }
    }

    private static func readKey(
        _ path: String, _ value: JSONDocument, at pointer: JSONPointer, _ file: JSONFile,
        into layer: inout ConfigurationLayer
    ) {
        let origin = file.origin(of: pointer)
        guard let key = ConfigurationKey.named(path) else {
            layer.problems.append(.unknownKey(path, at: origin, pointer: "\(pointer)"))
            return
        }
        var written = WrittenValue(value)
        if key.isPath, case .text(let text) = written, !text.isEmpty {
            written = .text(PathText.join(PathText.directory(of: file.path), text))
        }
        layer.assignments.append(Assignment(key: key, written: written, origin: origin))
    }

    private static func dotted(_ name: String, at pointer: JSONPointer, in file: JSONFile) -> ConfigurationProblem {
        ConfigurationProblem(
            at: file.origin(of: pointer), pointer: "\(pointer)", code: "unknown_key",
            "there is no key \(name.quoted); in a file groups are objects, as in {\"admin\": {\"port\": 8081}}"
        )
    }
}

extension WrittenValue {
    init(_ document: JSONDocument) {
        switch document.kind {
        case .null: self = .null
        case .bool: self = document.bool.map { .boolean($0) } ?? .null
        case .integer, .double: self = document.int.map { .integer($0) } ?? .other("the number \(document)")
        case .string: self = document.string.map { .text($0) } ?? .null
        case .array: self = .list((document.elements ?? []).map { WrittenValue($0) })
        case .object: self = .other("an object")
        }
    }
}

extension JSONKind {
    /// The value as a part of a sentence.
    var phrase: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer, .double: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

extension ConfigurationProblem {
    /// The sentence does not contain the value, which may be a secret under a misspelt name.
    static func unknownKey(_ path: String, at origin: ValueOrigin, pointer: String) -> ConfigurationProblem {
        let guess = NearestName.of(path, among: ConfigurationKey.names).map { "; did you mean \($0)?" } ?? ""
        return ConfigurationProblem(
            at: origin, pointer: pointer, code: "unknown_key", "there is no key \(path.quoted)\(guess)")
    }
}
