import Glibc
import HTTPTestClient
import JSONDocument
import Support

/// What all sessions show of the journeys, once nobody sends anything any more.
struct TripSight: Sendable {
    struct Seen: Sendable {
        let place: Trip.Place
        let step: Int
        let screen: String
        let log: JSONDocument

        var number: Int { log[member: "name"]?.int ?? 0 }
        var isBusy: Bool { screen == "busy" }
        func list(_ name: String) -> [Int] { (log[member: name]?.elements ?? []).compactMap(\.int) }

        /// Each task that is done, and its result.
        var done: [(n: Int, result: Int)] {
            (log[member: "done"]?.elements ?? []).map { ($0[member: "n"]?.int ?? 0, $0[member: "result"]?.int ?? 0) }
        }
    }

    let seen: [Seen]
    /// How many journeys were nowhere at the first look: a kill has met them on their way.
    private(set) var underway = 0

    /// So long after a restart no journey is on its way, and none waits for a time that is over.
    static let patience = Duration.seconds(15)

    /// Looks until each journey is at one place and waits for no time.
    ///
    /// - Throws: `Torture.Violation`.
    static func settled(_ homes: [Trip.Home], count: Int, at ports: Trip.Ports) throws -> TripSight {
        let end = ContinuousClock.now + patience
        var (underway, wasTwice) = (Int?.none, false)
        while true {
            let sight = try look(homes, at: ports.publicPort)
            if let sight {
                let numbers = Set(sight.seen.map(\.number))
                let isTwice = numbers.count < sight.seen.count
                // Not all sessions are read at once, so only what stays is true.
                if isTwice, wasTwice { throw violation("at two places", sight) }
                wasTwice = isTwice
                underway = underway ?? (count - numbers.count)
                if !isTwice, numbers == Set(1...count), !sight.seen.contains(where: { $0.screen == "waiting" }) {
                    return TripSight(seen: sight.seen, underway: underway ?? 0)
                }
            }
            if ContinuousClock.now > end { throw violation("nowhere, or waits for a time that is over", sight) }
            usleep(20_000)
        }
    }

    private static func violation(_ what: String, _ sight: TripSight?) -> Torture.Violation {
        let places = sight?.seen.sorted { $0.number < $1.number }.map { "\($0.number) at \($0.place) \($0.screen)" }
        return Torture.Violation(description: "a journey is \(what): \(places?.joined(separator: ", ") ?? "no answer")")
    }

    /// Nil when a journey moves meanwhile.
    private static func look(_ homes: [Trip.Home], at port: UInt16) throws -> TripSight? {
        var seen: [Seen] = []
        for (number, home) in homes.enumerated() {
            func get(_ path: String) throws -> TestResponse? {
                let response = try Trip.send("GET", path, token: home.token, to: port)
                return response.status == 200 ? response : nil
            }
            guard let list = try get("\(Trip.journeys)?limit=100") else { return nil }
            for item in list.items {
                let place = Trip.Place(home: number, journey: item[string: "id"] ?? "")
                guard let log = try get("\(place.path)/services/log")?.json, let after = try get(place.path),
                    let step = item[member: "step"]?.int, after[member: "step"]?.int == step,
                    let screen = item[member: "screen"]?[string: "id"]
                else { return nil }
                let isBusy = item[member: "screen"]?[string: "status"] == "busy"
                seen.append(Seen(place: place, step: step, screen: isBusy ? "busy" : screen, log: log))
            }
        }
        return TripSight(seen: seen)
    }
}

/// The judge.
extension TripSight {
    /// - Throws: `Torture.Violation`, when this cannot have come from what clients and back ends know.
    func check(
        _ journeys: [Trip.Known], _ results: TripWorker.Results, _ homes: [Trip.Home], at ports: Trip.Ports
    ) throws {
        let list = try Trip.send("GET", "/v1/tasks?limit=100", to: ports.adminPort)
        let tasks = list.items.compactMap { $0[string: "id"] }
        for known in journeys {
            guard let seen = seen.first(where: { $0.number == known.number }) else { continue }
            func expect(_ holds: Bool, _ what: String) throws {
                if holds { return }
                throw Torture.Violation(
                    description:
                        "\(known.story), \(what); at \(seen.place) \(seen.screen) \(seen.log); knows \(known), "
                        + "tasks \(tasks)")
            }
            let mayBeHere = seen.place == known.place || known.open.contains { $0.target == seen.place.home }
            try expect(mayBeHere, "it is where nobody has sent it")
            for former in known.left + [known.place] where former != seen.place {
                let response = try Trip.send("GET", former.path, token: homes[former.home].token, to: ports.publicPort)
                try expect(
                    response.status == 410 && response.code == "journey_moved",
                    "and at \(former), which says \(response.status)")
            }
            for step in Trip.Step.allCases {
                let list = seen.list(step.rawValue)
                try expect(
                    known.acknowledged[step, default: []].isSubset(of: list), "an acknowledged step was lost: \(step)")
                try expect(Set(list).count == list.count, "a step was done twice: \(step)")
            }
            try expect(seen.list("reminded") == seen.list("waits"), "a timer was lost, or taken twice")
            try expect(seen.list("rung") == seen.list("waits"), "a timeout was lost, or taken twice")
            let undone = seen.isBusy ? 1 : 0
            try expect(
                seen.done.map(\.n) == seen.list("begun").dropLast(undone), "results are missing, or were taken twice")
            let session = homes[seen.place.home].id.dropFirst("ses_".count)
            let own = "tsk-\(session)-\(seen.place.journey.dropFirst("jrn_".count))-"
            try expect(tasks.count { $0.hasPrefix(own) } == undone, "it has not the tasks that it waits for")
        }
        guard list.status == 200, tasks.count == seen.count(where: \.isBusy) else {
            throw Torture.Violation(description: "tasks for which no journey waits: \(list.status) \(tasks)")
        }
        try check(results)
    }

    private func check(_ results: TripWorker.Results) throws {
        let done = seen.flatMap(\.done)
        let shown = Dictionary(done.map { ($0.result, $0.n) }) { first, _ in first }
        let tasks = Set(done.map(\.n))
        for (result, n) in results.taken where shown[result] != n {
            throw Torture.Violation(description: "the acknowledged result \(result) of task \(n) was lost")
        }
        for (result, n) in results.refused {
            guard shown[result] == nil else {
                throw Torture.Violation(description: "the result \(result) of task \(n) was refused, and taken")
            }
            guard tasks.contains(n) else {
                throw Torture.Violation(description: "task \(n) was said to be over, and has no result")
            }
        }
    }
}
