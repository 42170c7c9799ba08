/// The table of all keys for `config/README.md`, made from the keys themselves so that it cannot fall behind.
package enum ConfigurationReference {
    package static var markdown: String {
        let rows = ConfigurationKey.all.map { key in
            "| `\(key.path)` | \(key.typeName) | \(key.defaultText) | \(cell(key.allowed)) | \(cell(key.meaning)) |"
        }
        let head = ["| key | type | default | allowed | meaning |", "|---|---|---|---|---|"]
        return (head + rows).joined(separator: "\n") + "\n"
    }

    private static func cell(_ text: String) -> String {
        text.map { $0 == "|" ? "\\|" : String($0) }.joined()
    }
}
