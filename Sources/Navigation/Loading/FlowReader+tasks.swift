import JSONDocument

extension FlowReader {
    /// More attempts than that are a mistake: with any factor the waits between them are a day long.
    static let mostAttempts = 1_000

    mutating func readTask(_ id: String, _ document: JSONDocument, at place: JSONPointer) -> FlowState.Kind {
        checkKeys(
            of: document, at: place,
            allowed: FlowKeys.task.names, of: "a task")
        let input = document[member: "input"].flatMap {
            readTemplate($0, at: place.appending("input"), DataContext(event: .maybe, hasOutput: true))
        }
        let timeout = document[member: "timeout"].flatMap {
            milliseconds($0, at: place.appending("timeout"), "timeout")
        }
        let ends = readTaskEnds(document, at: place, hasTimeout: document[member: "timeout"] != nil)
        let screen = Screen(
            name: id, title: localText("title", in: document, at: place), data: [], events: [], accepts: [],
            requires: [],
            entry: [], exit: [], back: readTaskBack(document, at: place),
            timeout: timeout.map { ScreenTimeout(after: $0, transition: nil) })
        let retry = readRetry(document, at: place)
        guard let task = name("task", in: document, at: place, isRequired: true) else {
            return .final(Ending(outcome: id, output: nil))
        }
        return .task(TaskState(task: task, input: input, screen: screen, retry: retry, ends: ends))
    }

    private mutating func readTaskEnds(
        _ document: JSONDocument, at place: JSONPointer, hasTimeout: Bool
    ) -> [ChildEnd] {
        let context = DataContext(event: .never, hasOutput: true)
        var ends: [ChildEnd] = []
        for (name, value) in members("on", in: document, at: place, isRequired: true) {
            let place = place.appending("on").appending(name)
            guard name == "done" || (name.hasPrefix("done.") && name.utf8.count > "done.".utf8.count) else {
                report(
                    place, .unknownEvent, "on a task only \"done\" and \"done.<outcome>\" happen",
                    guess: guess(name, among: ["done", "done.\(name)"]))
                continue
            }
            let outcome = name == "done" ? nil : String(name.dropFirst("done.".count))
            if outcome == TaskState.timeout, !hasTimeout {
                report(place, .unknownOutcome, "the task has no timeout, so done.timeout never happens")
            }
            ends.append(ChildEnd(outcome: outcome, transitions: readTransitions(value, at: place, context)))
        }
        let needed = [TaskState.failed] + (hasTimeout ? [TaskState.timeout] : [])
        for outcome in needed where !ends.contains(where: { $0.outcome == outcome || $0.outcome == nil }) {
            report(
                place.appending("on"), .missingKey,
                "no transition for a task that ends with \"\(outcome)\"; write done.\(outcome), or done for every outcome "
                    + "that has no transition of its own")
        }
        return ends
    }

    private mutating func readTaskBack(_ document: JSONDocument, at place: JSONPointer) -> BackRule {
        guard let back = document[member: "back"] else { return .forbidden }
        if back.kind != .bool {
            report(
                place.appending("back"), .wrongType, "back of a task is \(back.kind.phrase); expected a boolean")
        }
        return back.bool == true ? .allowed : .forbidden
    }

    private mutating func readRetry(_ document: JSONDocument, at place: JSONPointer) -> TaskRetry {
        guard let retry = document[member: "retry"] else { return .never }
        let place = place.appending("retry")
        guard retry.kind == .object else {
            report(
                place, .wrongType, "retry is \(retry.kind.phrase); expected an object with attempts, after and factor"
            )
            return .never
        }
        checkKeys(of: retry, at: place, allowed: FlowKeys.retry.names, of: "the retry of a task")
        let attempts = retry[member: "attempts"].flatMap {
            wholeNumber($0, at: place.appending("attempts"), "attempts")
        }
        if attempts == nil, retry[member: "attempts"] == nil {
            report(place, .missingKey, "attempts is missing: how often the task is tried at most")
        }
        if let attempts, attempts > Self.mostAttempts {
            report(
                place.appending("attempts"), .badValue,
                "attempts is \(attempts); expected \(Self.mostAttempts) or less")
        }
        let after = retry[member: "after"].flatMap { milliseconds($0, at: place.appending("after"), "after") }
        let factor = retry[member: "factor"]
        let number = factor?.double ?? factor?.int.map(Double.init)
        if let factor, !(number.map { (1...100).contains($0) } ?? false) {
            report(
                place.appending("factor"), number == nil ? .wrongType : .badValue,
                "factor is \(factor.double == nil && factor.int == nil ? factor.kind.phrase : factor.description); expected "
                    + "a number from 1 to 100")
        }
        return TaskRetry(attempts: attempts ?? 1, after: after ?? 0, factor: number ?? 1)
    }

    // MARK: - Events of back ends

    /// Reads `backend` of the flow. It names events of the flow, or of any of its screens.
    ///
    /// - Parameter states: the members of `states`.
    mutating func readFlowBackend(_ document: JSONDocument, states: [(name: String, value: JSONDocument)]) -> Set<
        String
    > {
        // Asked for only where a flow has the key: it looks at every state.
        guard document[member: "backend"] != nil else { return [] }
        let events = flowEvents + states.flatMap { $0.value[member: "on"]?.members?.map(\.name) ?? [] }
        return readBackend(document, at: .root, among: events)
    }

    /// Reads `backend`: the events that only a back end may send.
    mutating func readBackend(
        _ document: JSONDocument, at place: JSONPointer, among events: [String]
    ) -> Set<String> {
        var names: Set<String> = []
        for (index, element) in (elements("backend", in: document, at: place) ?? []).enumerated() {
            let place = place.appending("backend").appending(index)
            guard let name = element.string else {
                report(place, .wrongType, "an event is named by a string, not by \(element.kind.phrase)")
                continue
            }
            if events.contains(name) {
                names.insert(name)
            } else {
                report(
                    place, .unknownEvent, "backend names \"\(name)\", which is not an event in `on`",
                    guess: guess(name, among: events))
            }
        }
        return names
    }
}
