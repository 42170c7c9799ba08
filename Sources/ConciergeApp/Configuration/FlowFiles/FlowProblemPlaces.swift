import JSONDocument
import Navigation

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
