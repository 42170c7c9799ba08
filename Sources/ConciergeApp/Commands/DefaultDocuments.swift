import JSONDocument
import Navigation
import Sessions

/// The services of a new session, for commands without sessions.
struct DefaultDocuments: ServiceDocuments {
    private struct Service {
        let schema: JSONSchema
        let state: JSONDocument
        /// Whether a written state gets the members of `state` that it lacks.
        let isCompleted: Bool
    }

    private let services: [String: Service]

    /// - Throws: `JSONSchemaError` when a built-in schema is not valid.
    init(_ files: [ServiceFile]) throws(JSONSchemaError) {
        var services: [String: Service] = [:]
        for service in ServiceDefinition.builtIn {
            services[service.name] = Service(
                schema: try JSONSchema(service.schema), state: service.default,
                isCompleted: service.completesFromDefault)
        }
        for file in files {
            services[file.name] = Service(schema: file.schema, state: file.defaultState, isCompleted: false)
        }
        self.services = services
    }

    func document(of service: String) -> JSONDocument? { services[service]?.state }

    func defaultDocument(of service: String) -> JSONDocument? { services[service]?.state }

    func violations(of document: JSONDocument, in service: String) -> [JSONViolation] {
        guard let service = services[service] else { return [] }
        var document = document
        if service.isCompleted, let members = document.members {
            let missing = (service.state.members ?? []).filter { document[member: $0.name] == nil }
            document = JSONDocument(members: members + missing)
        }
        return service.schema.violations(in: document)
    }
}
