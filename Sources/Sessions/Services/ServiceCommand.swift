import JSONDocument
import Navigation

/// A command of a service in the frozen catalogue.
package final class ServiceCommand: Sendable {
    package let name: String
    /// What its input must be; `nil` when it takes none.
    package let input: ShapeRule?
    /// The JSON Schema of its output; `nil` when it has none.
    package let output: JSONDocument?
    let body: CommandDeclaration.Body

    init(_ declaration: CommandDeclaration, input: ShapeRule?) {
        name = declaration.name
        self.input = input
        output = declaration.output
        body = declaration.body
    }

    /// Whether it waits for something, so that it cannot be a part of another unit of work.
    package var isWaiting: Bool { if case .waiting = body { true } else { false } }

    /// The languages in which a command of a file speaks to people.
    package var languages: [String] { definition?.languages ?? [] }

    /// What its file says, if it has no code.
    var definition: CommandDefinition? { if case .written(let definition) = body { definition } else { nil } }

    /// Checks the input. An empty object is as good as none for a command that takes none.
    ///
    /// - Throws: ``SessionError/inputInvalid(_:)``.
    func check(_ document: JSONDocument?) throws(SessionError) {
        guard let input else {
            // Not compared with nil, which would be JSON's null.
            guard let document, document != .emptyObject else { return }
            throw .inputInvalid([JSONViolation(pointer: "", detail: "must be left out: the command takes no input")])
        }
        guard let document else {
            throw .inputInvalid([JSONViolation(pointer: "", detail: "is required: the command takes an input")])
        }
        // What a file says is checked together with its rules.
        if case .written = body { return }
        if input.accepts(document) { return }
        throw .inputInvalid(input.violations(in: document))
    }
}

extension ServiceCatalog {
    /// The commands of a service, and what is wrong with them.
    static func commands(of definition: ServiceDefinition) -> (commands: [ServiceCommand], problems: [String]) {
        var commands: [ServiceCommand] = []
        var problems: [String] = []
        for declaration in definition.commands {
            let name = "Command '\(declaration.name)' of service '\(definition.name)'"
            if !KeyName.isValid(declaration.name, most: 64) {
                problems.append("\(name): a name has 1 to 64 letters, digits, dots, hyphens and underscores.")
            }
            if commands.contains(where: { $0.name == declaration.name }) {
                problems.append("\(name) is defined twice: give one of the two another name.")
            }
            do {
                if let output = declaration.output { _ = try JSONSchema(output) }
                commands.append(
                    ServiceCommand(
                        declaration, input: try declaration.input.map { ShapeRule(schema: try JSONSchema($0)) }))
            } catch {
                problems.append("\(name) has a schema that is not usable: \(error)")
            }
        }
        return (commands, problems)
    }
}
