import Glibc
import HTTPTestClient
import JSONDocument
import Testing

@testable import Navigation

@Suite("Journeys at random")
struct JourneyPropertyTests {
    /// So many blocks of so many journeys of so many steps. That is about 20,000 steps, for some flows are refused at
    /// once: what they begin with asks for what is not so.
    static let blocks = 4
    static let journeys = 60
    static let steps = 100
    static let forms = 72
    /// For more than what every run of the tests takes: `JOURNEY_SCALE=50` is a million steps, of other journeys.
    static let scale = getenv("JOURNEY_SCALE").flatMap { Int(String(cString: $0)) } ?? 1

    @Test("stack, coordinators and history are at every step what a naive model says", arguments: 0..<blocks)
    func property(block: Int) async throws {
        try await blockingInBackground { try Self.walk(block) }
    }

    @Test("a form that resumes stands where somebody stands who walks: no screen that wants a person is passed")
    func forms() async throws {
        try await blockingInBackground {
            var kinds: [String: Int] = [:]
            for seed in 1...UInt64(Self.forms * Self.scale) {
                do {
                    var trial = try FormTrial(seed: seed)
                    for _ in 0..<Self.steps / 2 { kinds[try trial.step(), default: 0] += 1 }
                } catch let difference as FormTrial.Difference {
                    Issue.record("seed \(seed): \(difference.description)")
                    return
                }
            }
            print("resumes at random: \(kinds.values.reduce(0, +)) steps, \(kinds)")
            for kind in ["start", "back", "change", "answer", "answer again", "half", "go", "next", "work"] {
                #expect(kinds[kind, default: 0] > 10, "\(kinds)")
            }
        }
    }

    private static func walk(_ block: Int) throws {
        var tried = 0
        var kinds: [String: Int] = [:]
        var counts: [String: Int] = [:]
        let journeys = journeys * scale
        let seeds = (1...journeys).map { UInt64(block * journeys + $0) }
        defer { print("journeys at random: \(tried) steps of seeds \(seeds[0]) to \(seeds[journeys - 1])") }
        for seed in seeds {
            guard var trial = try JourneyTrial(seed: seed) else { continue }
            for number in 1...steps {
                do {
                    let (kind, wasTaken) = try trial.step()
                    kinds["\(kind) \(wasTaken ? "taken" : "refused")", default: 0] += 1
                    tried += 1
                } catch let difference as JourneyTrial.Difference {
                    Issue.record("seed \(seed), step \(number): \(difference.description)\n  begun at \(trial.scene)")
                    return
                }
            }
            counts.merge(trial.counts) { $0 + $1 }
        }
        // It would be worth little if it were the same little thing each time.
        let everything = [
            "event", "back", "navigate", "write", "wait", "end of a task", "fail", "start in the middle", "restart",
            "wait until it is due", "wait much too long",
        ]
        for kind in everything {
            #expect(kinds["\(kind) taken", default: 0] > 10 && kinds["\(kind) refused", default: 0] > 8, "\(kinds)")
        }
        #expect(kinds["clock turned back refused", default: 0] > 50, "\(kinds)")
        let consequences = [
            "reminder", "repeated", "missed", "passed", "moment", "timerMove", "refusedMove", "timeout", "taskTimeout",
            "expired", "challenge handed on", "result held", "end of a held task", "move",
            "move with a time to come", "move with timers that have rung",
        ]
        for kind in consequences { #expect(counts[kind, default: 0] > 4, "\(kind) of \(counts)") }
        #expect(tried >= 18_000 / blocks)
    }
}
