import Configuration
import FlowTools
import Navigation
import Sessions

/// Flows that a test cannot go on with.
package struct BrokenFlows: Error, CustomStringConvertible {
    package let description: String
}

/// The flows of these texts, which have no error in them.
package func flowCatalog(
    _ texts: [String], services: [ServiceFile] = [], adding added: SwiftServices = SwiftServices()
) throws -> FlowCatalog {
    let files = texts.enumerated().map { FlowFile(name: "flow \($0.offset)", bytes: Array($0.element.utf8)) }
    let (catalog, problems) = FlowLoader(services: .declared(by: services, adding: added)).load(files)
    guard let catalog else { throw BrokenFlows(description: problems.map { "\($0)" }.joined(separator: "\n")) }
    return catalog
}
