import API

extension JourneyEndpoints {
    static let operations: [APIOperation] = [
        APIOperation(
            method: .get, path: "/v1/sessions/{session}/journeys", id: "listJourneys",
            summary: "The journeys of the session; starts none",
            parameters: [.of, .limit, .cursor, .include, .acceptLanguage],
            responses: [.json("Those that are kept, the oldest first.", "JourneyList", headers: [.vary])],
            problems: [.invalidInput, .noUser]),
        APIOperation(
            method: .post, path: "/v1/sessions/{session}/journeys", id: "startJourney",
            summary: "Starts a journey, or takes one over by a link or from another session of the user",
            parameters: [.include, .acceptLanguage, .prefer, .idempotencyKey], body: .json(.journeyStart),
            responses: [
                .json(
                    "The journey, at its first screen.", "Journey", status: .created,
                    headers: [.location, .etag, .contentLanguage, .vary]),
                .json(
                    "The journey that runs already, with `resume`.", "Journey",
                    headers: [.etag, .contentLanguage, .vary]), minimal,
            ],
            problems: moving
                + [
                    .flowNotFound, .unreachable, .tooManyJourneys, .noUser, .linkNotFound, .journeyNotFound,
                    .journeyNotPortable,
                ]),
        APIOperation(
            method: .get, path: "/v1/sessions/{session}/journeys/{id}", id: "getJourney",
            summary: "Where the journey stands; `main` is started at the first look, when a flow is configured for it",
            parameters: [.include, .acceptLanguage, .ifNoneMatch, .ifMatch, .prefer],
            responses: [
                .json("The journey.", "Journey", headers: [.etag, .contentLanguage, .vary, .preferenceApplied]),
                APIResponse(
                    status: .notModified, meaning: "It shows what the client has already.",
                    headers: [.etag, .preferenceApplied]),
            ],
            problems: looking),
        APIOperation(
            method: .put, path: "/v1/sessions/{session}/journeys/{id}", id: "restartJourney",
            summary: "Starts the journey over: its stack and all its coordinators are released first",
            parameters: [.include, .acceptLanguage, .ifMatch, .ifNoneMatch, .prefer, .idempotencyKey],
            body: .json("JourneyRestart", isRequired: false),
            responses: [
                .json("The journey, at its first screen.", "Journey", headers: [.etag, .contentLanguage, .vary]),
                .json(
                    "The same, of a journey that was not there before.", "Journey", status: .created,
                    headers: [.location, .etag, .contentLanguage, .vary]),
                minimal,
            ],
            problems: moving + changing + [.flowNotFound, .tooManyJourneys]),
        APIOperation(
            method: .delete, path: "/v1/sessions/{session}/journeys/{id}", id: "abandonJourney",
            summary: "Gives the journey up: child coordinators first, then the stack; then it is forgotten",
            parameters: [.ifMatch, .ifNoneMatch, .idempotencyKey], responses: [.done("Given up.")],
            problems: changing + [.contention, .storageFull]),
        operationOfEvents,
        APIOperation(
            method: .post, path: "/v1/sessions/{session}/journeys/{id}/links", id: "linkJourney",
            summary: "A link by which the journey can be taken to another session, once",
            parameters: [.idempotencyKey], body: .json("LinkCreation", isRequired: false),
            responses: [.json("The link.", "IssuedLink", status: .created)],
            problems: over + [
                .journeyNotFound, .journeyMoved, .journeyNotPortable, .tooManyLinks, .stateTooLarge, .contention,
                .storageFull,
            ]),
        APIOperation(
            method: .post, path: "/v1/sessions/{session}/journeys/{id}/navigation", id: "navigateJourney",
            summary: "Goes to a screen along the shortest way that the flow allows now",
            parameters: [.include, .acceptLanguage, .ifMatch, .prefer, .idempotencyKey],
            body: .json("JourneyNavigation"),
            responses: [
                .json(
                    "The journey, and the way that it took.", "NavigatedJourney",
                    headers: [.etag, .contentLanguage, .vary]), minimal,
            ],
            problems: moving + changing + over + [.unreachable]),
    ]

    /// Those of ``addSteps(to:)``.
    static let operationsOfSteps = operations.filter {
        ["restartJourney", "abandonJourney", "sendEvent", "navigateJourney"].contains($0.id)
    }

    private static let operationOfEvents = APIOperation(
        method: .post, path: "/v1/sessions/{session}/journeys/{id}/events", id: "sendEvent",
        summary: "Something happened on the screen: the journey moves on. `back` goes back where that is allowed",
        parameters: [.include, .acceptLanguage, .ifMatch, .prefer, .idempotencyKey], body: .json(.journeyEvent),
        responses: [
            .json(
                "The journey, where it stands now.", "Journey",
                headers: [.etag, .contentLanguage, .vary]), minimal,
        ],
        problems: moving + changing + over + [.eventNotAccepted, .preconditionRequired])

    /// Whatever takes a step can meet these.
    private static let moving: [ProblemKind] = [
        .guardNotMet, .actionFailed, .invalidState, .stackFull, .journeyOrphaned, .endlessFlow, .stateTooLarge,
        .contention, .storageFull,
    ]
    private static let changing: [ProblemKind] = [
        .journeyNotFound, .journeyMoved, .invalidCondition, .preconditionFailed,
    ]
    /// A look does what time has done to the journey first.
    static let looking = moving + changing
    private static let over: [ProblemKind] = [.journeyFinished, .journeyExpired]

    private static let minimal = APIResponse.done(APIResponse.minimal.meaning, headers: [.etag, .preferenceApplied])
}
