import Configuration
import FlowTools
import Foundation
import Navigation
import Sessions

/// The files that come with Concierge: what `make run` serves.
package enum ShippedFiles {
    /// The directory of the package.
    package static let directory = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
        .joined(separator: "/")

    /// Relative paths start where the package does.
    package static let repository = FileReader(directory: directory)

    /// The services of `config/services`.
    package static func services() throws -> [ServiceFile] {
        let loaded = ConfigurationLoader(environment: [:], files: repository).load()
        guard !loaded.hasErrors else {
            throw BrokenFlows(description: loaded.problems.map { "\($0)" }.joined(separator: "\n"))
        }
        return loaded.services
    }

    /// The text of one flow file.
    package static func flow(_ id: String) throws -> String { try text("config/flows/\(id).json") }

    /// The texts of all flow files.
    package static func flows() throws -> [String] {
        try repository.names(in: "config/flows").filter { $0.hasSuffix(".json") }.map { try text("config/flows/\($0)") }
    }

    /// The text of any file, by its path in the repository.
    package static func text(_ path: String) throws -> String {
        String(decoding: try repository.read(path), as: UTF8.self)
    }

    /// Writes one of them, changed for a test.
    package static func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path))
    }
}

/// The services that these files declare, which have no error in them.
package func serviceFiles(_ texts: [String]) async throws -> [ServiceFile] {
    var files = ["concierge.json": "{}"]
    for (number, text) in texts.enumerated() { files["services/\(number).json"] = text }
    return try await withFolder(files) { reader, _ in
        let loaded = ConfigurationLoader(environment: [:], files: reader).load(file: "concierge.json")
        guard !loaded.hasErrors else {
            throw BrokenFlows(description: loaded.problems.map { "\($0)" }.joined(separator: "\n"))
        }
        return loaded.services
    }
}

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
