/// The version of a service's state: the session's revision at the service's last write, 0 if it was never written.
///
/// A session's revision only grows, so a value never returns for other content, even after the service was removed. 0
/// always stands for the default.
package struct ServiceETag: Sendable, Hashable {
    package let revision: UInt64

    package init(revision: UInt64) {
        self.revision = revision
    }

    /// Reads the text between the quotes of a strong entity tag; `nil` for a tag that no service can have.
    package init?(opaque: some StringProtocol) {
        // Only the spelling that `opaque` writes: "+1" or "01" are other tags (RFC 9110 section 8.8.3.2).
        guard let revision = UInt64(opaque), String(revision) == opaque else { return nil }
        self.revision = revision
    }

    /// The text between the quotes.
    package var opaque: String { String(revision) }

    /// The tag of a service that was never written.
    package static let unwritten = ServiceETag(revision: 0)
}

extension ServiceETag: CustomStringConvertible {
    /// In quotes, as in a header field.
    package var description: String { "\"\(revision)\"" }

    /// Whether the text is exactly this tag, in quotes.
    package func isWritten(_ text: UnsafeRawBufferPointer) -> Bool { text.elementsEqual(description.utf8) }
}

/// The condition of an operation on a service or a journey (RFC 9110 section 13.1). The entity tag of both is a number
/// that only grows.
package struct WriteCondition: Sendable, Equatable {
    /// `If-Match`; `nil` when there is none.
    package var ifMatch: Match?
    /// `If-None-Match`; `nil` when there is none. ``Match/any`` holds while the service was never written, or the
    /// journey does not exist.
    package var ifNoneMatch: Match?

    package enum Match: Sendable, Equatable {
        /// `*`: it exists. A registered service always exists.
        case any
        /// One of these. An empty list, of tags that nothing can have, never matches.
        case oneOf([ServiceETag])
    }

    /// The step at which a journey must stand; nil for any. Of a service it says nothing.
    package var step: UInt64?

    package init(ifMatch: Match? = nil, ifNoneMatch: Match? = nil, step: UInt64? = nil) {
        self.ifMatch = ifMatch
        self.ifNoneMatch = ifNoneMatch
        self.step = step
    }

    package static let none = WriteCondition()

    package static func ifMatch(_ etag: ServiceETag) -> Self { .init(ifMatch: .oneOf([etag])) }

    var isEmpty: Bool { ifMatch == nil && ifNoneMatch == nil && step == nil }

    /// Whether it holds what the caller saw of a journey.
    var saysWhatWasSeen: Bool { ifMatch != nil || step != nil }

    /// Whether it holds for a service.
    func holds(for etag: ServiceETag) -> Bool { holds(for: etag, isNew: etag == .unwritten) }

    /// Whether it holds for a journey; nil when there is none.
    func holds(forJourney journey: (step: UInt64, etag: ServiceETag)?) -> Bool {
        if let step, step != journey?.step { return false }
        return holds(for: journey?.etag, isNew: journey == nil)
    }

    private func holds(for current: ServiceETag?, isNew: Bool) -> Bool {
        switch ifNoneMatch {
        case nil: break
        case .any: if !isNew { return false }
        case .oneOf(let etags): if let current, etags.contains(current) { return false }
        }
        switch ifMatch {
        case nil: return true
        case .any: return current != nil
        case .oneOf(let etags): return current.map(etags.contains) ?? false
        }
    }
}
