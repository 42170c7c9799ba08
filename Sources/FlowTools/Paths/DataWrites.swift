import JSONDocument
import Navigation

/// Where the actions of a transition put the data of an event, the output of a task, or what else comes from outside.
struct DataWrites {
    private var ways: [(target: DataPath, source: DataPath)] = []

    init(_ actions: [Action]) {
        for action in actions {
            switch action {
            case .patch(let operation):
                if let value = operation.value { add(value, at: operation.path) }
            case .merge(let path, let value), .set(let path, let value): add(value, at: path)
            case .clear, .remove, .call, .task: break
            }
        }
    }

    var isEmpty: Bool { ways.isEmpty }

    private mutating func add(_ value: ValueTemplate, at path: DataPath) {
        guard path.built.isEmpty else { return }
        switch value {
        case .from(let source, let fallback):
            if source.built.isEmpty, source.service == nil { ways.append((path, source)) }
            if let fallback { add(fallback, at: path) }
        case .object(let members):
            for (name, value) in members {
                guard let inner = DataPath(path.text + JSONPointer([name]).description) else { continue }
                add(value, at: inner)
            }
        case .call(_, let arguments): for argument in arguments { add(argument, at: path) }
        case .day(let time, _): add(time, at: path)
        case .time(let from, _): add(from, at: path)
        case .either(_, let one, let other):
            add(one, at: path)
            add(other, at: path)
        case .literal, .array, .days, .list: break
        }
    }

    /// What is written must be like this to fit the services, where no schema describes it itself; nil when nothing is
    /// known.
    func schema(of root: DataPath.Root, in directory: ServiceDirectory) -> JSONDocument? {
        var members: [(name: String, value: JSONDocument)] = []
        for (target, source) in ways where source.root == root {
            guard let service = target.service, let whole = directory[service]?.schema,
                let schema = SchemaRoom(whole).schema(at: target.pointer)
            else { continue }
            if source.pointer.tokens.isEmpty { return schema }
            guard source.pointer.tokens.count == 1, let name = source.pointer.tokens.first,
                !members.contains(where: { $0.name == name })
            else { continue }
            members.append((name: name, value: schema))
        }
        guard !members.isEmpty else { return nil }
        return [
            "type": "object", "required": JSONDocument(members.map { JSONDocument($0.name) }),
            "properties": JSONDocument(members: members),
        ]
    }

    /// Wishes about services as wishes about what comes from outside; nil when nothing of it is written from there.
    func translated(_ wishes: [Wish]) -> [Wish]? {
        let moved = wishes.flatMap { wish -> [Wish] in
            guard case .service(let name) = wish.root else { return [wish] }
            return ways.compactMap { way -> Wish? in
                guard way.target.service == name,
                    let rest = Self.rest(of: wish.tokens, behind: way.target.pointer.tokens)
                else { return nil }
                return wish.moved(to: way.source.root, way.source.pointer.tokens + rest)
            }
        }
        return moved.contains { $0.root.isFromOutside } ? moved.filter(\.root.isFromOutside) : nil
    }

    private static func rest(of tokens: [String], behind start: [String]) -> [String]? {
        guard tokens.count >= start.count,
            zip(tokens, start).allSatisfy({ $0 == $1 || ($1 == "-" && Int($0) != nil) })
        else { return nil }
        return Array(tokens[start.count...])
    }
}
