import HTTPTestClient
import JSONDocument
import Support
import Testing

@Suite("Watching and the life of a session")
struct WatchingUseTests {
    /// What a client does that only watches.
    enum Watching: CaseIterable, Sendable {
        case stream, waiting, unchangedService, unchangedJourney
    }

    @Test(
        "who only watches keeps no session alive, unless the configuration says so", arguments: Watching.allCases,
        [false, true])
    func watching(_ watching: Watching, extends: Bool) async throws {
        let clock = SteeredClock()
        try await withSession(flows: [TestFlows.wizard], clock: clock) { configuration in
            configuration.sessionIdleTimeout = .seconds(60)
            configuration.watchingExtends = extends
        } _: { client in
            let started = try await client.send("POST", Paths.journeys, json: #"{"flow":"wizard"}"#)
            let journey = Paths.journey(started[member: "id"]?.string ?? "")
            if watching == .stream {
                let stream = try await EventReader.open(client)
                // The session ends, or outlives its idle timeout. A use is an event, and after 15 seconds without one
                // there is a comment.
                let end = clock.now() + 90_000
                while clock.now() < end {
                    let block = try await clock.running(atMost: 20) { try await stream.block() }
                    if [.end, .cut].contains(block) { break }
                }
                let status = try await client.get(Paths.profile).status
                return #expect((status == 401) == !extends, "\(status)")
            }
            var status = 0
            for _ in 0..<4 where status != 401 {
                clock.advance(.seconds(20))
                let fields =
                    switch watching {
                    case .stream, .unchangedService: [("If-None-Match", "\"0\"")]
                    case .waiting: [("If-None-Match", "\"0\""), ("Prefer", "wait=0")]
                    case .unchangedJourney: [("If-None-Match", started["ETag"] ?? "")]
                    }
                status = try await client.get(watching == .unchangedJourney ? journey : Paths.profile, fields: fields)
                    .status
            }
            #expect((status == 401) == !extends, "\(status)")
        }
    }

    @Test("a conditional GET that finds something new is a use, and so is everything else")
    func uses() async throws {
        let clock = SteeredClock()
        try await withSession(flows: [TestFlows.wizard], clock: clock) { configuration in
            configuration.sessionIdleTimeout = .seconds(60)
        } _: { client in
            let started = try await client.send("POST", Paths.journeys, json: #"{"flow":"wizard"}"#)
            let journey = Paths.journey(started[member: "id"]?.string ?? "")
            let stale = [("If-None-Match", "\"999\"")]
            for _ in 0..<2 {
                clock.advance(.seconds(40))
                #expect(try await client.get(Paths.profile, fields: stale).status == 200)
                clock.advance(.seconds(40))
                #expect(try await client.get(journey, fields: stale).status == 200)
                clock.advance(.seconds(40))
                #expect(try await client.get("\(journey)?include=schema", fields: stale).status == 200)
                clock.advance(.seconds(40))
                #expect(try await client.get(Paths.current).status == 200)
            }
            clock.advance(.seconds(60))
            #expect(try await client.get(Paths.profile).status == 401)
        }
    }
}
