import Glibc
import JSONDocument
import Sessions

@testable import ConciergeApp
@testable import Configuration
@testable import FlowTools
@testable import Navigation

/// The flows and services that come with Concierge, as `config` has them.
enum Shipped {
    /// Lives as long as the process. LeakSanitizer does not see so: what an enum of Swift points to has marks in its
    /// pointer. Loading it and letting go of it leaks nothing.
    static let configuration: LoadedConfiguration = {
        let (disable, enable) = (Self.leakSanitizer("__lsan_disable"), Self.leakSanitizer("__lsan_enable"))
        disable?()
        defer { enable?() }
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
        let loaded = ConfigurationLoader(environment: [:], files: FileReader(directory: root)).load()
        precondition(!loaded.hasErrors, "\(loaded.problems)")
        return loaded
    }()

    private typealias Switch = @convention(c) () -> Void

    /// A function of LeakSanitizer, if the process has it.
    private static func leakSanitizer(_ name: String) -> Switch? {
        dlsym(nil, name).map { unsafeBitCast($0, to: Switch.self) }
    }

    static let services: ServiceCatalog = {
        do {
            return try ServiceCatalog(declarations: configuration.services.map(ServiceDefinition.init))
        } catch {
            fatalError("\(error)")
        }
    }()

    /// The services of a new session.
    static var documents: any ServiceDocuments { sessions.documentsOfNewSession }
    private static let sessions = Sessions(catalog: services, store: MemoryStore())

    static let engine = FlowEngine(catalog: configuration.flows)
    static func load() { _ = (services, documents, engine) }
    static let now: Int64 = 1_767_225_600_000
}

enum FuzzedFlows {
    /// Flow files. Where they have no errors, a journey on each flow is begun and looked at.
    static func load(_ bytes: [UInt8]) {
        let files = bytes.split(separator: 0).prefix(3).map { FlowFile(name: "flow.json", bytes: Array($0)) }
        let (catalog, problems) = FlowLoader(services: Shipped.services.directory).load(files)
        precondition(catalog != nil || problems.contains { $0.severity == .error }, "no catalog and no error")
        for problem in problems { _ = problem.description }
        guard let catalog else { return }
        let (engine, documents) = (FlowEngine(catalog: catalog), ScratchServices(over: Shipped.documents))
        for flow in catalog.flows {
            _ = FlowGraph(flow)
            let step = try? engine.start(
                flow: flow.id, version: flow.version, id: "main", services: documents, now: Shipped.now)
            guard let step else { continue }
            _ = try? engine.send("next", to: step.journey, services: documents, now: Shipped.now)
            check(step.journey)
        }
    }

    /// What is stored of a journey reads as it was.
    private static func check(_ journey: Journey) {
        var reader = try? JSONReader(journey.json)
        var read: Journey?
        if reader != nil { read = try? Journey(reading: &reader!) }
        precondition(read == journey && Journey(journey.document) == journey, "a journey is stored as another")
    }

    /// A flow's name, then events with their data, one a line, on the flows of `config`: `name {"data":1}`. An event
    /// with the name `wait` lets so many milliseconds pass.
    static func travel(_ bytes: [UInt8]) {
        var lines = bytes.split(separator: 10, omittingEmptySubsequences: false).prefix(40)
        let flow = String(decoding: lines.popFirst() ?? [], as: UTF8.self)
        var (documents, now) = (ScratchServices(over: Shipped.documents), Shipped.now)
        guard var step = try? Shipped.engine.start(flow: flow, id: "main", services: documents, now: now) else {
            return
        }
        for line in lines {
            documents.perform(step.changes)
            check(step.journey)
            let words = line.split(separator: 32, maxSplits: 1).map(Array.init)
            let event = String(decoding: words.first ?? [], as: UTF8.self)
            let data = words.count > 1 ? try? JSONDocument(parsing: words[1]) : nil
            if event == "wait" {
                now += Int64(min(max(0, data?.int ?? 0), 1 << 40))
                step = (try? Shipped.engine.advance(step.journey, services: documents, now: now)) ?? unchanged(step)
                continue
            }
            step =
                (try? Shipped.engine.send(
                    event, data: data, to: step.journey, isFromBackend: true, services: documents, now: now))
                ?? unchanged(step)
            _ = try? Shipped.engine.view(step.journey, services: documents, now: now)
        }
    }

    private static func unchanged(_ step: Step) -> Step { Step(journey: step.journey, changes: []) }

    /// A journey as a store or an archive has it, and an event.
    static func readJourney(_ bytes: [UInt8]) {
        let parts = parts(bytes, 2)
        guard let document = try? JSONDocument(parsing: parts[0]) else { return }
        guard var reader = try? JSONReader(document.serialized()), var journey = Journey(document) else { return }
        if let read = try? Journey(reading: &reader) { journey = read }
        let event = String(decoding: parts[1], as: UTF8.self)
        guard journey.flaw == nil else { return }
        guard let kept = Journey(journey.document) else { preconditionFailure("a journey is not stored") }
        precondition(kept == journey, "a journey is stored as another")
        let documents = ScratchServices(over: Shipped.documents)
        _ = try? Shipped.engine.view(journey, services: documents, now: Shipped.now)
        _ = try? Shipped.engine.advance(journey, services: documents, now: Shipped.now)
        _ = try? Shipped.engine.send(event, to: journey, services: documents, now: Shipped.now)
    }
}
