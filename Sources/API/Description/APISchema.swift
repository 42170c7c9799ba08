/// A schema of the description, by its name among the components.
///
/// An operation names it by a literal. A test fails for a name that ``APIComponents`` do not have, and for a schema
/// that no operation needs.
package struct APISchema: Hashable, Sendable, ExpressibleByStringLiteral {
    package let name: String

    package init(stringLiteral name: String) { self.name = name }

    // Each stands for a schema that every service, or every command, has of its own.
    package static let serviceState: APISchema = "ServiceState"
    package static let servicePatch: APISchema = "ServicePatch"
    package static let commandInput: APISchema = "CommandInput"
    package static let commandOutput: APISchema = "CommandOutput"
    package static let ofEachService = [serviceState, servicePatch, commandInput, commandOutput]

    // The loaded flows have narrower ones.
    package static let newJourney: APISchema = "NewJourney"
    package static let journeyEvent: APISchema = "JourneyEvent"

    package static let problem: APISchema = "Problem"

    var isOfEachService: Bool { Self.ofEachService.contains(self) }
}
