import JSONDocument
import Navigation
import Sessions

// What `concierge dev` does to journeys besides what a server does.
extension Application {
    /// Starts over the active journeys that run one of these flows, alone or among others, with the input that each was
    /// given.
    ///
    /// - Returns: how many there were, and why some cannot start over.
    package func startOver(_ flows: Set<String>) async throws -> (count: Int, refused: [String]) {
        var (count, refused) = (0, [String]())
        var query = JourneyQuery(limit: 256)
        repeat {
            let (found, next) = try await sessions.journeys(query)
            for journey in found
            where journey.journey.isActive && journey.journey.coordinators.contains(where: { flows.contains($0.flow) })
            {
                guard let session = try await sessions.session(journey.session) else { continue }
                let id = journey.journey.id
                do {
                    _ = try await session.restartJourney(
                        id, flow: nil, input: nil, condition: .none, by: .admin, withSchemas: false, once: nil)
                    count += 1
                } catch {
                    refused.append("journey \(id) of \(journey.journey.flow) cannot start over: \(error)")
                }
            }
            query.after = next
        } while query.after != nil
        return (count, refused)
    }

    /// The names of the tasks that journeys wait for, with the outcomes that their flows know.
    package var tasks: [String: [String]] {
        let all = loaded.flows.flows.flatMap(\.states).compactMap(\.task)
        return Dictionary(grouping: all, by: \.task).mapValues { states in
            var seen: Set<String> = []
            return states.flatMap(\.reportable).filter { seen.insert($0).inserted }
        }
    }

    /// Ends tasks as a back end does, until the task of the caller is cancelled.
    ///
    /// - Parameters:
    ///   - end: nil leaves the task to its lease. It is called again when its report is refused, if `again` says so.
    ///   - note: is told what has become of each.
    package nonisolated func endTasks(
        named name: String, again: Bool, by end: @Sendable (JSONDocument) async -> TaskReport?,
        note: @Sendable (String) -> Void
    ) async {
        while !Task.isCancelled {
            do {
                let tasks = try await sessions.claimTasks(
                    named: name, max: 1, lease: again ? Self.personsLease : Self.scriptsLease, wait: Self.claimWait)
                for task in tasks {
                    while let report = await end(task.input) {
                        do {
                            try await sessions.endTask(task.task.id, by: report)
                            note("task \(name) \(task.input): \(report.outcome)")
                            break
                        } catch TaskError.over {
                            note("task \(name): it is over")
                            break
                        } catch let error where again {
                            note("task \(name): \(error)")
                        }
                    }
                }
            } catch {
                note("task \(name): \(error)")
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }

    private static let claimWait: Int64 = 30_000
    private static let scriptsLease: Int64 = 30_000
    /// A person thinks, and answers for one task after the other.
    private static let personsLease: Int64 = 600_000
}
