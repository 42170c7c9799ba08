import API
import JSONDocument
import Navigation
import Sessions

/// How a simulation shows the journey's screen, or why a step was refused.
enum SimulationText {
    static func screen(_ journey: JourneyView) -> String {
        guard let screen = journey.screen else {
            let output = journey.output.flatMap { $0.isNull ? nil : $0.description }
            let end = [journey.status.rawValue, journey.outcome, output].compactMap(\.self)
            return "  \(end.joined(separator: " "))\n"
        }
        var lines = ["screen  \(screen.id)" + (screen.name == screen.id ? "" : " (\(screen.name))")]
        if screen.isBusy { lines[0] += ", busy" }
        if let title = screen.title { lines.append("title   \(title)") }
        if let params = screen.params { lines.append("params  \(params)") }
        lines += screen.data.map { "data    \($0.service) \($0.document)" }
        lines.append("stack   " + journey.stack.map(frame).joined(separator: ", "))
        let enabled = journey.events.filter(\.enabled).map(\.name)
        lines.append("events  " + (enabled.isEmpty ? "none" : enabled.joined(separator: ", ")))
        for event in journey.events where !event.enabled {
            lines.append("not     \(event.name): " + event.why.map(reason).joined(separator: "; "))
        }
        return lines.map { "  \($0)\n" }.joined()
    }

    /// - Throws: the error itself, when it is not about the step.
    static func refusal(_ error: any Error) throws -> String {
        let problem = try problem(of: error)
        let members = problem.members.map { "  \($0.name) \($0.value)\n" }
        let places = problem.errors.map { "  \(place($0.pointer))\($0.detail)\n" }
        return "  refused \(problem.kind.code): \(problem.detail)\n" + members.joined() + places.joined()
    }

    /// - Throws: the error itself, when it is not about the step.
    static func problem(of error: any Error) throws -> Problem {
        switch error {
        case let refusal as JourneyRefusal: Problem(refusal, ofJourneyAt: nil)
        case let error as JourneyError: Problem(error)
        case let error as TaskError: Problem(error)
        default: throw error
        }
    }

    private static func reason(_ violation: JSONViolation) -> String { place(violation.pointer) + violation.detail }

    /// A reason does not always have a place.
    private static func place(_ pointer: String) -> String { pointer.isEmpty ? "" : "\(pointer) " }

    private static func frame(_ frame: FrameView) -> String {
        "\(frame.flow)/\(frame.screen)" + (frame.presentation == .modal ? " (modal)" : "")
    }
}
