import JSONDocument
import Navigation
import Sessions
import Synchronization

/// Plays a script on a flow as the server would: a session with its services, kept in memory, and a clock that the
/// script moves.
struct Simulation {
    private let sessions: Sessions
    private let session: Session
    private let clock: SimulationClock
    private let output: ProgramOutput
    private let flow: FlowDefinition

    init(of flow: FlowDefinition, _ loaded: LoadedConfiguration, _ output: ProgramOutput) async throws {
        clock = SimulationClock()
        var settings = SessionSettings()
        // Flows are what runs out of time here.
        settings.idleTimeout = Self.decade
        settings.lifetime = Self.decade
        let engine = FlowEngine(catalog: loaded.flows)
        sessions = Sessions(
            settings: settings,
            catalog: try ServiceCatalog(declarations: loaded.services.map(ServiceDeclaration.init)),
            store: MemoryStore(), clock: clock, journeys: JourneySettings(engine: engine))
        session = try await sessions.create().0
        self.flow = flow
        self.output = output
    }

    /// - Returns: whether every step was taken.
    func play(_ script: SimulationScript, input: JSONDocument?) async throws -> Bool {
        output.result("start \(flow.id) \(flow.version)\(input.map { " \($0)" } ?? "")\n")
        let id: String
        do {
            let shown = try await session.startJourney(flow: flow.id, version: flow.version, input: input)
            id = shown.view.id
            output.result(SimulationText.screen(shown.view))
        } catch {
            output.result(try SimulationText.refusal(error))
            return false
        }
        var isComplete = true
        for step in script.steps {
            output.result("\n> \(step)\n")
            do {
                output.result(SimulationText.screen(try await take(step, in: id).view))
            } catch {
                output.result(try SimulationText.refusal(error))
                isComplete = false
            }
        }
        return isComplete
    }

    private func take(_ step: SimulationScript.Step, in id: String) async throws -> ShownJourney {
        switch step {
        case .event(let name, let data, let isFromBackend):
            return try await session.send(name, data: data, toJourney: id, isFromBackend: isFromBackend)
        case .task(let name, let outcome, let output):
            guard
                let task = try await sessions.claimTasks(named: name, max: 1, lease: Self.decade, wait: 0).first
            else { throw TaskError.notFound }
            try await sessions.endTask(task.task.id, outcome: outcome, output: output ?? .null)
            return try await session.journey(id)
        case .back: return try await session.send("back", toJourney: id)
        case .navigate(let screen):
            let (shown, path) = try await session.navigate(journey: id, to: screen)
            output.result("  by way of \(path.joined(separator: ", "))\n")
            return shown
        case .wait(let duration):
            clock.advance(duration)
            return try await session.journey(id)
        }
    }

    private static let decade: Int64 = 3650 * 86_400_000
}

/// The time of a simulation: it begins now, and the script moves it.
final class SimulationClock: SessionClock {
    private let time: Atomic<Int64>

    init(startingAt start: Int64 = SystemClock().now()) { time = Atomic(start) }

    func now() -> Int64 { time.load(ordering: .relaxed) }

    func wall(at steady: Int64) -> Int64 { steady }

    /// A simulation does not wait.
    func sleep(milliseconds: Int64) async throws {}

    func advance(_ duration: Duration) {
        let milliseconds = duration.components.seconds * 1_000 + duration.components.attoseconds / 1_000_000_000_000_000
        time.wrappingAdd(milliseconds, ordering: .relaxed)
    }
}
