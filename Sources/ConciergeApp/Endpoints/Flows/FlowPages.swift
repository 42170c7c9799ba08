import API
import HTTPServer
import JSONDocument
import Navigation

/// What is answered about flows, each page written once: flows do not change while the server runs.
struct FlowPages: Sendable {
    /// Those that can be started, in the order of their names.
    private let startable: [FlowDefinition]
    private let catalog: FlowCatalog
    /// Of the list, as nearly everybody asks for it.
    private let firstPage: Representation
    private let flows: [String: [Page]]

    private struct Page: Sendable {
        let flow: FlowDefinition
        /// In each language of the flow; under an empty name where it has none.
        let outlines: [String: LazyRepresentation]
        let definitions: [String: LazyRepresentation]
    }

    init(_ catalog: FlowCatalog) {
        self.catalog = catalog
        startable = catalog.ids.compactMap { catalog.flow($0) }
        firstPage = Self.list(ListPage(firstOf: startable, named: \.id), of: catalog) { _ in nil }
        var flows: [String: [Page]] = [:]
        for flow in catalog.flows {
            let versions = catalog.versions(of: flow.id)
            let languages = flow.languages.isEmpty ? [""] : flow.languages
            func pages(isWhole: Bool) -> [String: LazyRepresentation] {
                Dictionary(
                    uniqueKeysWithValues: languages.map { language in
                        let page = LazyRepresentation {
                            let bytes = Self.page(of: flow, among: versions, isWhole: isWhole, in: language)
                            return Representation(MediaType.json, bytes)
                        }
                        return (language, page)
                    })
            }
            flows[flow.id, default: []].append(
                Page(flow: flow, outlines: pages(isWhole: false), definitions: pages(isWhole: true)))
        }
        self.flows = flows
    }

    /// - Parameters:
    ///   - version: nil is the highest, which is what new journeys get.
    ///   - isWhole: whether guards, actions and services are a part of it.
    func page(
        of id: String, version: Int?, isWhole: Bool, for request: HTTPRequest
    ) -> (page: Representation, language: String?)? {
        guard let found = find(id, version) else { return nil }
        let pages = isWhole ? found.definitions : found.outlines
        let language = AcceptedLanguages(request).best(of: found.flow.languages)
        return pages[language ?? ""].map { ($0.value, language) }
    }

    func flow(_ id: String, version: Int?) -> FlowDefinition? { find(id, version)?.flow }

    /// Whether the list is another one for clients who read another language.
    private var listVaries: Bool { !catalog.languages.isEmpty }

    /// Each flow once, with the version that can be started.
    func list(_ request: HTTPRequest) throws -> HTTPResponse {
        let page = try PageRequest(request)
        if page.isFirst, !listVaries { return try firstPage.answer(to: request) }
        let accepted = listVaries ? AcceptedLanguages(request) : nil
        return try Self.list(try ListPage(of: startable, page, named: \.id), of: catalog) { flow in
            accepted?.best(of: flow.languages)
        }.answer(to: request, varying: listVaries ? [.acceptLanguage] : [])
    }

    private static func list(
        _ page: ListPage<FlowDefinition>, of catalog: FlowCatalog, _ language: (FlowDefinition) -> String?
    ) -> Representation {
        var json = JSONWriter()
        json.object { json in
            json.page(page) { json, flow in
                json.object { $0.heading(of: flow, among: catalog.versions(of: flow.id), in: language(flow)) }
            }
        }
        return Representation(MediaType.json, json.bytes)
    }

    private func find(_ id: String, _ version: Int?) -> Page? {
        guard let version else { return flows[id]?.last }
        return flows[id]?.first { $0.flow.version == version }
    }

    private static func page(
        of flow: FlowDefinition, among versions: [FlowDefinition], isWhole: Bool, in language: String?
    ) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.heading(of: flow, among: versions, in: language)
            let screens = flow.states.compactMap { state in state.screen.map { (id: state.id, screen: $0) } }
            json.objects("screens", screens) { json, shown in
                json.member("id", shown.id)
                json.member("name", shown.screen.name)
                json.member("title", shown.screen.title?.text(in: language, isOutline: !isWhole))
                let ofFlow = flow.events.filter { shown.screen.rule(for: $0.event) == nil }
                json.array("events") { json in
                    for rule in shown.screen.events + ofFlow { json.string(rule.event) }
                }
            }
            guard isWhole else { return }
            json.name("input")
            if let input = flow.input { json.document(input.document) } else { json.null() }
            json.member("definition", flow.document)
        }
        return json.bytes
    }
}

extension JSONWriter {
    fileprivate mutating func heading(
        of flow: FlowDefinition, among versions: [FlowDefinition], in language: String?
    ) {
        member("id", flow.id)
        member("version", flow.version)
        array("versions") { json in
            for flow in versions { json.int(flow.version) }
        }
        member("description", flow.summary?.text(in: language, isOutline: true))
    }
}
