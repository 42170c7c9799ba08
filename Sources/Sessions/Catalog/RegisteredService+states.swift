import JSONDocument

/// From what a client sends to the bytes that are kept.
extension RegisteredService {
    /// The document whose bytes were kept; the default when none were.
    ///
    /// - Throws: ``SessionError/serviceFailed(service:reason:)`` when a store has not kept them as they were.
    func document(parsing bytes: [UInt8]?) throws(SessionError) -> JSONDocument {
        guard let bytes else { return self.default }
        do {
            return try JSONDocument(parsing: bytes)
        } catch {
            throw .serviceFailed(service: name, reason: "What the store kept of it is not JSON: \(error)")
        }
    }

    /// Checks a state and gives the bytes that are kept of it.
    ///
    /// - Throws: ``SessionError/invalid(_:)`` with every violation of the schema, ``SessionError/tooLarge(service:limit:)``.
    func bytes(of document: JSONDocument, limit: Int) throws(SessionError) -> [UInt8] {
        let (state, violations) = fit(document)
        guard violations.isEmpty else {
            throw .invalid(violations.map { .init(pointer: $0.pointer, detail: $0.detail) })
        }
        return try bounded(state.serialized(), by: limit)
    }

    /// The same for a merge patch of the bytes that were kept, or of the default when none were.
    func bytes(merging patch: JSONDocument, into kept: [UInt8]?, limit: Int) throws(SessionError) -> [UInt8] {
        if let bytes = schema.merging(patch, into: kept ?? defaultBytes) { return try bounded(bytes, by: limit) }
        // What fits has taken the short way: this one completes it, or tells what is wrong.
        return try bytes(of: try document(parsing: kept).merging(patch), limit: limit)
    }

    /// The document as a state of the service, completed where it may be, and what is wrong with it even so.
    func fit(_ document: JSONDocument) -> (state: JSONDocument, violations: [JSONViolation]) {
        // Only what does not fit can lack a member that is required: what fits is not looked at again.
        if schema.accepts(document) { return (document, []) }
        let state = completed(document) ?? document
        return (state, schema.violations(in: state))
    }

    /// - Throws: ``SessionError/tooLarge(service:limit:)``.
    func bounded(_ bytes: [UInt8], by limit: Int) throws(SessionError) -> [UInt8] {
        guard bytes.count <= limit else { throw .tooLarge(service: name, limit: limit) }
        return bytes
    }

    /// The document with the default's members where it has none of its own; nil when it is to stay as it is.
    private func completed(_ document: JSONDocument) -> JSONDocument? {
        guard completesFromDefault, let members = document.members, let defaults = self.default.members else {
            return nil
        }
        // Not a merge patch of the default: that would take a null for a removal.
        let missing = defaults.filter { document[member: $0.name] == nil }
        guard !missing.isEmpty else { return nil }
        return JSONDocument(members: members + missing)
    }
}
