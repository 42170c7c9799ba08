import JSONDocument

/// The services of a session as a step sees them. Sessions has one over its unit of work; tests have a dictionary.
///
/// The engine only reads: what a step changes is in its ``Step/changes``, in the order in which it was done, and is
/// for the caller to do, together with keeping the journey, or not at all.
public protocol ServiceDocuments {
    /// The state of a service, its default when nothing was written yet; nil when there is no service of that name.
    func document(of service: String) -> JSONDocument?

    /// What the service is after it was cleared or removed; nil when there is no service of that name.
    func defaultDocument(of service: String) -> JSONDocument?

    /// The text of ``document(of:)`` if it is at hand: then nobody has to write it. There need not be one.
    func text(of service: String) -> [UInt8]?

    /// What would be wrong with a document as the state of a service, pointers within the document; empty when it fits.
    func violations(of document: JSONDocument, in service: String) -> [JSONViolation]
}

extension ServiceDocuments {
    /// There is no text at hand: the document is serialised.
    public func text(of service: String) -> [UInt8]? { nil }
}
