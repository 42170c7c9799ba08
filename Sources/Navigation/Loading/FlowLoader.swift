/// Reads flow files into a catalog and finds everything that is wrong with all of them.
public struct FlowLoader: Sendable {
    public let services: ServiceDirectory

    public init(services: ServiceDirectory) { self.services = services }

    /// - Returns: the catalog, unless a problem is an error; and all problems in the order of the files.
    public func load(_ files: [FlowFile]) -> (catalog: FlowCatalog?, problems: [FlowProblem]) {
        fatalError("to come")
    }
}
