import HTTPServer
import JSONDocument
import Navigation
import Operations
import Sessions

// What the line of a request says besides what holds for all: names and ids, nothing that a client has written.
extension HTTPRequest {
    /// Leaves the id of the session for the log.
    func note(_ session: SessionID) { note = Note(high: session.high, low: session.low) }

    /// Leaves the session and its user for the log.
    func note(_ session: Session, of log: Log) {
        note(session.id)
        if takesRemarks, let user = session.userID.flatMap(log.shown) { remark("user", user) }
    }

    /// Says which journey the request is about, and where it went.
    func remark(_ form: JourneyForm) {
        guard takesRemarks else { return }
        guard let way = form.way else { return remark(form.text) }
        remark(flow: way.flow, form.text.journey)
        if let from = way.from { remark("from", from) }
        remark("to", way.to)
    }

    func remark(_ text: JourneyText) { remark(flow: text.flow, text.journey) }

    /// Says which journey the request is about, and where it stands.
    func remark(standing journey: String, of session: Session) {
        guard takesRemarks, let place = session.place(ofJourney: journey) else { return }
        remark(flow: place.flow, journey)
        if let state = place.state { remark("from", state) }
    }

    private func remark(flow: @autoclosure () -> String, _ journey: @autoclosure () -> String) {
        remark("flow", flow())
        remark("journey", journey())
    }

    /// Says which task the request is about.
    func remark(_ task: TaskID, of sessions: Sessions) async {
        note(task.session)
        guard takesRemarks, let name = await sessions.name(of: task) else { return }
        remark("task", name)
        if !task.isNotice { remark("journey", task.journey) }
    }

    /// Says why the result of a task is held.
    func remark(held problem: JSONDocument) {
        if let code = problem[member: "code"]?.string { remark("code", code) }
    }
}

extension FlowCatalog {
    /// The names of all events that a client may send: what else it sends is not for the log.
    var eventNames: Set<String> {
        var names: Set = ["back"]
        for transition in flows.lazy.flatMap(\.allTransitions) {
            if case .event(let name) = transition.cause { names.insert(name) }
        }
        return names
    }
}
