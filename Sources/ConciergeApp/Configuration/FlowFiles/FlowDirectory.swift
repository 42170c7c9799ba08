import JSONDocument
import Navigation

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
