/// A schema of the description, by its name among the components.
///
/// An operation names it by a literal. A test fails for a name that ``APIComponents`` do not have, and for a schema
/// that no operation needs.
struct APISchema: Hashable, Sendable, ExpressibleByStringLiteral {
    let name: String

    init(stringLiteral name: String) { self.name = name }

    // Each stands for a schema that every service, or every command, has of its own.
    static let serviceState: APISchema = "ServiceState"
    static let servicePatch: APISchema = "ServicePatch"
    static let commandInput: APISchema = "CommandInput"
    static let commandOutput: APISchema = "CommandOutput"
    static let ofEachService = [serviceState, servicePatch, commandInput, commandOutput]

    // The loaded flows have narrower ones.
    static let newJourney: APISchema = "NewJourney"
    static let journeyEvent: APISchema = "JourneyEvent"

    static let problem: APISchema = "Problem"

    var isOfEachService: Bool { Self.ofEachService.contains(self) }
}
