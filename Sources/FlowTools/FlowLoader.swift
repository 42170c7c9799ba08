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

    /// How long the sessions last in which the flows run.
    public let span: SessionSpan
    /// Finds a time zone by its name.
    private let zone: @Sendable (String) -> CalendarZone?

    /// - Parameter services: the services that the flows may use.
    public init(services: ServiceDirectory, span: SessionSpan = SessionSpan()) {
        self.init(services: services, span: span, zone: CalendarZone.installed(named:))
    }

    package init(
        services: ServiceDirectory, span: SessionSpan = SessionSpan(),
        zone: @escaping @Sendable (String) -> CalendarZone?
    ) {
        self.services = services
        self.span = span
        self.zone = zone
    }

    /// Reads and checks all files.
    ///
    /// - Returns: the catalog, unless a problem is an error; and all problems in the order of the files.
    public func load(_ files: [FlowFile]) -> (catalog: FlowCatalog?, problems: [FlowProblem]) {
        var known: [String: [Int: String]] = [:]
        let contents = files.map { read($0, &known) }
        let catalog = FlowCatalog(contents.compactMap(\.flow))
        let check = CatalogCheck(catalog: catalog, known: known, services: services, span: span)
        let problems = contents.flatMap { file in
            file.problems + (file.flow.map { check.problems(of: $0, in: file) } ?? [])
        }
        return (problems.contains { $0.severity == .error } ? nil : catalog, problems)
    }

    /// - Parameter known: the files of all flows by id and version.
    private func read(_ file: FlowFile, _ known: inout [String: [Int: String]]) -> ReadFlow {
        var reader = FlowReader(file: file.name, source: file.bytes, services: services, zone: zone)
        var read: FlowDefinition?
        do {
            let (heading, flow) = reader.read(try JSONDocument(parsing: file.bytes, comments: true))
            if let heading, let first = known[heading.id]?[heading.version] {
                reader.report(
                    JSONPointer(["id"]), .duplicateFlow,
                    "version \(heading.version) of \(heading.id) is in \(first) already")
            } else {
                if let heading { known[heading.id, default: [:]][heading.version] = file.name }
                read = flow
            }
        } catch {
            let place = JSONSourceLocation(offset: error.offset, in: file.bytes)
            let pointer = error.pointer.flatMap { JSONPointer(parsing: $0) } ?? .root
            reader.report(pointer, .notJSON, "\(place): \(error.clause(in: file.bytes))")
        }
        return ReadFlow(file: file.name, flow: read, problems: reader.problems)
    }
}

/// What the reader has found in a file.
struct ReadFlow {
    let file: String
    let flow: FlowDefinition?
    let problems: [FlowProblem]
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
