import Glibc
import HTTPTestClient
import JSONDocument
import SeededRandomness

/// A back end that does the tasks of journeys, and posts some results so late that the journey has moved meanwhile.
struct TripWorker {
    /// What back ends know.
    struct Results: Sendable {
        /// The results that were acknowledged, by their own numbers, with the numbers of their tasks.
        var taken: [Int: Int] = [:]
        /// Those that were refused.
        var refused: [Int: Int] = [:]

        mutating func merge(_ other: Results) {
            taken.merge(other.taken) { first, _ in first }
            refused.merge(other.refused) { first, _ in first }
        }
    }

    let port: UInt16
    let numbers: TaskTorture.Numbers
    let round: MoveTorture.Round
    private(set) var results = Results()
    private var generator: SeededGenerator

    init(at port: UInt16, _ round: MoveTorture.Round, _ numbers: TaskTorture.Numbers, seed: UInt64) {
        self.port = port
        self.numbers = numbers
        self.round = round
        generator = SeededGenerator(seed: seed)
    }

    /// Works until the server is gone, or it is over.
    mutating func run() {
        /// Tasks that are done, of which nobody has been told.
        var late: [(id: String, n: Int)] = []
        do {
            while !round.isOver {
                let claimed = try Trip.send(
                    "POST", "/v1/tasks/claims", #"{"task":"work","max":4,"lease":"1s","wait":"50ms"}"#, to: port)
                for (id, n) in late { try post(id, n) }
                late = []
                for task in claimed.items {
                    guard let id = task[string: "id"], let n = task[member: "input"]?[member: "n"]?.int else {
                        continue
                    }
                    switch Int.random(in: 0..<10, using: &generator) {
                    case 0: continue
                    case 1..<6: late.append((id, n))
                    case 6:
                        try post(id, n)
                        try post(id, n)
                    default: try post(id, n)
                    }
                }
            }
        } catch {
            // The server is gone.
        }
    }

    private mutating func post(_ id: String, _ n: Int) throws {
        let result = numbers.take()
        let response = try Trip.send(
            "POST", "/v1/tasks/\(id)/result", #"{"outcome":"ok","output":{"n":\#(n),"result":\#(result)}}"#, to: port)
        switch response.status {
        case 204: results.taken[result] = n
        case 404, 410: results.refused[result] = n
        // The journey is on its way, so the task comes once more.
        default: break
        }
    }
}
