import JSONDocument
import Navigation

/// What is answered about flows, written once at start: flows do not change while the server runs.
struct FlowPages: Sendable {
    let list: Representation
    private let flows: [String: [Page]]

    private struct Page: Sendable {
        let flow: FlowDefinition
        let page: Representation
    }

    init(_ catalog: FlowCatalog) {
        list = Representation(RequestBody.json, Self.list(catalog))
        var flows: [String: [Page]] = [:]
        for flow in catalog.flows {
            let bytes = Self.page(of: flow, among: catalog.versions(of: flow.id))
            flows[flow.id, default: []].append(Page(flow: flow, page: Representation(RequestBody.json, bytes)))
        }
        self.flows = flows
    }

    /// - Parameter version: nil is the highest, which is what new journeys get.
    func page(of id: String, version: Int?) -> Representation? { find(id, version)?.page }

    func flow(_ id: String, version: Int?) -> FlowDefinition? { find(id, version)?.flow }

    private func find(_ id: String, _ version: Int?) -> Page? {
        guard let version else { return flows[id]?.last }
        return flows[id]?.first { $0.flow.version == version }
    }

    /// Each flow once, with the version that can be started.
    private static func list(_ catalog: FlowCatalog) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.name("items")
            json.beginArray()
            for flow in catalog.ids.compactMap({ catalog.flow($0) }) {
                json.object { $0.heading(of: flow, among: catalog.versions(of: flow.id)) }
            }
            json.endArray()
        }
        return json.bytes
    }

    private static func page(of flow: FlowDefinition, among versions: [FlowDefinition]) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.heading(of: flow, among: versions)
            json.name("input")
            if let input = flow.input { json.document(input.document) } else { json.null() }
            json.name("definition")
            json.document(flow.document)
        }
        return json.bytes
    }
}

extension JSONWriter {
    fileprivate mutating func object(_ write: (inout JSONWriter) -> Void) {
        beginObject()
        write(&self)
        endObject()
    }

    fileprivate mutating func heading(of flow: FlowDefinition, among versions: [FlowDefinition]) {
        name("id")
        string(flow.id)
        name("version")
        int(flow.version)
        name("versions")
        beginArray()
        for flow in versions { int(flow.version) }
        endArray()
        name("description")
        if let summary = flow.summary { string(summary) } else { null() }
    }
}
