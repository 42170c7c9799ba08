/// Operations that belong together, under a heading of the description.
struct APIGroup: Sendable {
    let name: String
    let meaning: String
    let operations: [APIOperation]

    /// What a listener has. A new group of endpoints has its line here, and the tests fail until it does.
    static func all(on listener: APIListener) -> [APIGroup] {
        switch listener {
        case .public:
            [
                APIGroup(
                    name: "Sessions", meaning: "A caller's own session.", operations: SessionEndpoints.operations),
                APIGroup(
                    name: "Services",
                    meaning: "The services of a session: JSON documents that its service locator makes on first use.",
                    operations: ServiceEndpoints.operations + TransactionEndpoint.operations),
                APIGroup(
                    name: "Flows", meaning: "What journeys run: screens, and what may happen on each.",
                    operations: FlowEndpoints.operations),
                APIGroup(
                    name: "Journeys",
                    meaning: "Where a session stands in its flows. A client draws `screen` and sends one of `events`.",
                    operations: JourneyEndpoints.operations),
                program,
            ]
        case .admin:
            [
                APIGroup(
                    name: "Sessions", meaning: "Any session, and the users attached to them.",
                    operations: AdminSessionEndpoints.operations),
                APIGroup(
                    name: "Services", meaning: "The services of any session.",
                    operations: ServiceEndpoints.operations),
                APIGroup(
                    name: "Journeys", meaning: "Where journeys stand.", operations: AdminJourneyEndpoints.operations),
                APIGroup(
                    name: "Moving", meaning: "Everything from one installation to another.",
                    operations: MoveEndpoints.operations),
                APIGroup(
                    name: "Store", meaning: "Care for what sessions are kept in.",
                    operations: StoreEndpoints.operations),
                APIGroup(name: "Insight", meaning: "A look inside.", operations: InsightEndpoints.operations),
                program,
            ]
        }
    }

    private static let program = APIGroup(
        name: "Program", meaning: "Health, version and this description; on both listeners, without a credential.",
        operations: ProgramEndpoints.operations + OpenAPIEndpoint.operations)
}
