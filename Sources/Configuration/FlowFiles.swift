import FlowTools
import JSONDocument
import Navigation
import Sessions

extension LoadedConfiguration {
    /// A flow of 10,000 screens has some megabytes. A far larger file is a mistake and would only cost memory.
    private static let flowFileLimit = 16 << 20

    /// Reads every `*.json` of the flows directory. The catalog stays empty when one of the files has a problem,
    /// because flows refer to each other.
    ///
    /// - Parameter services: the services that flows can refer to.
    mutating func readFlows(
        in directory: String, with files: FileReader, referringTo services: ServiceDirectory
    ) {
        let names: [String]
        do {
            names = try files.jsonFiles(in: directory)
        } catch {
            return report(error.code, "flows", "\(error)")
        }
        flowFileCount = names.count
        var readable: [FlowFile] = []
        for name in names {
            let path = PathText.join(directory, name)
            do {
                readable.append(FlowFile(name: path, bytes: try files.read(path, limit: Self.flowFileLimit)))
            } catch {
                problems.append(ConfigurationProblem(at: .file(path), code: error.code, "\(error)"))
            }
        }
        let span = SessionSpan(
            lifetime: configuration.sessionLifetimeMax.milliseconds,
            caseLifetime: configuration.caseLifetime.milliseconds)
        let (catalog, found) = FlowLoader(services: services, span: span).load(readable)
        flows = catalog ?? .empty
        problems += FlowProblemPlaces.locate(found, in: readable)
    }
}

/// Adds line and column to the problems of flow files.
enum FlowProblemPlaces {
    static func locate(_ problems: [FlowProblem], in files: [FlowFile]) -> [ConfigurationProblem] {
        // Positions of values are only searched in files with problems, once for each file.
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

    static func located(
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

extension ServiceDirectory {
    /// The services of this configuration's sessions, which flows are checked against.
    ///
    /// - Parameters:
    ///   - added: services in Swift.
    ///   - names: further services, whose files have mistakes. A flow that names one of them is not reported.
    package static func declared(
        by files: [ServiceFile], adding added: SwiftServices = SwiftServices(), alsoNamed names: [String] = []
    ) -> ServiceDirectory {
        let inCode = (ServiceDefinition.builtIn + added.definitions).map(\.entry)
        let declared = files.map { ServiceDefinition($0).entry }
        let known = Set(files.map(\.name))
        let broken = names.filter { !known.contains($0) }.map { Entry(name: $0) }
        return ServiceDirectory(inCode + declared + broken)
    }
}
