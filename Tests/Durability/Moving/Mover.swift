import HTTPTestClient
import JSONDocument
import SeededRandomness

/// The client of one journey: sends it on in its flow, and from session to session, until a server is killed.
struct Mover {
    private(set) var known: Trip.Known
    /// Moves that were acknowledged, and those without a response.
    private(set) var (moves, cut) = (0, 0)
    private let homes: [Trip.Home]
    private let ports: [UInt16]
    private let round: MoveTorture.Round
    private let numbers: TaskTorture.Numbers
    private var generator: SeededGenerator
    /// A request got no response, so nothing is known of the journey until it is looked for.
    private var isLost = false

    init(
        _ known: Trip.Known, _ homes: [Trip.Home], _ ports: [UInt16], _ round: MoveTorture.Round,
        _ numbers: TaskTorture.Numbers, seed: UInt64
    ) {
        self.known = known
        self.homes = homes
        self.ports = ports
        self.round = round
        self.numbers = numbers
        generator = SeededGenerator(seed: seed)
    }

    /// - Throws: `Torture.Violation`, for a response that is never right.
    mutating func run() throws {
        while !isLost, !round.isOver {
            switch Int.random(in: 0..<10, using: &generator) {
            case 0: try step(.notes)
            case 1: try step(.begun)
            case 2: try step(.waits)
            case 3, 4: try race()
            default: try move()
            }
        }
    }

    private var port: UInt16 {
        mutating get { ports.randomElement(using: &generator) ?? ports[0] }
    }

    /// A request of a former round may come late.
    private var mayHaveLeft: Bool { !known.open.isEmpty }

    private mutating func step(_ step: Trip.Step) throws {
        let number = numbers.take()
        let response = try? Trip.send(
            "POST", "\(known.place.path)/events", #"{"event":"\#(step.rawValue)","data":{"n":\#(number)}}"#,
            token: homes[known.place.home].token, to: port)
        switch response?.status {
        case 200:
            known.acknowledged[step, default: []].insert(number)
            round.acknowledge()
        // It waits for its task or its time.
        case 409: break
        case nil, 503: isLost = true
        case 410 where mayHaveLeft: isLost = true
        default: throw violation("the step", response)
        }
    }

    // MARK: - Moves

    private mutating func move() throws {
        guard let move = try newMove(besides: nil) else { return }
        try judge([(move, try? send(move).readResponse())])
    }

    /// Two sessions want the journey at the same time.
    private mutating func race() throws {
        guard let one = try newMove(besides: nil), let other = try newMove(besides: one.target) else { return }
        let connections = [one, other].map { move in (move, try? send(move)) }
        try judge(connections.map { ($0, try? $1?.readResponse()) })
    }

    private mutating func send(_ move: Trip.Move) throws -> RawConnection {
        try Trip.sendOnly("POST", Trip.journeys, move.body(homes), token: homes[move.target].token, to: port)
    }

    /// Nil when no link can be made.
    private mutating func newMove(besides other: Int?) throws -> Trip.Move? {
        let from = known.place
        let targets = homes.indices.filter { $0 != from.home && $0 != other }
        guard let target = targets.randomElement(using: &generator) else { return nil }
        if homes[from.home].isOfUser, homes[target].isOfUser, Bool.random(using: &generator) {
            return Trip.Move(link: nil, from: from, target: target)
        }
        let made = try? Trip.link(to: known, of: homes, at: port)
        switch made?.status {
        case 201: return made?[member: "link"]?.string.map { Trip.Move(link: $0, from: from, target: target) }
        // A session has only so many.
        case 409: return nil
        case nil, 503:
            isLost = true
            return nil
        case 410 where mayHaveLeft:
            isLost = true
            return nil
        default: throw violation("a link", made)
        }
    }

    /// At most one of the moves may have been made.
    private mutating func judge(_ moves: [(move: Trip.Move, response: TestResponse?)]) throws {
        let from = known.place
        for (move, response) in moves {
            switch response?.status {
            case 201:
                guard known.place == from else { throw violation("a second move", response) }
                guard let id = response?[member: "id"]?.string else { throw violation("a move", response) }
                known.place = Trip.Place(home: move.target, journey: id)
                known.left.append(from)
                known.open = []
                self.moves += 1
                round.acknowledge()
            // The session has no room.
            case 409 where response?.code == "too_many_journeys": break
            // The other request has the journey, or the session to which it was going has refused it.
            case 404 where moves.count > 1: break
            case 404 where mayHaveLeft: isLost = true
            case nil, 503:
                if known.place == from { known.open.append(move) }
                cut += 1
                isLost = true
            default: throw violation("a move", response)
            }
        }
    }

    private func violation(_ what: String, _ response: TestResponse?) -> Torture.Violation {
        Torture.Violation(
            description: "\(what) of \(known.story): \(response?.status ?? 0) \(response?.text.prefix(500) ?? ""), "
                + "open \(known.open)")
    }
}
