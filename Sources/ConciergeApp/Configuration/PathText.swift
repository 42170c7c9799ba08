/// Paths as text: no file system is asked.
enum PathText {
    /// `name` as seen from `directory`; an absolute name stays as it is.
    static func join(_ directory: String, _ name: String) -> String {
        if directory.isEmpty || name.utf8.first == UInt8(ascii: "/") { return name }
        return directory.utf8.last == UInt8(ascii: "/") ? directory + name : "\(directory)/\(name)"
    }

    /// The directory part, empty when there is none: `config` of `config/concierge.json`.
    static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "" }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
