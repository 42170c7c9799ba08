import JSONDocument
import Synchronization

@testable import Sessions

/// What units of work have come to, in the order in which they were told.
final class Outcomes<Value: Sendable>: Sendable {
    private let told = Mutex<[(number: Int, outcome: Result<Value, any Error>)]>([])

    var numbers: [Int] { told.withLock { $0.map(\.number) } }
    var values: [Value] { told.withLock { $0.compactMap { try? $0.outcome.get() } } }
    var errors: [SessionError] {
        told.withLock { told in
            told.compactMap { entry -> SessionError? in
                guard case .failure(let error) = entry.outcome else { return nil }
                return error as? SessionError
            }
        }
    }

    /// All of them, by number, as texts that can be compared.
    var texts: [String] {
        told.withLock { $0.sorted { $0.number < $1.number }.map { "\($0.number): \($0.outcome)" } }
    }

    /// Begins a unit of work, and notes what comes of it, at once or later.
    func begin(
        _ number: Int, in session: Session, _ body: @escaping @Sendable (inout PendingState) throws -> Value
    ) {
        session.transact(body, then: note(number))
    }

    /// Notes what comes of a unit of work.
    func note(_ number: Int) -> Session.Completion<Value> {
        { outcome in self.told.withLock { $0.append((number, outcome)) } }
    }
}

extension Outcomes where Value == ServiceOperation.Outcome {
    func begin(
        _ number: Int, _ action: ServiceOperation.Action, on name: String, if condition: WriteCondition = .none,
        in session: Session
    ) {
        do {
            let service = try session.environment.definitions.catalog.service(named: name)
            session.perform(.init(action, on: service, condition: condition), then: note(number))
        } catch {
            note(number)(.failure(error))
        }
    }

    var revisions: [UInt64] { values.map(\.etag.revision) }
}

extension Session {
    var waitingCount: Int { state.withLock { $0.pipeline?.waiting.count ?? 0 } }
    var underWayCount: Int { state.withLock { $0.pipeline?.underWay.count ?? 0 } }
    var isBusy: Bool { state.withLock(\.isBusy) }

    /// Nil when it is done later.
    func performAtOnce(_ operation: ServiceOperation) throws -> ServiceOperation.Outcome? {
        try atOnce { perform(operation, then: $0) }
    }

    /// Nil when it is done later.
    @discardableResult
    func sendAtOnce(
        _ event: String, data: JSONDocument? = nil, toJourney id: String, condition: WriteCondition = .none
    ) throws -> JourneyText? {
        try atOnce { send(event, data: data, toJourney: id, condition: condition, then: $0) }?.text
    }
}

/// What a function has called back with when it returns; nil when it has not yet.
func atOnce<Value: Sendable>(_ begin: (@escaping Session.Completion<Value>) -> Void) throws -> Value? {
    let result = Mutex<Result<Value, any Error>?>(nil)
    begin { outcome in result.withLock { $0 = outcome } }
    return try result.withLock { $0 }?.get()
}
