import JSONDocument
import Navigation

/// What is answered about flows, written once at start: flows do not change while the server runs.
struct FlowPages: Sendable {
    /// Those that can be started, in the order of their names.
    private let startable: [FlowDefinition]
    private let catalog: FlowCatalog
    /// Of the list, as nearly everybody asks for it.
    private let firstPage: Representation
    private let flows: [String: [Page]]

    private struct Page: Sendable {
        let flow: FlowDefinition
        let page: Representation
    }

    init(_ catalog: FlowCatalog) {
        self.catalog = catalog
        startable = catalog.ids.compactMap { catalog.flow($0) }
        firstPage = Self.list(ListPage(firstOf: startable, named: \.id), of: catalog)
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

    /// Each flow once, with the version that can be started.
    func list(_ request: PageRequest) throws -> Representation {
        request.isFirst ? firstPage : Self.list(try ListPage(of: startable, request, named: \.id), of: catalog)
    }

    private static func list(_ page: ListPage<FlowDefinition>, of catalog: FlowCatalog) -> Representation {
        var json = JSONWriter()
        json.object { json in
            json.page(page) { json, flow in
                json.object { $0.heading(of: flow, among: catalog.versions(of: flow.id)) }
            }
        }
        return Representation(RequestBody.json, json.bytes)
    }

    private func find(_ id: String, _ version: Int?) -> Page? {
        guard let version else { return flows[id]?.last }
        return flows[id]?.first { $0.flow.version == version }
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
