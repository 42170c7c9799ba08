import JSONDocument
import Testing

@testable import Sessions

/// Random operations on a few sessions, compared after each with a model that is as simple as can be.
@Suite struct ModelTests {
    /// What a service should be like; nil stands for no instance.
    private struct Instance: Equatable {
        var count = 0
        var etag: UInt64 = 0
    }

    private struct Model {
        var revision: UInt64 = 1
        var services: [String: Instance] = [:]
        var isEnded = false
    }

    private static let names = ["counter", "cart", "mail"]

    @Test("sessions behave as the model does", arguments: (1...20).map { _ in UInt64.random(in: 0...UInt64.max) })
    func random(seed: UInt64) async throws {
        let random = SeededRandom(seed: seed)
        // No lifetimes, so that the model needs no time.
        let declarations = Self.names.map { ServiceDefinition(declared: $0, default: ["count": 0]) }
        let sessions = Sessions(catalog: try ServiceCatalog(declarations: declarations), store: MemoryStore())
        var real: [Session] = []
        var models: [Model] = []
        for _ in 0..<3 {
            real.append(try await sessions.create().0)
            models.append(Model())
        }
        for step in 0..<300 {
            let place = random.below(3)
            try await Self.step(random, sessions, &real[place], &models[place])
            for (session, model) in zip(real, models) {
                try Self.compare(session, model, "seed \(seed), step \(step)")
            }
        }
        for name in Self.names {
            let live = models.count { $0.services[name] != nil }
            #expect(sessions.statistics.services.first { $0.name == name }?.live == live, "seed \(seed)")
        }
    }

    @Test(
        "sessions that processes share behave as the model does, whichever is asked",
        arguments: (1...20).map { _ in UInt64.random(in: 0...UInt64.max) })
    func shared(seed: UInt64) async throws {
        let random = SeededRandom(seed: seed)
        let declarations = Self.names.map { ServiceDefinition(declared: $0, default: ["count": 0]) }
        let hub = SharedStore()
        let processes = try (0..<3).map { _ in
            Sessions(catalog: try ServiceCatalog(declarations: declarations), store: hub.door())
        }
        var ids: [SessionID] = []
        for process in processes { ids.append(try await process.create().0.id) }
        var models = ids.map { _ in Model() }
        for step in 0..<300 {
            let (place, process) = (random.below(3), processes[random.below(3)])
            var session = try #require(try await process.session(ids[place]))
            try await Self.step(random, process, &session, &models[place], isShared: true)
            ids[place] = session.id
            for process in processes {
                let session = try #require(try await process.session(ids[place]))
                try Self.compare(session, models[place], "seed \(seed), step \(step)")
            }
        }
    }

    /// - Parameter isShared: an instance that was only read is in one process alone.
    private static func step(
        _ random: SeededRandom, _ sessions: Sessions, _ session: inout Session, _ model: inout Model,
        isShared: Bool = false
    ) async throws {
        let name = names[random.below(names.count)]
        let service = try sessions.catalog.service(named: name)
        let number = random.below(1_000)
        switch random.below(9) {
        case 0 where isShared: return
        case 0:
            _ = try session.document(of: service)
            model.services[name] = model.services[name] ?? Instance()
        case 1:
            _ = try await session.perform(.init(.put(["count": .init(number)]), on: service))
            model.revision += 1
            model.services[name] = Instance(count: number, etag: model.revision)
        case 2:
            // Holds about every other time.
            let etag = random.below(2) == 0 ? model.services[name]?.etag ?? 0 : UInt64(random.below(20))
            let holds = etag == model.services[name]?.etag ?? 0
            let outcome = try? await session.perform(
                .init(.mergePatch(["count": .init(number)]), on: service, condition: .ifMatch(.init(revision: etag))))
            #expect((outcome != nil) == holds)
            guard holds else { return }
            model.revision += 1
            model.services[name] = Instance(count: number, etag: model.revision)
        case 3:
            _ = try await session.perform(.init(.clear, on: service))
            guard model.services[name] != nil else { return }
            model.revision += 1
            model.services[name] = Instance(count: 0, etag: model.revision)
        case 4:
            _ = try await session.perform(.init(.remove, on: service))
            if let removed = model.services.removeValue(forKey: name), removed.etag != 0 { model.revision += 1 }
        case 5:
            let fails = random.below(2) == 0
            let operations = try names.map { name in
                let service = try sessions.catalog.service(named: name)
                return ServiceOperation(
                    .put(["count": .init(number)]), on: service,
                    condition: fails && name == "mail" ? .init(ifMatch: .oneOf([])) : .none)
            }
            let outcomes = try? await session.perform(operations)
            #expect((outcomes == nil) == fails)
            guard !fails else { return }
            model.revision += 1
            for name in names { model.services[name] = Instance(count: number, etag: model.revision) }
        case 6:
            try await session.update { locator in
                let instance = try locator.resolve(DocumentService.key(name))
                let count = try #require(instance.document[member: "count"]?.int)
                instance.document = ["count": .init(count + 1)]
            }
            model.revision += 1
            model.services[name] = Instance(count: (model.services[name]?.count ?? 0) + 1, etag: model.revision)
        case 7:
            try await session.removeAllServices()
            if model.services.values.contains(where: { $0.etag != 0 }) { model.revision += 1 }
            model.services = [:]
        default:
            guard random.below(5) == 0 else { return }
            try await sessions.end(session)
            session = try await sessions.create().0
            model = Model()
        }
    }

    private static func compare(_ session: Session, _ model: Model, _ comment: Comment) throws {
        #expect(try session.summary().revision == model.revision, comment)
        let services = try session.services()
        for name in names {
            let status = try #require(services.first { $0.name == name })
            #expect(status.isLive == (model.services[name] != nil), comment)
            #expect(status.etag.revision == model.services[name]?.etag ?? 0, comment)
            guard status.isLive else { continue }
            let service = try session.environment.definitions.catalog.service(named: name)
            let count = try JSONDocument(parsing: session.document(of: service).bytes)[member: "count"]?.int
            #expect(count == model.services[name]?.count, comment)
        }
    }
}
