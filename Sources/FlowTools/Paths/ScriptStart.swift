import JSONDocument

/// What a script begins with.
struct ScriptStart: Equatable {
    var input: JSONDocument
    /// The states of services, whole.
    var services: [String: JSONDocument] = [:]
    /// `{"user_id", "claims"}`; nil for nobody.
    var user: JSONDocument?
    /// Child flows that end at once.
    var children: [String: End] = [:]

    /// How a child flow ends.
    struct End: Equatable {
        let outcome: String
        let output: JSONDocument
    }

    /// The member `given` of a script; nil for nothing.
    ///
    /// - Parameter now: nil where the time of the start does not matter.
    func given(now: Int64?) -> JSONDocument? {
        var members: [(name: String, value: JSONDocument)] = []
        if !services.isEmpty {
            let states = services.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
            members.append((name: "services", value: JSONDocument(members: states)))
        }
        if let user { members.append((name: "user", value: user)) }
        if let now {
            let time = Timestamp(millisecondsSince1970: now).description
            members.append((name: "now", value: JSONDocument(time)))
        }
        if !children.isEmpty {
            let ends = children.sorted { $0.key < $1.key }.map { name, end -> (name: String, value: JSONDocument) in
                (name, ["outcome": JSONDocument(end.outcome), "output": end.output])
            }
            members.append((name: "children", value: JSONDocument(members: ends)))
        }
        // A literal nil beside a document would be the document null.
        guard !members.isEmpty else { return nil }
        return JSONDocument(members: members)
    }
}
