import Storage

/// Whether a log that a process has left is the one that its database needs: the log's content, compared with the
/// ``LogMark`` in the database.
struct LogStanding {
    enum Verdict: Equatable {
        /// Everything that was acknowledged is there.
        case sound
        /// The same, and the last transaction in the log is incomplete or damaged.
        case torn
        /// See ``LogInspection/Finding/damaged(frame:)``.
        case damaged(frame: Int)
        /// The log had this many frames, and none are left.
        case missing(frames: Int)
        /// The log ends too early.
        case short(frames: Int, of: Int)
        /// An older log, all of which the database has.
        case former
        /// The log belongs to another state of the file, or to another file.
        case foreign
    }

    let verdict: Verdict
    /// Whether the log is applied: not one that is missing, or older than a database that has everything.
    let isOfUse: Bool

    /// - Parameter mark: nil for a file of an older version, and for a copy.
    init(_ mark: LogMark?, _ log: LogInspection) {
        let found: Verdict =
            switch log.finding {
            case .sound: .sound
            case .torn: .torn
            case .damaged(let frame): .damaged(frame: frame)
            }
        guard let mark, mark.kind != .opening else {
            let lost = mark?.frames ?? 0
            (verdict, isOfUse) = (lost > 0 && found == .sound ? .missing(frames: lost) : found, true)
            return
        }
        guard let content = log.content, content.frames > 0 || content.round == mark.round else {
            let isNeeded = mark.kind == .open && mark.frames > 0
            (verdict, isOfUse) = (isNeeded && found == .sound ? .missing(frames: mark.frames) : found, !isNeeded)
            return
        }
        if content.round == mark.round {
            let isShort = content.frames < mark.frames
            verdict =
                if case .damaged = found { found } else {
                    isShort ? .short(frames: content.frames, of: mark.frames) : found
                }
            isOfUse = mark.kind == .open || !isShort
        } else if mark.kind == .closed, content.round.isAfter(mark.round) {
            // A commit was on its way when the process ended, or the log is of the time since the file was copied.
            (verdict, isOfUse) = (found, true)
        } else {
            // A power cut may undo that the log was emptied.
            let isFormer = mark.kind == .closed && mark.frames == 0 && mark.round.isAfter(content.round)
            (verdict, isOfUse) = (isFormer ? .former : .foreign, false)
        }
    }

    /// Whether revisions may be given again that were given before.
    ///
    /// - Parameter isSameBoot: whether the mark is exact. After a power cut it may be behind, and then a transaction
    ///   that is damaged at the end of the log may have been acknowledged. After a kill it was not.
    func hasLost(sinceBoot isSameBoot: Bool) -> Bool {
        switch verdict {
        case .sound, .former: false
        case .torn: !isSameBoot
        default: true
        }
    }

    /// For the mark of a start that has not raised the floor yet.
    var lostFrames: Int {
        switch verdict {
        case .sound, .torn, .former, .foreign: 0
        case .damaged(let frame): max(1, frame)
        case .missing(let frames), .short(_, of: let frames): frames
        }
    }

    /// Whether a power cut may leave such a log when commits are not synced at once.
    var isLikeAfterPowerCut: Bool {
        switch verdict {
        case .missing: false
        default: isOfUse
        }
    }

    /// For a command that empties the log: the next start could not report what is missing in it.
    func require(_ path: String) throws(StoreOpeningError) {
        guard verdict != .sound else { return }
        throw .unusable(
            path, reason: "the end of its log is missing or damaged: start the server on it once, and end it")
    }

    /// Keeps the log that the next start would need to show what is lost.
    ///
    /// - Returns: the path of the copy; nil when there is none.
    func keepCopy(of path: String) -> String? {
        guard isOfUse else { return LogInspection.setAside(path) }
        return switch verdict {
        case .damaged, .short: LogInspection.keepCopy(of: path)
        default: nil
        }
    }

    /// What `store check` says; nil when nothing is lost.
    var finding: String? {
        switch verdict {
        case .sound, .torn, .former, .foreign: nil
        case .damaged(let frame): "The log of the database is damaged at frame \(frame): acknowledged writes are lost."
        case .missing(let frames):
            "The log of the database is missing or empty. It had \(frames) pages: acknowledged writes may be lost."
        case .short(let frames, let wanted):
            "The log of the database was cut, or is an older one: it has \(frames) of \(wanted) pages, and "
                + "acknowledged writes are lost."
        }
    }

    /// A sentence for the log about commits that are lost; nil when none are. Slices may have copied pages of them, and
    /// SQLite copies no page that has changed since: then the database is of no single state.
    func report(copy: String?) -> String? {
        guard let finding else { return nil }
        let place =
            switch verdict {
            case .missing: ""
            default: copy.map { "A copy of the log is \($0). " } ?? "The log could not be copied. "
            }
        return "\(finding) The database may have pages of some of them: `concierge store check` tells whether it is "
            + "whole. \(place)Entity tags continue above all that may have been given."
    }
}
