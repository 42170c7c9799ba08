import HTTPTestClient
import Support
import Testing

/// A request that a page shows as a command of curl.
struct ShownRequest {
    private var method: String?
    private var path = ""
    private var fields: [(name: String, value: String)] = []
    private var body: String?
    private var showsHead = false

    /// - Parameters:
    ///   - words: of the command.
    ///   - token: what stands for `$AUTH`.
    /// - Throws: for what no page has used so far.
    init(_ words: [String], token: String) throws {
        var rest = words.dropFirst()
        while let word = rest.popFirst() {
            switch word {
            case "-s": continue
            case "-i": showsHead = true
            case "-X": method = rest.popFirst()
            case "-d": body = rest.popFirst()
            case "-H":
                let field = rest.popFirst() ?? ""
                switch field {
                case "$AUTH": fields.append(("Authorization", "Bearer \(token)"))
                case "$JSON": fields.append(("Content-Type", "application/json"))
                default:
                    guard let colon = field.firstIndex(of: ":") else { throw UnknownWord(word: field) }
                    let value = field[colon...].dropFirst().drop { $0 == " " }
                    fields.append((String(field[..<colon]), String(value)))
                }
            default:
                guard word.hasPrefix("localhost:8080/") else { throw UnknownWord(word: word) }
                path = String(word.dropFirst("localhost:8080".count))
            }
        }
    }

    /// What curl would print.
    func send(by client: TestClient) async throws -> String {
        let answer = try await client.send(
            method ?? (body == nil ? "GET" : "POST"), path, json: body, fields: fields)
        guard showsHead else { return answer.text }
        let head = answer.fields.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
        return "HTTP/1.1 \(answer.status) \(answer.reason)\n\(head)\n\n\(answer.text)"
    }

    struct UnknownWord: Error {
        let word: String
    }
}
