import JSONDocument
import Navigation
import Sessions

/// Reads every `*.json` of the flows directory.
enum FlowDirectory {
    struct Contents {
        var fileCount = 0
        /// Empty when something is wrong with one of the files: flows refer to each other.
        var catalog = FlowCatalog.empty
        var problems: [ConfigurationProblem] = []
    }

    /// A flow of 10,000 screens has some megabytes; far more is a mistake and would only cost memory.
    static let fileLimit = 16 << 20

    /// The flows of all files, and the problems of all files in the order of their names.
    ///
    /// - Parameters:
    ///   - origin: where the directory is named, to blame when it cannot be read.
    ///   - services: what flows can be about.
    static func read(
        _ directory: String, namedAt origin: ValueOrigin, with files: FileReader,
        services: Navigation.ServiceDirectory
    ) -> Contents {
        let names: [String]
        do {
            names = try files.names(in: directory)
        } catch {
            let problem = ConfigurationProblem(at: origin, pointer: "/flows", code: error.code, "\(error)")
            return Contents(problems: [problem])
        }
        var contents = Contents()
        var readable: [FlowFile] = []
        // Hidden files are left alone: editors and mounted volumes keep their own things there.
        for name in names where name.hasSuffix(".json") && !name.hasPrefix(".") {
            contents.fileCount += 1
            let path = PathText.join(directory, name)
            do {
                readable.append(FlowFile(name: path, bytes: try files.read(path, limit: fileLimit)))
            } catch {
                contents.problems.append(ConfigurationProblem(at: .file(path), code: error.code, "\(error)"))
            }
        }
        let (catalog, problems) = FlowLoader(services: services).load(readable)
        contents.catalog = catalog ?? .empty
        contents.problems += FlowProblemPlaces.locate(problems, in: readable)
        return contents
    }
}

/// Gives the problems of flow files the line and column that those of all other files have.
enum FlowProblemPlaces {
    static func locate(_ problems: [FlowProblem], in files: [FlowFile]) -> [ConfigurationProblem] {
        // Where values stand is looked for in files that have problems only, and once for each of them.
        var places: [String: Result<JSONFile, ConfigurationProblem>] = [:]
        return problems.map { problem in
            let place =
                places[problem.file] ?? read(files.first { $0.name == problem.file }, named: problem.file)
            places[problem.file] = place
            return located(problem, place)
        }
    }

    private static func read(
        _ file: FlowFile?, named name: String
    ) -> Result<JSONFile, ConfigurationProblem> {
        Result { () throws(ConfigurationProblem) in try JSONFile(path: name, bytes: file?.bytes ?? []) }
    }

    private static func located(
        _ problem: FlowProblem, _ place: Result<JSONFile, ConfigurationProblem>
    ) -> ConfigurationProblem {
        let severity: ConfigurationProblem.Severity = problem.severity == .error ? .error : .warning
        switch place {
        case .success(let file):
            let pointer = JSONPointer(parsing: problem.pointer) ?? .root
            let guess = problem.guess.map { "; did you mean \($0)?" } ?? ""
            return ConfigurationProblem(
                severity, at: file.origin(of: pointer), pointer: problem.pointer, code: problem.code.rawValue,
                problem.message + guess)
        case .failure(let broken):
            return ConfigurationProblem(
                severity, at: broken.origin, pointer: broken.pointer, code: problem.code.rawValue, broken.message)
        }
    }
}

extension Navigation.ServiceDirectory {
    /// The services that sessions of this configuration have: what flows are checked against.
    ///
    /// - Parameter names: further ones, whose files have mistakes: a flow that names one of them is not to blame.
    package static func declared(by files: [ServiceFile], alsoNamed names: [String] = []) -> Navigation.ServiceDirectory
    {
        let builtIn = ServiceDefinition.builtIn.map { service in
            Entry(name: service.name, schema: service.schema, isReadOnly: !service.isOpenToFlows)
        }
        let declared = files.map { Entry(name: $0.name, schema: $0.schemaDocument, isOwnable: true) }
        let known = Set(files.map(\.name))
        let broken = names.filter { !known.contains($0) }.map { Entry(name: $0) }
        return Navigation.ServiceDirectory(builtIn + declared + broken)
    }
}
