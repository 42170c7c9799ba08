import JSONDocument
import Navigation

/// A cache of what was made of a session's stored bytes: the parsed journeys, the documents that their screens and
/// guards look at, the verdicts of guards, and the views that clients were shown. With it an event parses no text.
///
/// It never has to be corrected. Its key is the identity of the array of bytes, and the number of the definitions. The
/// cache keeps that array, so no other one gets its address, and a commit makes a new array. A view says at which
/// revision of the session it holds.
///
/// Immutable: a session exchanges the whole of it, see ``Session/State/memory``. ``RememberedSessions`` says how many
/// there are, and the room of one is bounded here.
final class JourneyMemory: Sendable {
    /// What the journeys are kept as.
    let text: [UInt8]
    let kept: KeptJourneys
    let documents: [KnownDocument]
    let guards: GuardMemory
    /// The last view of each journey that was looked at.
    let views: [JourneyText]
    /// ``SessionDefinitions/number`` of those that it was made by. It holds for no other.
    let definitions: Int

    /// About as many bytes as one may take. It is several times what one takes whose screens show a profile.
    static let maximumBytes = 8 << 10
    /// A tree of a document, or a journey, takes at most about so many bytes for each of its text.
    private static let bytesPerByteOfText = 16

    /// - Parameters:
    ///   - documents: what is not kept as bytes of its own is left out.
    ///   - views: the newest first: it is the one that is asked for next. What there is no room for is left out, too.
    init(
        text: [UInt8], kept: KeptJourneys, documents: [KnownDocument], guards: GuardMemory, views: [JourneyText],
        definitions: Int
    ) {
        self.definitions = definitions
        var room = Self.maximumBytes
        func takes(_ bytes: Int) -> Bool {
            guard bytes <= room else { return false }
            room -= bytes
            return true
        }
        // There is nearly always room for everything, and then the arrays are not touched.
        var (views, documents) = (views, documents)
        let fitting = views.firstIndex { !takes($0.bytes.count) }
        if let fitting { views.removeSubrange(fitting...) }
        // A history stays text.
        let history = kept.historyBytes
        let fitsText = takes((text.count - history) * Self.bytesPerByteOfText + 2 * history)
        for place in documents.indices.reversed() {
            let text = documents[place].text
            if let text, takes(text.count * Self.bytesPerByteOfText) { continue }
            documents.remove(at: place)
        }
        self.text = fitsText ? text : []
        self.kept = fitsText ? kept : KeptJourneys()
        self.documents = documents
        self.views = views
        // An answer keeps its document.
        self.guards = guards.about { document in
            documents.indices.contains { documents[$0].document.isIdentical(to: document) }
        }
    }

    /// The journeys that are stored as these bytes; nil when they are not cached.
    func journeys(keptAs bytes: [UInt8]) -> KeptJourneys? {
        bytes.isIdentical(to: text) ? kept : nil
    }

    func view(of journey: String) -> JourneyText? {
        for view in views where view.journey == journey { return view }
        return nil
    }
}

/// The document of a service, and the bytes that it was made of.
struct KnownDocument: Sendable {
    let service: RegisteredService
    /// Nil for a default that nobody has written.
    let text: [UInt8]?
    /// The session's at that write; 0 for a default.
    let revision: UInt64
    let document: JSONDocument
}

extension [UInt8] {
    /// Whether both are one array in memory. Equal ones need not be.
    func isIdentical(to other: [UInt8]) -> Bool {
        withUnsafeBufferPointer { own in
            other.withUnsafeBufferPointer { own.baseAddress == $0.baseAddress && own.count == $0.count }
        }
    }
}
