import JSONDocument

extension Setting where Value == Configuration.Log.Audit {
    /// Where audit lines go.
    static var audit: Self {
        Self(
            name: "place", allowed: "stderr, or the path of a file: file:PATH, or a PATH with a slash",
            examples: "\"file:/var/log/concierge/audit.log\"",
            schema: ["type": "string", "pattern": "^(stderr|file:.+|.*/.*)$"],
            read: { $0.string.flatMap(Configuration.Log.Audit.init) }, show: { $0.description.inJSON },
            guess: { written in
                written.string.flatMap { NearestName.of($0, among: [Configuration.Log.Audit.stderr.description]) }?
                    .inJSON
            })
    }
}

extension Configuration.Log.Audit: CustomStringConvertible {
    fileprivate init?(_ text: String) {
        if text == Self.stderr.description {
            self = .stderr
            return
        }
        let scheme = "file:"
        let path = text.hasPrefix(scheme) ? String(text.dropFirst(scheme.count)) : text
        guard !path.isEmpty, !path.utf8.contains(0), path != text || path.contains("/") else { return nil }
        self = .file(path)
    }

    /// As in the configuration.
    package var description: String {
        switch self {
        case .stderr: "stderr"
        case .file(let path): "file:\(path)"
        }
    }
}
