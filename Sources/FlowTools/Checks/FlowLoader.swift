import JSONDocument
import Navigation

/// Reads flow files into a catalog and reports every problem of all files.
///
/// ```swift
/// let (catalog, problems) = FlowLoader(services: directory).load(files)
/// for problem in problems { print(problem) }
/// ```
public struct FlowLoader: Sendable {
    /// The services that the flows may use.
    public let services: ServiceDirectory

    /// - Parameter services: the services that the flows may use.
    public init(services: ServiceDirectory) { self.services = services }

    /// Reads and checks all files.
    ///
    /// - Returns: the catalog, unless a problem is an error; and all problems in the order of the files.
    public func load(_ files: [FlowFile]) -> (catalog: FlowCatalog?, problems: [FlowProblem]) {
        var loaded: [LoadedFlow] = []
        var problems: [[FlowProblem]] = []
        var known: [String: [Int: String]] = [:]
        for file in files {
            var reader = FlowReader(file: file.name, source: file.bytes, services: services)
            do {
                let (heading, flow) = reader.read(try JSONDocument(parsing: file.bytes, comments: true))
                var isRepeated = false
                if let heading {
                    if let first = known[heading.id]?[heading.version] {
                        isRepeated = true
                        reader.report(
                            JSONPointer(["id"]), .duplicateFlow,
                            "version \(heading.version) of \(heading.id) is in \(first) already")
                    } else {
                        known[heading.id, default: [:]][heading.version] = file.name
                    }
                }
                // The ways through a flow with errors would only report the same errors in other words.
                let isWhole = !reader.problems.contains { $0.severity == .error }
                if let flow, !isRepeated {
                    loaded.append(LoadedFlow(file: file.name, order: problems.count, flow: flow, isWhole: isWhole))
                }
            } catch {
                let place = JSONSourceLocation(offset: error.offset, in: file.bytes)
                let pointer = error.pointer.flatMap { JSONPointer(parsing: $0) } ?? .root
                reader.report(pointer, .notJSON, "\(place): \(error.clause(in: file.bytes))")
            }
            problems.append(reader.problems)
        }
        let catalog = FlowCatalog(loaded.map(\.flow))
        let check = CatalogCheck(catalog: catalog, known: known, services: services)
        for flow in loaded {
            problems[flow.order] += check.problems(of: flow)
        }
        let all = problems.flatMap { $0 }
        return (all.contains { $0.severity == .error } ? nil : catalog, all)
    }
}

/// A flow that could be read, and its file.
struct LoadedFlow {
    let file: String
    /// The index of its file.
    let order: Int
    let flow: FlowDefinition
    /// Whether the reader found no error in it.
    let isWhole: Bool
}

/// The text of a flow and the name of its file.
public struct FlowFile: Sendable {
    /// The name that problems show.
    public let name: String
    /// The text: JSON, with comments allowed.
    public let bytes: [UInt8]

    /// A flow file.
    public init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }
}
