import JSONDocument
import Navigation

extension SimulationScript.Given {
    init(_ document: JSONDocument, at place: String) throws(UsageError) {
        guard let members = document.members else {
            throw UsageError("\(place): given is an object")
        }
        for (name, value) in members {
            let place = "\(place)/\(name)"
            switch name {
            case "services": services = try Self.members(value, at: place)
            case "user": if !value.isNull { user = try Self.user(value, at: place) }
            case "now":
                guard let moment = value.string.flatMap(CalendarTime.init)?.text, let time = Timestamp(moment) else {
                    throw UsageError("\(place): now is a time such as \"2026-01-31T09:00:00Z\"")
                }
                now = time.millisecondsSince1970
            case "at":
                guard let screen = value.string else {
                    throw UsageError("\(place): at is the id of a screen")
                }
                at = screen
            case "children": children = try Self.ends(value, at: place)
            case "tasks": tasks = try Self.ends(value, at: place)
            default:
                throw UsageError(
                    "\(place): given has no \"\(name)\"; it has services, user, now, at, children and tasks")
            }
        }
    }

    private static func ends(
        _ value: JSONDocument, at place: String
    ) throws(UsageError) -> [String: (outcome: String, output: JSONDocument)] {
        var ends: [String: (outcome: String, output: JSONDocument)] = [:]
        for (name, end) in try members(value, at: place) {
            guard let outcome = end[member: "outcome"]?.string else {
                throw UsageError("\(place)/\(name): this is {\"outcome\": …, \"output\": …}")
            }
            ends[name] = (outcome, end[member: "output"] ?? .null)
        }
        return ends
    }

    private static func members(
        _ value: JSONDocument, at place: String
    ) throws(UsageError) -> [(name: String, value: JSONDocument)] {
        guard let members = value.members else {
            throw UsageError("\(place): this is not an object")
        }
        return members
    }

    private static func user(
        _ value: JSONDocument, at place: String
    ) throws(UsageError) -> (id: String, claims: JSONDocument) {
        if let id = value.string { return (id, .emptyObject) }
        guard let id = value[member: "user_id"]?.string else {
            throw UsageError("\(place): a user is an id, or {\"user_id\": …, \"claims\": …}")
        }
        return (id, value[member: "claims"] ?? .emptyObject)
    }
}

extension SimulationScript {
    /// What comes of a step.
    struct Expectation {
        var screen: String?
        /// The code of the problem; empty for any.
        var refused: String?
        var outcome: String?
        var stack: [String]?
        /// Parts of the documents of services.
        var data: [(name: String, value: JSONDocument)] = []

        init(_ document: JSONDocument, at place: String) throws(UsageError) {
            guard let members = document.members, !members.isEmpty else {
                throw UsageError("\(place): expect is an object with screen, refused, outcome, stack or data")
            }
            for (name, value) in members {
                switch (name, value.kind) {
                case ("screen", .string): screen = value.string
                case ("refused", .string): refused = value.string
                case ("refused", .bool) where value.bool == true: refused = ""
                case ("outcome", .string): outcome = value.string
                case ("stack", .array) where value.elements?.allSatisfy({ $0.string != nil }) == true:
                    stack = value.elements?.compactMap(\.string)
                case ("data", .object): data = value.members ?? []
                default:
                    throw UsageError(
                        "\(place)/\(name): expect has screen, refused, outcome, stack and data, and this is "
                            + "\(name) with \(value)")
                }
            }
        }

        /// The differences after a step that was taken.
        ///
        /// - Parameter documents: of the services that are in ``data``.
        func differences(from journey: JourneyView, _ documents: [String: JSONDocument]) -> [String] {
            var differences: [String] = []
            func compare(_ what: String, _ found: String?, _ expected: String?) {
                guard let expected, found != expected else { return }
                differences.append(
                    "\(what) is \(found.map(\.quoted) ?? "none"), and not \(expected.quoted)")
            }
            if let refused {
                differences.append("it was taken, and not refused" + (refused.isEmpty ? "" : " as \(refused)"))
            }
            compare("the screen", journey.screen?.id, screen)
            compare("the outcome", journey.outcome, outcome)
            if let stack, journey.stack.map(\.screen) != stack {
                differences.append(
                    "the stack is \(journey.stack.map(\.screen).joined(separator: ", ")), and not "
                        + stack.joined(separator: ", "))
            }
            for (name, expected) in data {
                let found = documents[name]
                if let found, found.contains(expected) { continue }
                differences.append("\(name) is \(found?.description ?? "not a service"), and does not have \(expected)")
            }
            return differences
        }
    }
}

extension JSONDocument {
    /// Whether the members of the other document are in this one, in objects at any depth.
    fileprivate func contains(_ part: JSONDocument) -> Bool {
        guard kind == .object, let members = part.members else { return self == part }
        return members.allSatisfy { name, value in self[member: name].map { $0.contains(value) } ?? false }
    }
}
