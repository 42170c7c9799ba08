import FlowTools
import JSONDocument
import SeededRandomness
import Testing

@testable import Navigation

/// What coordinators own, side by side with a model that knows nothing but scopes within scopes.
@Suite("What coordinators own, by a naive model")
struct OwnershipModelTests {
    private static let services = ["x", "y", "z"]
    private static let depth = 4

    /// The services of a session: numbers.
    private struct Numbers: ServiceDocuments {
        var written: [String: JSONDocument] = [:]

        func document(of service: String) -> JSONDocument? { written[service] ?? defaultDocument(of: service) }
        func defaultDocument(of service: String) -> JSONDocument? {
            OwnershipModelTests.services.contains(service) ? ["n": 0] : nil
        }
        func violations(of document: JSONDocument, in service: String) -> [JSONViolation] { [] }

        /// `move` adds a number to that of the next service, and clears or removes its own.
        func call(
            _ command: String, of service: String, with input: JSONDocument?, now: Int64, work: inout Int,
            reading document: @escaping (String) -> JSONDocument?, isLive: @escaping (String) -> Bool?
        ) throws(CommandRefusal) -> CommandResult {
            let next = OwnershipModelTests.next(service)
            let sum = [service, next].compactMap { document($0)?[member: "n"]?.int }.reduce(0, +)
            return CommandResult(
                output: JSONDocument(sum),
                changes: [
                    ServiceChange(service: service, effect: input == true ? .cleared : .removed),
                    ServiceChange(service: next, effect: .written(["n": JSONDocument(sum)])),
                ])
        }

        mutating func perform(_ changes: [ServiceChange]) {
            for change in changes {
                switch change.effect {
                case .written(let document): written[change.service] = document
                case .cleared, .removed: written[change.service] = nil
                }
            }
        }
    }

    private static func next(_ service: String) -> String {
        let place = services.firstIndex(of: service) ?? 0
        return services[(place + 1) % services.count]
    }

    /// A coordinator: what it owns, and what has been written of that.
    private struct Scope {
        let owns: Set<String>
        var values: [String: Int] = [:]
    }

    /// Flow number `level`, which starts the next one.
    private static func flow(_ level: Int, owns: Set<String>) -> JSONDocument {
        var events: [(name: String, value: JSONDocument)] = [
            (name: "child", value: ["target": "child"]), (name: "end", value: ["target": "done"]),
        ]
        for service in services {
            let path = JSONDocument("/\(service)/n")
            events += [
                (
                    name: "set_\(service)",
                    value: ["actions": [["op": "replace", "path": path, "value": ["$from": "/event/n"]]]]
                ), (name: "clear_\(service)", value: ["actions": [["clear": JSONDocument(service)]]]),
                (name: "remove_\(service)", value: ["actions": [["remove": JSONDocument(service)]]]),
                (
                    name: "move_\(service)",
                    value: [
                        "actions": [
                            ["call": JSONDocument("\(service)/move"), "with": JSONDocument(level % 2 == 0)],
                            ["op": "test", "path": JSONDocument("/\(next(service))/n"), "value": ["$from": "/result"]],
                        ]
                    ]
                ),
            ]
        }
        let next = JSONDocument("f\((level + 1) % depth)")
        return [
            "id": JSONDocument("f\(level)"), "version": 1, "initial": "s",
            "owns": JSONDocument(owns.sorted().map { JSONDocument($0) }),
            "states": [
                "s": [
                    "data": JSONDocument(services.map { JSONDocument($0) }), "on": JSONDocument(members: events),
                ], "child": ["type": "flow", "flow": next, "on": ["done": [:]]], "done": ["type": "final"],
            ],
        ]
    }

    @Test("2,000 random steps see and change what the model says", arguments: 0..<20)
    func random(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let owned = (0..<Self.depth).map { _ in
            Set(Self.services.filter { _ in Bool.random(using: &generator) })
        }
        let files = owned.indices.map {
            FlowFile(name: "f\($0).json", bytes: Self.flow($0, owns: owned[$0]).serialized())
        }
        let directory = ServiceDirectory(
            Self.services.map {
                ServiceDirectory.Entry(
                    name: $0, commands: [ServiceDirectory.Command(name: "move", input: ["type": "boolean"])])
            })
        let loaded = FlowLoader(services: directory).load(files)
        let engine = FlowEngine(catalog: try #require(loaded.catalog, "\(loaded.problems)"))
        var services = Numbers()
        var session: [String: Int] = [:]
        var scopes: [Scope] = []
        func value(of service: String) -> Int {
            let scope = scopes.last { $0.owns.contains(service) }
            return scope.map { $0.values[service] ?? 0 } ?? session[service] ?? 0
        }
        func set(_ service: String, _ value: Int?) {
            if let place = scopes.lastIndex(where: { $0.owns.contains(service) }) {
                scopes[place].values[service] = value
            } else {
                session[service] = value
            }
        }
        var journey: Journey?
        for number in 0..<100 {
            guard let current = journey, current.isActive else {
                journey = try engine.start(flow: "f0", id: "main", services: services, now: 0).journey
                scopes = [Scope(owns: owned[0])]
                continue
            }
            let service = try #require(Self.services.randomElement(using: &generator))
            let verb = try #require(
                ["set", "set", "clear", "remove", "move", "child", "end", "back"].randomElement(using: &generator))
            if verb == "child", scopes.count > 6 { continue }
            if verb == "back", scopes.count == 1 { continue }
            let event = ["child", "end", "back"].contains(verb) ? verb : "\(verb)_\(service)"
            let step = try engine.send(
                event, data: ["n": JSONDocument(number)], to: current, services: services, now: 0)
            services.perform(step.changes)
            // Each step is one of keeping journeys, too.
            journey = Journey(step.journey.document)
            #expect(journey == step.journey)
            switch verb {
            case "child": scopes.append(Scope(owns: owned[scopes.count % Self.depth]))
            case "end", "back": scopes.removeLast()
            case "move":
                let sum = value(of: service) + value(of: Self.next(service))
                set(service, nil)
                set(Self.next(service), sum)
            default: set(service, verb == "set" ? number : nil)
            }
            guard step.journey.isActive else {
                #expect(step.journey.owned.isEmpty)
                continue
            }
            let view = try engine.view(step.journey, services: services, now: 0)
            for service in Self.services {
                let expected = value(of: service)
                #expect(
                    view.screen?[service] == ["n": JSONDocument(expected)], "seed \(seed), step \(number), \(event)")
            }
        }
    }
}
