import JSONDocument

/// Actions that call commands of services.
extension FlowReader {
    mutating func readCall(
        _ document: JSONDocument, at place: JSONPointer, _ context: DataContext
    ) -> Action? {
        checkKeys(of: document, at: place, allowed: FlowKeys.call.names, of: "an action with call")
        let input = document[member: "with"].flatMap { readTemplate($0, at: place.appending("with"), context) }
        guard let text = text("call", in: document, at: place),
            let (service, command) = findCommand(text, at: place.appending("call"))
        else { return nil }
        if !context.mayCall {
            report(place, .badValue, "the patch of a migration cannot call commands")
        }
        if command.waits {
            report(
                place.appending("call"), .badValue,
                "\(text) waits for something outside, and a step cannot wait; use a task")
        }
        switch (command.input, input) {
        case (let schema?, let input?):
            checkValue(input, fits: schema, at: place.appending("with"), context, .inputMismatch) {
                "\(text) does not take it"
            }
        case (_?, nil):
            if document[member: "with"] == nil {
                report(place, .missingKey, "with is missing: the input of \(text)")
            }
        case (nil, _?): report(place.appending("with"), .inputMismatch, "\(text) takes no input")
        case (nil, nil): break
        }
        return .call(service: service, command: command.name, input: input)
    }

    /// What `/result` may be after an action that calls a command; anything after one that could not be read.
    func output(of action: Action?) -> JSONDocument {
        guard case .call(let service, let name, _)? = action else { return true }
        return services[service]?.commands.first { $0.name == name }?.output ?? true
    }

    /// Finds `cart/add`.
    private mutating func findCommand(
        _ text: String, at place: JSONPointer
    ) -> (service: String, command: ServiceDirectory.Command)? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !parts.contains("") else {
            report(place, .badValue, "call is \"\(text)\"; expected a service and its command, as in \"cart/add\"")
            return nil
        }
        guard let service = services[parts[0]] else {
            report(
                place, .unknownService, "there is no service \"\(parts[0])\"",
                guess: guess(parts[0], among: services.names).map { "\($0)/\(parts[1])" })
            return nil
        }
        guard let command = service.commands.first(where: { $0.name == parts[1] }) else {
            let names = service.commands.map(\.name)
            report(
                place, .unknownCommand,
                "\(service.name) has no command \"\(parts[1])\"; it has \(names.isEmpty ? "none" : names.joinedAsList)",
                guess: guess(parts[1], among: names).map { "\(service.name)/\($0)" })
            return nil
        }
        return (service.name, command)
    }
}
