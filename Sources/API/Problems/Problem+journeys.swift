import HTTPServer
import JSONDocument
import Navigation
import Sessions

extension Problem {
    /// The problem for an error of a journey.
    package init(_ error: JourneyError) {
        switch error {
        case .notFound: self.init(.journeyNotFound, error.description)
        case .preconditionFailed(let current):
            // A journey that does not exist has no entity tag.
            self.init(
                .preconditionFailed, error.description,
                fields: current.map { [.etag: $0.description] } ?? [:])
        case .preconditionRequired: self.init(.preconditionRequired, error.description)
        case .tooMany: self.init(.tooManyJourneys, error.description)
        case .moved: self.init(.journeyMoved, error.description)
        case .notPortable: self.init(.journeyNotPortable, error.description)
        case .tooManyLinks: self.init(.tooManyLinks, error.description)
        case .linkUnusable: self.init(.linkNotFound, error.description)
        case .noMainFlow:
            self.init(
                .invalidInput, error.description,
                errors: [JSONViolation(pointer: "/flow", detail: "is required: the journey has not run a flow yet")])
        }
    }

    /// The problem for a request that the journey's flow does not allow. The journey is unchanged.
    ///
    /// - Parameters:
    ///   - path: the journey's, if it exists and can be started over.
    ///   - bringsInput: whether the input was a part of the request; otherwise the flow passed it to a child flow.
    ///   - restart: how to start the journey over; nil when that is not known.
    package init(
        _ refusal: JourneyRefusal, ofJourneyAt path: String?, bringsInput: Bool = true,
        restart: JourneyRestart? = nil
    ) {
        switch refusal {
        case .eventNotAccepted(let event, let accepted):
            self.init(
                .eventNotAccepted, "The event \(event.quoted) is not accepted here.",
                members: [(name: "accepted", value: JSONDocument(accepted.map { JSONDocument($0) }))])
        case .guardNotMet(let places):
            self.init(.guardNotMet, "The condition of this event does not hold.", errors: places)
        case .eventDataInvalid(let places):
            self.init(
                .invalidInput, "The event does not accept this data here.", errors: places.within("/data"))
        case .inputInvalid(let flow, let places) where !bringsInput:
            self.init(
                .actionFailed, "The flow \(flow.quoted) does not accept the input that it would be given here.",
                errors: places.within("/input"))
        case .inputInvalid(let flow, let places):
            self.init(
                .invalidInput, "The flow \(flow.quoted) does not accept this input.",
                errors: places.within("/input"))
        case .unknownFlow(let flow, let version):
            self.init(
                .flowNotFound,
                version.map { "There is no version \($0) of a flow \(flow.quoted)." }
                    ?? "There is no flow \(flow.quoted).")
        case .actionFailed(let place):
            self.init(.actionFailed, errors: [place])
        case .serviceInvalid(let service, let places):
            self.init(
                .invalidState, "The state of service \(service.quoted) would violate its schema.",
                errors: places)
        case .finished(let outcome):
            let end = outcome.map { "The journey is finished, with the outcome \($0.quoted)." }
            self.init(
                .journeyFinished, (end ?? "The journey is finished.") + Self.startAgainSentence(restart),
                members: Self.startAgain(path, restart))
        case .expired:
            self.init(
                .journeyExpired, "The journey has expired." + Self.startAgainSentence(restart),
                members: Self.startAgain(path, restart))
        case .due: self.init(.contention, fields: [.retryAfter: "1"])
        case .endless: self.init(.endlessFlow)
        case .unreachable(let screen, let places):
            self.init(
                .unreachable, "The way there is blocked at the screen \(screen.quoted).",
                errors: places, members: [(name: "screen", value: JSONDocument(screen))])
        case .unknownScreen(let screen):
            // Asked for by a journey that is there, or by one that is to be started.
            let member = path == nil ? "at" : "to"
            self.init(
                .invalidInput,
                errors: [
                    JSONViolation(pointer: "/\(member)", detail: "there is no screen \(screen.quoted)")
                ])
        case .paramsInvalid(let places):
            self.init(
                .invalidInput, "The screen does not take these params.", errors: places.within("/params"))
        case .stackFull: self.init(.stackFull)
        case .taskOver: self.init(.taskOver)
        case .unknownOutcome(let outcome, let known): self.init(unknownOutcome: outcome, known: known)
        case .outputInvalid(let outcome, let places):
            self.init(
                .invalidInput, "The output is not one that the task can have with the outcome \(outcome.quoted).",
                errors: places.within("/output"))
        case .tooManyTasks(let limit):
            self.init(.tooManyTasks, "The session has \(limit) tasks that nobody has done yet, which is the limit.")
        case .orphaned(let flow, let version):
            self.init(
                .journeyOrphaned,
                "What the journey stands on in version \(version) of \(flow.quoted) is no longer loaded."
                    + Self.startAgainSentence(restart), members: Self.startAgain(path, restart))
        }
    }

    /// The problem that keeps the result of a task from being taken.
    package init(ofResult error: any Error) {
        switch error {
        case let refusal as JourneyRefusal: self.init(refusal, ofJourneyAt: nil, bringsInput: false)
        case let error as SessionError: self.init(error)
        default: self.init(.internalError)
        }
    }

    /// The problem as a document.
    package var document: JSONDocument {
        var json = JSONWriter(reservingCapacity: 512)
        write(to: &json, requestID: nil)
        // The writer always writes valid JSON.
        return (try? JSONDocument(parsing: json.bytes)) ?? .null
    }

    /// The text of a journey; of one that cannot go on with the problem that keeps it.
    package static func shown(_ text: JourneyText, under basePath: String) -> [UInt8] {
        guard let refusal = text.problem else { return text.bytes }
        let problem = Problem(refusal, ofJourneyAt: nil, bringsInput: false)
        var json = JSONWriter(reservingCapacity: 1_024)
        // The view with one more member at its end.
        json.raw(text.bytes.dropLast())
        json.name("problem")
        problem.write(to: &json, requestID: nil, basePath: basePath)
        json.endObject()
        return json.bytes
    }

    /// A problem that is kept as a document, for a response whose addresses begin with the base path.
    package static func shown(_ kept: JSONDocument, under basePath: String) -> JSONDocument {
        guard !basePath.isEmpty, let members = kept.members else { return kept }
        return JSONDocument(
            members: members.map { name, value in
                guard name == "type", let path = value.string else { return (name: name, value: value) }
                return (name: name, value: JSONDocument(basePath + path))
            })
    }

    private static func startAgainSentence(_ restart: JourneyRestart?) -> String {
        " start_again says how to begin anew."
            + (restart?.neededInput == nil ? "" : " The flow needs an input: start_again has its schema.")
    }

    /// The request that starts the journey over, as data: with the flow, and the input again. Where the flow does not
    /// take that, the schema of the input that the body needs.
    private static func startAgain(
        _ path: String?, _ restart: JourneyRestart?
    ) -> [(name: String, value: JSONDocument)] {
        guard let path else { return [] }
        var body: [(name: String, value: JSONDocument)] = []
        if let restart { body.append((name: "flow", value: JSONDocument(restart.flow))) }
        if let restart, restart.neededInput == nil, restart.input != .emptyObject {
            body.append((name: "input", value: restart.input))
        }
        var request: [(name: String, value: JSONDocument)] = [
            (name: "method", value: "PUT"), (name: "href", value: JSONDocument(path)),
            (name: "body", value: JSONDocument(members: body)),
        ]
        if let neededInput = restart?.neededInput { request.append((name: "input", value: neededInput)) }
        return [(name: "start_again", value: JSONDocument(members: request))]
    }
}
