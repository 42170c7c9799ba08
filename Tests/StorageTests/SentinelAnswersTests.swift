import Testing

@testable import RedisStorage

/// Who is the master, as far as sentinels say.
@Suite("What sentinels say") struct SentinelAnswersTests {
    private typealias Master = SentinelAnswers.Master

    private let start = ContinuousClock.now
    /// When a new master counts.
    private var later: ContinuousClock.Instant { start + SentinelAnswers.validity }

    private func master(_ port: UInt16, _ epoch: Int64 = 0, host: String = "a") -> Master {
        Master(
            place: RedisAddress.Place(host: host, port: port), epoch: epoch,
            source: RedisAddress.Place(host: "s", port: 1))
    }

    /// What was answered, by sentinel, a second after the first answer of all.
    private func answers(
        _ answers: [Result<Master, RedisFailure>?], first: [Result<Master, RedisFailure>] = []
    ) -> SentinelAnswers {
        var all = SentinelAnswers(count: answers.count)
        for (place, answer) in first.enumerated() { all.note(answer, of: place, askedAt: start, at: start) }
        for case (let place, let answer?) in answers.enumerated() {
            all.note(answer, of: place, askedAt: later, at: start)
        }
        return all
    }

    private static let none = Result<Master, RedisFailure>.failure(RedisFailure("It is away."))

    @Test("most of them are enough, for a second")
    func majority() {
        let here = master(1)
        let all = answers([.success(here), .success(here), nil])
        #expect(all.master == here)
        #expect(all.standing(of: here, at: later + .milliseconds(999)) == .believed)
        #expect(all.standing(of: here, at: later + .milliseconds(1_001)) == .doubtful)
        #expect(all.standing(of: here, at: later, since: later + .milliseconds(1)) == .doubtful)
        // For a late reply all must have been asked since, however long it takes until somebody looks.
        #expect(all.standing(of: here, at: later, since: later) == .doubtful)
        var asked = all
        asked.note(Self.none, of: 2, askedAt: later)
        #expect(asked.standing(of: here, at: later + .seconds(9), since: later) == .believed)
        #expect(asked.standing(of: here, at: later, since: later + .milliseconds(1)) == .doubtful)
        #expect(answers([.success(here), nil, nil]).standing(of: here, at: later) == .doubtful)
    }

    @Test("the highest epoch is right, however many say otherwise")
    func epochs() {
        let (old, new) = (master(1, 4), master(2, 5))
        let all = answers([.success(old), .success(new), .success(old)])
        #expect(all.master == new)
        #expect(all.standing(of: old, at: later) == .replaced(by: new.place))
        // The others have answered, and will know it soon.
        #expect(all.standing(of: new, at: later) == .believed)
        // One that has told it is away now, and is still right.
        var away = all
        away.note(Self.none, of: 1, askedAt: later + .milliseconds(500))
        #expect(away.standing(of: old, at: later + .milliseconds(500)) == .replaced(by: new.place))
    }

    @Test("without epochs most of them are right")
    func withoutEpochs() {
        let (old, new) = (master(1, -1), master(2, -1))
        #expect(answers([.success(old), .success(new), .success(new)]).master == new)
        #expect(
            answers([.success(old), .success(new), .success(new)]).standing(of: old, at: later)
                == .replaced(by: new.place))
    }

    @Test("two names of one server are one master")
    func names() {
        let (name, number) = (master(1, 3, host: "redis"), master(1, 3, host: "10.0.0.1"))
        let all = answers([.success(name), .success(number), .success(number)])
        #expect(all.standing(of: name, at: later) == .believed && all.standing(of: number, at: later) == .believed)
    }

    @Test("when all were asked and too few respond, what they said last holds")
    func exhausted() {
        let here = master(1)
        let all = answers([.success(here), Self.none, Self.none])
        #expect(all.standing(of: here, at: later) == .believed && all.isComplete(at: later))
        #expect(all.standing(of: here, at: later + SentinelAnswers.patience) == .doubtful)
        let silent = answers([Self.none, Self.none, Self.none], first: [.success(here), .success(here)])
        #expect(silent.standing(of: here, at: later) == .believed)
        #expect(answers([Self.none, Self.none, Self.none]).standing(of: here, at: later) == .doubtful)
    }

    @Test("a new master counts when nobody can believe the former one any more")
    func change() {
        let (old, new) = (master(1, 4), master(2, 5))
        var all = answers([.success(old), .success(old), .success(old)])
        let now = later + .seconds(10)
        for sentinel in 0..<3 { all.note(.success(new), of: sentinel, askedAt: now, at: now) }
        #expect(all.standing(of: new, at: now + .milliseconds(999)) == .doubtful)
        all.note(.success(new), of: 0, askedAt: now + .seconds(1), at: now + .seconds(1))
        all.note(.success(new), of: 1, askedAt: now + .seconds(1), at: now + .seconds(1))
        #expect(all.standing(of: new, at: now + .seconds(1)) == .believed)
    }
}
