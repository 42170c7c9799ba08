import API

extension APIGroup {
    /// The groups of a listener. A new group of endpoints needs a line here; the tests fail without it.
    static func all(on listener: APIListener) -> [APIGroup] {
        switch listener {
        case .public:
            [
                APIGroup(
                    name: "Sessions", meaning: "A caller's own session.", operations: SessionEndpoints.operations),
                APIGroup(
                    name: "Services",
                    meaning: "The services of a session: JSON documents that its service locator makes on first use.",
                    operations: ServiceEndpoints.operations + ServiceEndpoints.journeyOperations
                        + TransactionEndpoint.operations),
                APIGroup(
                    name: "Flows", meaning: "What journeys run: screens, and the events that each accepts.",
                    operations: FlowEndpoints.operations),
                APIGroup(
                    name: "Journeys",
                    meaning: "A session's position in its flows. A client draws `screen` and sends one of `events`.",
                    operations: JourneyEndpoints.operations),
                APIGroup(
                    name: "Watching", meaning: "A session's changes, as they are committed.",
                    operations: WatchEndpoint.operations),
                program,
            ]
        case .admin:
            [
                APIGroup(
                    name: "Sessions", meaning: "Any session, and the users attached to them.",
                    operations: AdminSessionEndpoints.operations),
                APIGroup(
                    name: "Persons", meaning: "Everything that there is of a person.",
                    operations: PersonEndpoints.operations),
                APIGroup(
                    name: "Services", meaning: "The services of any session, and the documents of the process.",
                    operations: ServiceEndpoints.operations + ServiceEndpoints.journeyOperations
                        + ServiceEndpoints.processOperations),
                APIGroup(
                    name: "Journeys", meaning: "The positions of journeys.",
                    operations: AdminJourneyEndpoints.operations),
                APIGroup(
                    name: "Flows", meaning: "What journeys run, and how far they get.",
                    operations: FunnelEndpoints.operations),
                APIGroup(
                    name: "Tasks", meaning: "Work that journeys wait for, fetched and done by back ends.",
                    operations: TaskEndpoints.operations),
                APIGroup(
                    name: "Transfer", meaning: "Export and import of all sessions.",
                    operations: MoveEndpoints.operations),
                APIGroup(
                    name: "Store", meaning: "Maintenance of the store.",
                    operations: StoreEndpoints.operations),
                APIGroup(
                    name: "Reload", meaning: "Taking over changed files without a restart.",
                    operations: ReloadEndpoint.operations),
                APIGroup(
                    name: "Status", meaning: "Numbers and metrics of the server.",
                    operations: StatusEndpoints.operations),
                program,
            ]
        }
    }

    private static let program = APIGroup(
        name: "Program", meaning: "Health, version and this description; on both listeners, without a credential.",
        operations: ProgramEndpoints.operations + OpenAPIEndpoint.operations)
}
