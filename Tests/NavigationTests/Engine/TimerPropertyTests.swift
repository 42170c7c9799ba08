import JSONDocument
import Navigation
import SeededRandomness
import Testing

@Suite("Timers, at random")
struct TimerPropertyTests {
    /// A timer as the test knows it; times are minutes.
    private struct Timer {
        let name: String
        let first: Int64
        let every: Int64?
        let times: Int?

        var json: JSONDocument {
            let line: JSONDocument = ["$concat": [JSONDocument("\(name) "), ["$from": "/now"]]]
            var timer: JSONDocument = [
                "after": JSONDocument("\(first)m"),
                "actions": [["op": "add", "path": "/log/lines/-", "value": line]],
            ]
            if let every { timer = timer.merging(["every": JSONDocument("\(every)m")]) }
            if let times { timer = timer.merging(["times": JSONDocument(times)]) }
            return timer
        }

        /// Its times up to an end.
        func moments(to end: Int64) -> [Int64] {
            guard let every else { return first <= end ? [first] : [] }
            let count = min(times ?? .max, first > end ? 0 : Int((end - first) / every) + 1)
            return (0..<count).map { first + Int64($0) * every }
        }
    }

    private static let minute: Int64 = 60_000

    @Test(
        "each time of each timer is taken once and in order; of those between two looks, the first", arguments: 0..<200)
    func once(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let timers = (0..<Int.random(in: 1...5, using: &generator)).map { place in
            let isRepeated = Bool.random(using: &generator)
            return Timer(
                name: "t\(place)", first: Int64.random(in: 1...40, using: &generator),
                every: isRepeated ? Int64.random(in: 1...30, using: &generator) : nil,
                times: isRepeated && Bool.random(using: &generator) ? Int.random(in: 1...6, using: &generator) : nil)
        }
        // Some are of the flow, which are taken before those of the screen.
        let ofFlow = Int.random(in: 0...timers.count, using: &generator)
        var traveller = try Traveller(
            Flows.make(
                ["a": ["timers": JSONDocument(timers[ofFlow...].map(\.json)), "on": ["x": ["target": "a"]]]],
                adding: ["timers": JSONDocument(timers[..<ofFlow].map(\.json))]))
        // A server that is not there for a while looks late.
        var looks: [Int64] = []
        while looks.last ?? 0 < 200 {
            let next = traveller.journey.dueAt.map { ($0 - Traveller.start + Self.minute - 1) / Self.minute }
            let isLate = Int.random(in: 0..<4, using: &generator) == 0
            let look = isLate ? (looks.last ?? 0) + Int64.random(in: 1...70, using: &generator) : next ?? 200
            looks.append(max(look, looks.last ?? 0))
            try traveller.wait(Traveller.start + looks[looks.count - 1] * Self.minute - traveller.now)
            try #require(traveller.journey.dueAt ?? .max > traveller.now, "seed \(seed): what was due has not happened")
        }
        var expected: [(at: Int64, place: Int)] = []
        for (place, timer) in timers.enumerated() {
            var former: Int64 = 0
            for look in looks {
                let missed = timer.moments(to: look).first { $0 > former }
                if let missed { expected.append((missed, place)) }
                former = look
            }
        }
        expected.sort { ($0.at, $0.place) < ($1.at, $1.place) }
        let taken = traveller.services.log
        try #require(
            taken
                == expected.map {
                    "\(timers[$0.place].name) \(Timestamp(millisecondsSince1970: Traveller.start + $0.at * Self.minute))"
                }, "seed \(seed)")
    }
}
