import Configuration
import Support

/// The configuration that the files, the environment and the flags make together.
func load(
    _ files: [String: String] = [:], file: String? = nil, environment: [String: String] = [:],
    set: [String: String] = [:]
) async throws -> LoadedConfiguration {
    try await withFolder(files) { reader, _ in
        let flags = set.sorted { $0.key < $1.key }.map { FlagValue(flag: "--set", path: $0.key, text: $0.value) }
        return ConfigurationLoader(environment: environment, files: reader).load(file: file, flags: flags)
    }
}
