import JSONDocument
import Navigation

/// What a back end is told of a session: a task that belongs to no journey (``TaskID/isNotice``), and that stays in the
/// store when its session has ended. Its id tells its kind.
package struct SessionNotice: Sendable, Equatable {
    /// In the order in which those of one commit happen.
    package enum Kind: UInt64, Sendable, CaseIterable {
        case created, signedOut, signedIn, ended

        package var name: String {
            switch self {
            case .created: "session.created"
            case .signedOut: "session.signed_out"
            case .signedIn: "session.signed_in"
            case .ended: "session.ended"
            }
        }
    }

    /// Who is signed in; of ``Kind/signedOut``, who was.
    package let userID: String?
    /// Why the session has ended: the value of a ``SessionEnd``.
    package let reason: String?
    /// When it is given up, in steady time.
    package let endsAt: Int64

    /// What a store keeps besides numbers: the reason, a blank, and the user.
    package var text: String { "\(reason ?? "") \(userID ?? "")" }

    /// - Parameter text: see ``text``.
    package init(text: String, endsAt: Int64) {
        // By bytes: a user's id may begin with a combining character.
        let parts = text.utf8.split(separator: UInt8(ascii: " "), maxSplits: 1, omittingEmptySubsequences: false)
        self.init(userID: parts.last.map { String(Substring($0)) }, reason: String(Substring(parts[0])), endsAt: endsAt)
    }

    init(userID: String?, reason: String?, endsAt: Int64) {
        self.userID = userID == "" ? nil : userID
        self.reason = reason == "" ? nil : reason
        self.endsAt = endsAt
    }

    /// A back end that is away is asked again and again, at last once a day, until the notice is given up.
    static let retry = TaskRetry(attempts: Int(Int32.max), after: 1_000, factor: 2)
}

extension TaskID {
    /// In place of the journey's id.
    private static let ofNotice = "session"

    /// Whether it is the id of a ``SessionNotice``.
    package var isNotice: Bool { journey == Self.ofNotice }

    static func isNotice(_ journey: some StringProtocol) -> Bool { journey == ofNotice }

    /// - Parameter revision: of the session's commit that does it. So the id stays the same over all attempts, and
    ///   those of a session are in the order in which things happened.
    init(_ kind: SessionNotice.Kind, of session: SessionID, revision: UInt64) {
        self.init(session: session, journey: Self.ofNotice, number: revision << 2 | kind.rawValue)
    }

    package var noticeKind: SessionNotice.Kind? { isNotice ? SessionNotice.Kind(rawValue: number & 3) : nil }
}

extension SessionEnvironment {
    /// Whether back ends are told of sessions.
    var givesNotice: Bool { settings.noticeTask != nil }

    /// Nil when nobody is told.
    func notice(
        _ kind: SessionNotice.Kind, of id: SessionID, revision: UInt64, userID: String?, because end: SessionEnd? = nil,
        at time: Int64
    ) -> StoredTask? {
        guard let name = settings.noticeTask else { return nil }
        return StoredTask(
            id: TaskID(kind, of: id, revision: revision), name: name, attempts: SessionNotice.retry.attempts,
            createdAt: time, due: time,
            notice: SessionNotice(userID: userID, reason: end?.rawValue, endsAt: time.later(by: settings.longestTask)))
    }

    /// Of the end of a session, if its tokens have not ended before. That the session was erased is told in any case.
    func notice(of end: SessionEnd, _ session: StoredSession) -> StoredTask? {
        let record = session.record
        guard givesNotice, record.token != .ofNobody || end == .erased, !record.hasEnded else { return nil }
        let now = clock.now()
        return notice(
            .ended, of: record.id, revision: record.highestRevision + 1, userID: record.userID, because: end,
            at: end == .expired ? min(now, session.deadline(settings)) : now)
    }

    /// The notice goes to the store in the commit of `pending`.
    func tell(
        _ kind: SessionNotice.Kind, of userID: String?, because end: SessionEnd? = nil, on pending: inout PendingState
    ) {
        let notice = notice(
            kind, of: pending.base.id, revision: pending.revision, userID: userID, because: end, at: pending.now)
        if let notice { pending.taskChanges.append(.begun(notice)) }
    }

    /// What a back end gets that has claimed a notice; nil when the task is none.
    func claimed(notice task: StoredTask) -> ClaimedTask? {
        guard let notice = task.notice, let kind = task.id.noticeKind else { return nil }
        var input: [(name: String, value: JSONDocument)] = [
            ("event", JSONDocument(kind.name)), ("at", JSONDocument(timestamp(task.createdAt).description)),
        ]
        if let reason = notice.reason { input.append(("reason", JSONDocument(reason))) }
        return ClaimedTask(task: task, input: JSONDocument(members: input), userID: notice.userID, place: nil)
    }
}
