import JSONDocument

extension FlowReader {
    private static let typeNames = ["screen", "choice", "flow", "task", "final"]

    /// Reads a state. One that makes no sense becomes an end, because its index is used in any case.
    mutating func readState(_ id: String, _ document: JSONDocument, at place: JSONPointer) -> FlowState {
        guard document.kind == .object else {
            report(place, .wrongType, "a state is an object, not \(document.kind.phrase)")
            return FlowState(id: id, kind: .final(Ending(outcome: id, output: nil)))
        }
        let type = text("type", in: document, at: place) ?? "screen"
        switch type {
        case "screen": return FlowState(id: id, kind: .screen(readScreen(id, document, at: place)))
        case "choice": return FlowState(id: id, kind: .choice(readBranches(document, at: place)))
        case "flow": return FlowState(id: id, kind: readChildFlow(id, document, at: place))
        case "task": return FlowState(id: id, kind: readTask(id, document, at: place))
        case "final": return FlowState(id: id, kind: .final(readEnding(id, document, at: place)))
        default:
            report(
                place.appending("type"), .badValue,
                "type is \"\(type)\"; expected one of \(Self.typeNames.joined(separator: ", ")), or none for a screen",
                guess: guess(type, among: Self.typeNames))
            return FlowState(id: id, kind: .final(Ending(outcome: id, output: nil)))
        }
    }

    private mutating func readScreen(_ id: String, _ document: JSONDocument, at place: JSONPointer) -> Screen {
        checkKeys(
            of: document, at: place,
            allowed: FlowKeys.screen.names,
            of: "a screen")
        let shapes = readShapes(in: document, at: place)
        let events = readEvents(in: document, at: place, shapes: shapes)
        checkShapes(shapes, at: place, accepted: events.map(\.event) + flowEvents)
        let forms = readForms(
            in: document, at: place, shapes: shapes, accepted: events.map(\.event) + flowEvents)
        let context = DataContext(event: .maybe, hasOutput: false)
        return Screen(
            name: text("screen", in: document, at: place) ?? id, title: localText("title", in: document, at: place),
            data: readShown(document, at: place), events: events, accepts: shapes,
            requires: readRequires(document, at: place),
            entry: actions("entry", in: document, at: place, context),
            exit: actions("exit", in: document, at: place, context),
            back: readBack(document, at: place), timeout: readScreenTimeout(document, at: place),
            otherwise: readOtherwise(document, at: place), always: readAlways(document, at: place),
            answers: readAnswers(document, at: place), forms: forms)
    }

    private mutating func readShown(_ document: JSONDocument, at place: JSONPointer) -> [String] {
        var shown: [String] = []
        for (index, element) in (elements("data", in: document, at: place) ?? []).enumerated() {
            let place = place.appending("data").appending(index)
            guard let name = element.string else {
                report(place, .wrongType, "a service is named by a string, not by \(element.kind.phrase)")
                continue
            }
            if checkService(name, at: place), !shown.contains(name) { shown.append(name) }
        }
        return shown
    }

    private mutating func readRequires(_ document: JSONDocument, at place: JSONPointer) -> [Guard] {
        (elements("requires", in: document, at: place) ?? []).enumerated().compactMap { index, element in
            readGuard(
                element, at: place.appending("requires").appending(index), DataContext(event: .never, hasOutput: false))
        }
    }

    private mutating func readBack(_ document: JSONDocument, at place: JSONPointer) -> BackRule {
        guard let back = document[member: "back"] else { return .allowed }
        let place = place.appending("back")
        switch back.kind {
        case .bool: return back.bool == false ? .forbidden : .allowed
        case .object:
            checkKeys(of: back, at: place, allowed: FlowKeys.back.names, of: "back")
            return stateName("target", in: back, at: place, isRequired: true).map { .target($0) } ?? .allowed
        default:
            report(place, .wrongType, "back is \(back.kind.phrase); expected true, false or an object with a target")
            return .allowed
        }
    }

    private mutating func readScreenTimeout(_ document: JSONDocument, at place: JSONPointer) -> ScreenTimeout? {
        guard let timeout = document[member: "timeout"] else { return nil }
        let place = place.appending("timeout")
        guard timeout.kind == .object else {
            return milliseconds(timeout, at: place, "timeout").map { ScreenTimeout(after: $0, transition: nil) }
        }
        let context = DataContext(event: .never, hasOutput: false)
        let transition = readTransition(timeout, at: place, context, keys: .screenTimeout)
        guard let after = timeout[member: "after"] else {
            report(place, .missingKey, "after is missing: how long the journey may stay on the screen")
            return nil
        }
        let isBare = timeout.count == 1
        return milliseconds(after, at: place.appending("after"), "after").map {
            ScreenTimeout(after: $0, transition: isBare ? nil : transition)
        }
    }

    private mutating func readBranches(_ document: JSONDocument, at place: JSONPointer) -> [Transition] {
        checkKeys(of: document, at: place, allowed: FlowKeys.branchChoice.names, of: "a choice")
        if document[member: "branches"] == nil {
            report(place, .missingKey, "branches is missing: the ways out of the choice")
        }
        let list = elements("branches", in: document, at: place) ?? []
        let context = DataContext(event: .maybe, hasOutput: true)
        var branches: [Transition] = []
        var isDecided = false
        for (index, branch) in list.enumerated() {
            let place = place.appending("branches").appending(index)
            guard branch.kind == .object else {
                report(place, .wrongType, "a branch is an object, not \(branch.kind.phrase)")
                continue
            }
            checkKeys(
                of: branch, at: place, allowed: FlowKeys.branch.names, of: "a branch")
            if isDecided {
                report(place, .unreachableTransition, "a branch above has no guard, so this one is never taken")
            }
            isDecided = isDecided || branch[member: "guard"] == nil
            let guardian = branch[member: "guard"].flatMap { readGuard($0, at: place.appending("guard"), context) }
            let nav = choice("nav", in: branch, at: place, NavigationVerb.self)
            let actions = actions("actions", in: branch, at: place, context)
            guard let target = stateName("target", in: branch, at: place, isRequired: true) else { continue }
            branches.append(
                Transition(
                    guard: guardian, target: target, nav: nav, actions: actions, history: .preserve,
                    params: readParams(branch, at: place, context), link: readLink(branch, at: place),
                    place: place.description))
        }
        if !isDecided, document[member: "branches"]?.kind == .array {
            report(
                place.appending("branches"), .choiceWithoutDefault,
                list.isEmpty
                    ? "the choice has no branches; the last must have no guard"
                    : "each branch has a guard; the last must have none, so that there always is a way out")
        }
        return branches
    }

    private mutating func readChildFlow(
        _ id: String, _ document: JSONDocument, at place: JSONPointer
    ) -> FlowState.Kind {
        checkKeys(of: document, at: place, allowed: FlowKeys.childFlow.names, of: "a child flow")
        let context = DataContext(event: .maybe, hasOutput: true)
        let input = document[member: "input"].flatMap { value -> ValueTemplate? in
            guard value.kind == .object else {
                report(place.appending("input"), .wrongType, "input is \(value.kind.phrase); expected an object")
                return nil
            }
            return readTemplate(value, at: place.appending("input"), context)
        }
        let version = document[member: "version"].flatMap {
            wholeNumber($0, at: place.appending("version"), "version")
        }
        var ends: [ChildEnd] = []
        for (name, value) in members("on", in: document, at: place) {
            let place = place.appending("on").appending(name)
            guard name == "done" || name.hasPrefix("done.") else {
                report(
                    place, .unknownEvent, "on a child flow only \"done\" and \"done.<outcome>\" happen",
                    guess: guess(name, among: ["done", "done.\(name)"]))
                continue
            }
            let outcome = name == "done" ? nil : String(name.dropFirst("done.".count))
            ends.append(ChildEnd(outcome: outcome, transitions: readTransitions(value, at: place, context)))
        }
        guard let flow = name("flow", in: document, at: place, isRequired: true) else {
            return .final(Ending(outcome: id, output: nil))
        }
        return .flow(
            ChildFlow(
                flow: flow, version: version, input: input, ends: ends,
                inputSchema: input.map { schema(of: $0, context) }))
    }

    private mutating func readEnding(_ id: String, _ document: JSONDocument, at place: JSONPointer) -> Ending {
        checkKeys(of: document, at: place, allowed: FlowKeys.final.names, of: "a final state")
        let output = document[member: "output"].flatMap {
            readTemplate($0, at: place.appending("output"), DataContext(event: .maybe, hasOutput: true))
        }
        return Ending(outcome: name("outcome", in: document, at: place) ?? id, output: output)
    }
}
