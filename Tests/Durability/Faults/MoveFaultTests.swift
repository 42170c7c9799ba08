import Glibc
import HTTPTestClient
import JSONDocument
import Support
import Testing

@Suite(
    "Killed at its Nth call within a move, the program keeps the journey at one place",
    .enabled(if: Strace.isUsable, Strace.missing))
struct MoveFaultTests {
    struct Moment: Sendable, CustomTestStringConvertible {
        let call: String
        let number: Int
        let isByLink: Bool
        /// What the journey is doing meanwhile.
        let step: Trip.Step

        var testDescription: String { "\(call) \(number), \(isByLink ? "link" : "take"), \(step)" }
    }

    /// A move is three commits, each with its sync: the journey leaves, arrives, and is forgotten. So the second sync is
    /// the one between the first two.
    static let moments: [Moment] = {
        let isLong = getenv("TORTURE_SECONDS") != nil
        let calls =
            isLong
            ? (1...3).map { ("fdatasync", $0) } + (1...16).map { ("pwrite64", $0) }
            : [("fdatasync", 1), ("fdatasync", 2), ("fdatasync", 3), ("pwrite64", 2)]
        return calls.enumerated().flatMap { place, call in
            [true, false].map { isByLink in
                let step = isLong || isByLink ? Trip.Step.begun : .waits
                return Moment(call: call.0, number: call.1, isByLink: isByLink, step: step)
            }
        }
    }()

    @Test("with its task and its timers", arguments: moments)
    func kill(at moment: Moment) async throws {
        try await withFolder(Trip.files) { _, folder in
            let arguments = Trip.arguments(in: folder, store: "sqlite:\(folder)/sessions.db")
            let process = try ProgramProcess(arguments)
            let ports = try await process.ports()
            let (homes, known) = try await blocking {
                let homes = try Trip.homes(2, at: ports)
                var known = try Trip.newJourney(1, in: 0, of: homes, at: ports.publicPort)
                let token = homes[0].token
                let begun = try Trip.send(
                    "POST", "\(known.place.path)/events", #"{"event":"\#(moment.step.rawValue)","data":{"n":5}}"#,
                    token: token, to: ports.publicPort)
                #expect(begun.status == 200)
                known.acknowledged[moment.step] = [5]
                let link = try moment.isByLink ? Trip.link(to: known, of: homes, at: ports.publicPort) : nil
                let move = Trip.Move(link: link?[member: "link"]?.string, from: known.place, target: 1)
                try Strace.kill(process, at: moment.call, moment.number)
                let response = try? Trip.send(
                    "POST", Trip.journeys, move.body(homes), token: homes[1].token, to: ports.publicPort)
                #expect(response == nil || moment.call != "fdatasync", "it was to be killed, and was not")
                process.send(SIGKILL)
                if response == nil { known.open = [move] }
                if let id = response?[member: "id"]?.string {
                    known.left = [known.place]
                    known.place = Trip.Place(home: 1, journey: id)
                }
                return (homes, known)
            }
            _ = try await process.result()
            let second = try ProgramProcess(arguments)
            let after = try await second.ports()
            try await blocking {
                let sight = try TripSight.settled(homes, count: 1, at: after)
                try sight.check([known], TripWorker.Results(), homes, at: after)
            }
            second.send(SIGKILL)
            _ = try await second.result()
        }
    }
}
