import JSONDocument

/// Reads every `*.json` of the services directory.
enum ServiceDirectory {
    struct Contents {
        var fileCount = 0
        var services: [ServiceFile] = []
        /// Every declared name, also of files with a mistake.
        var names: [String] = []
        var problems: [ConfigurationProblem] = []
    }

    /// Returns the services in the order of their file names, and the problems of all files.
    ///
    /// - Parameters:
    ///   - origin: where the directory is named. A directory that cannot be read is reported there.
    ///   - added: the names of the services that the program adds.
    static func read(
        _ directory: String, namedAt origin: ValueOrigin, with files: FileReader, beside added: [String] = []
    ) -> Contents {
        let names: [String]
        do {
            names = try files.jsonFiles(in: directory)
        } catch {
            let problem = ConfigurationProblem(at: origin, pointer: "/services", code: error.code, "\(error)")
            return Contents(problems: [problem])
        }
        var contents = Contents()
        var firstUse = Dictionary(added.map { ($0, "the program") }, uniquingKeysWith: { first, _ in first })
        for name in names {
            contents.fileCount += 1
            let file: JSONFile
            do {
                file = try JSONFile(reading: PathText.join(directory, name), with: files)
            } catch {
                contents.problems.append(error)
                continue
            }
            let reader = ServiceFileReader(file)
            contents.problems += reader.problems
            if let declared = reader.name {
                if let first = firstUse[declared] {
                    contents.problems.append(
                        ConfigurationProblem(
                            at: file.origin(of: JSONPointer(["name"])), pointer: "/name", code: "duplicate_name",
                            "\(declared) is declared in \(first) already; allowed is a name of its own"))
                    continue
                }
                firstUse[declared] = file.path
                contents.names.append(declared)
            }
            if let service = reader.service { contents.services.append(service) }
        }
        return contents
    }
}
