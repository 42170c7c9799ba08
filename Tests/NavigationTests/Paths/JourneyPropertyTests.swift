import JSONDocument
import Testing

@testable import Navigation

@Suite("Journeys at random")
struct JourneyPropertyTests {
    /// 1,000 journeys of 100 steps.
    static let seeds = 1000
    static let steps = 100

    @Test("stack, coordinators and history are at every step what a naive model says")
    func property() throws {
        var taken = 0
        var kinds: [String: Int] = [:]
        for seed in UInt64(1)...UInt64(Self.seeds) {
            guard var trial = try JourneyTrial(seed: seed) else { continue }
            for number in 1...Self.steps {
                do {
                    let (kind, wasTaken) = try trial.step()
                    kinds["\(kind) \(wasTaken ? "taken" : "refused")", default: 0] += 1
                    taken += wasTaken ? 1 : 0
                } catch let difference as JourneyTrial.Difference {
                    Issue.record("seed \(seed), step \(number): \(difference.description)")
                    return
                }
            }
        }
        print(kinds.sorted { $0.key < $1.key })
        #expect(taken > Self.seeds * Self.steps / 2)
    }
}
