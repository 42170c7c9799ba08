import JSONDocument
import Navigation
import SeededRandomness

@testable import Sessions

/// Steps of journeys, and tasks.
extension Client {
    mutating func goOn(_ subject: Subject, _ server: SharedServer) async throws -> Outcome {
        do {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<3: try await look(subject, server)
            case 3..<7: try await begin(subject, server)
            default: try await Self.work(server, subjects)
            }
            return .answered
        } catch let error as SessionError where error.isTemporary {
            return .unknown
        }
    }

    private mutating func look(_ subject: Subject, _ server: SharedServer) async throws {
        let floor = subject.journey.begin()
        let session = try await server.sessions.authenticate(subject.token.presented)
        let view = try await session.journey("main").view
        subject.journey.saw(view.step, since: floor)
        ready[subject.id] = view.screen?.id == "ready" ? view.step : nil
    }

    private mutating func begin(_ subject: Subject, _ server: SharedServer) async throws {
        guard let step = ready.removeValue(forKey: subject.id) else { return try await look(subject, server) }
        let floor = subject.journey.begin()
        let session = try await server.sessions.authenticate(subject.token.presented)
        do {
            let shown = try await session.send("begin", toJourney: "main", condition: WriteCondition(step: step))
            subject.journey.took(shown.view.step, from: step, since: floor)
        } catch is JourneyRefusal {
            // Another client was faster.
        } catch is JourneyError {
            // The same.
        }
    }

    /// Fetches a few tasks and does them.
    static func work(_ server: SharedServer, _ subjects: [Subject], wait: Int64 = 0) async throws {
        let start = ContinuousClock.now
        for task in try await server.sessions.claimTasks(named: "work", max: 2, lease: 2_000, wait: wait) {
            let id = task.task.id
            guard let subject = subjects.first(where: { $0.id == id.session }) else { continue }
            subject.journey.claimed(id, attempt: task.task.attempt, since: start)
            do {
                try await server.sessions.endTask(id, outcome: "ok")
                subject.journey.ended(id)
            } catch TaskError.over {
                subject.journey.wasOver(id)
            } catch let error as SessionError where error.isTemporary {
                subject.journey.unknownEnd(id)
                throw error
            }
        }
    }
}
