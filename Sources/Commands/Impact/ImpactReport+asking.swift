import API
import Configuration
import JSONDocument
import Navigation
import Operations
import Sessions

/// What `concierge check --against` asks a running server.
extension ImpactReport {
    /// Has a running server try flows on its journeys.
    static func tried(
        _ flows: FlowCatalog, with services: [ServiceFile], at listener: AdminListener
    ) throws(CommandFailure) -> TriedFlows {
        let body: JSONDocument = [
            "flows": JSONDocument(flows.flows.map(\.document)),
            "services": JSONDocument(services.map(declaration)),
        ]
        let answer = try listener.send("POST", "/v1/journeys/trial", type: MediaType.json, body: body.serialized())
        let document = try? JSONDocument(parsing: answer.body)
        guard answer.status == 200, let document, let running = document[member: "running"]?.int,
            let staying = document[member: "staying"]?.int, let lost = document[member: "lost"]?.elements
        else {
            let detail = document?[member: "detail"]?.string ?? "it responds with status \(answer.status)"
            throw CommandFailure("the server at \(listener.place) cannot try these flows: \(detail)")
        }
        return TriedFlows(
            running: running, staying: staying,
            losses: lost.map {
                (
                    $0[member: "flow"]?.string ?? "", $0[member: "version"]?.int ?? 0, $0[member: "count"]?.int ?? 0,
                    $0[member: "detail"]?.string
                )
            },
            misfits: (document[member: "misfits"]?.elements ?? []).map {
                Misfit(
                    JourneyTrial.Misfit(
                        flow: $0[member: "flow"]?.string ?? "", version: $0[member: "version"]?.int ?? 0,
                        service: $0[member: "service"]?.string ?? "", pointer: $0[member: "pointer"]?.string ?? "",
                        detail: $0[member: "detail"]?.string ?? ""), count: $0[member: "count"]?.int ?? 0)
            })
    }

    /// What a flow can notice of a service, in the words of its file.
    private static func declaration(of service: ServiceFile) -> JSONDocument {
        var members: [(name: String, value: JSONDocument)] = [
            ("name", JSONDocument(service.name)), ("schema", service.schemaDocument), ("default", service.defaultState),
        ]
        // An older server does not know all of these.
        if service.scope == .process { members.append(("scope", "process")) }
        if service.access == .hidden { members.append(("access", "hidden")) }
        return JSONDocument(members: members + (service.commandsDocument.members ?? []))
    }

    /// The admin listener of a running server, which may have many journeys to look at.
    /// - Parameter configuration: that of the server, for its admin key and its certificate.
    static func listener(at url: String, _ configuration: Configuration) throws(CommandFailure) -> AdminListener {
        if let listener = AdminListener(at: url, configuration, timeoutSeconds: 60) { return listener }
        throw CommandFailure(
            "--against is \(url.quoted); allowed is the address of an admin listener, as in http://127.0.0.1:8081")
    }

    /// Asks a running server where its journeys are.
    static func census(at listener: AdminListener) throws(CommandFailure) -> [JourneyCensusRow] {
        let answer = try listener.send("GET", "/v1/journeys/census")
        guard answer.status == 200 else { throw CommandFailure(listener.refusal(answer)) }
        guard let census = (try? JSONDocument(parsing: answer.body)).flatMap(rows(of:)) else {
            throw CommandFailure(
                "the server at \(listener.place) is not the admin listener of a \(BuildInformation.name)")
        }
        return census
    }

    private static func rows(of document: JSONDocument) -> [JourneyCensusRow]? {
        guard let items = document[member: "items"]?.elements else { return nil }
        let rows = items.compactMap { item -> JourneyCensusRow? in
            guard let flow = item[member: "flow"]?.string, let version = item[member: "version"]?.int,
                let state = item[member: "state"]?.string, let count = item[member: "count"]?.int,
                let inUse = item[member: "in_use"]?.int
            else { return nil }
            return JourneyCensusRow(flow: flow, version: version, state: state, count: count, inUse: inUse)
        }
        return rows.count == items.count ? rows : nil
    }
}
