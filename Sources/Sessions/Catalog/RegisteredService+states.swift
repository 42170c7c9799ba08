import JSONDocument

/// Converts what a client sends to the bytes that are kept.
extension RegisteredService {
    /// The bytes of a stored document, to show or to change; nil when there is none.
    ///
    /// - Throws: ``SessionError/damaged(service:reason:)``.
    func readable(_ document: ServiceDocument?) throws(SessionError) -> [UInt8]? {
        guard let document else { return nil }
        guard !document.isDamaged else { throw .damaged(service: name, reason: "The store cannot read it.") }
        return document.bytes
    }

    /// The document of kept bytes; the default when there are none.
    ///
    /// - Throws: ``SessionError/serviceFailed(service:reason:)`` when a store has damaged them.
    func document(parsing bytes: [UInt8]?) throws(SessionError) -> JSONDocument {
        guard let bytes else { return self.default }
        do {
            return try JSONDocument(parsing: bytes)
        } catch {
            throw .serviceFailed(service: name, reason: "The stored state is not JSON: \(error)")
        }
    }

    /// Checks a state and returns the bytes to keep.
    ///
    /// - Throws: ``SessionError/invalid(_:)`` with every violation of the schema,
    ///   ``SessionError/tooLarge(service:limit:)``.
    ///
    /// - Parameter isEncoded: whether an object's state was encoded to it. Then it decodes, and lacks what is nil.
    func bytes(of document: JSONDocument, limit: Int, isEncoded: Bool = false) throws(SessionError) -> [UInt8] {
        let (state, violations) = isEncoded ? (document, schema.violations(in: document)) : fit(document)
        guard violations.isEmpty else {
            throw .invalid(violations.map { .init(pointer: $0.pointer, detail: $0.detail) })
        }
        return try bounded(state.serialized(), by: limit)
    }

    /// The same for a merge patch of the kept bytes, or of the default when there are none.
    func bytes(merging patch: JSONDocument, into kept: [UInt8]?, limit: Int) throws(SessionError) -> [UInt8] {
        if misfit == nil, let bytes = schema.merging(patch, into: kept ?? defaultBytes) {
            return try bounded(bytes, by: limit)
        }
        // A result that fits has taken the fast path. This one completes the document or finds its violations.
        return try bytes(of: try document(parsing: kept).merging(patch), limit: limit)
    }

    /// The document as a state of the service, completed where possible, and its remaining violations.
    func fit(_ document: JSONDocument) -> (state: JSONDocument, violations: [JSONViolation]) {
        // A document that fits lacks no required member.
        if schema.accepts(document), misfit?(document) == nil { return (document, []) }
        let state = completed(document) ?? document
        let violations = schema.violations(in: state)
        guard violations.isEmpty, let misfit = misfit?(state) else { return (state, violations) }
        return (state, [JSONViolation(pointer: misfit.pointer, detail: misfit.detail)])
    }

    /// - Throws: ``SessionError/tooLarge(service:limit:)``.
    func bounded(_ bytes: [UInt8], by limit: Int) throws(SessionError) -> [UInt8] {
        guard bytes.count <= limit else { throw .tooLarge(service: name, limit: limit) }
        return bytes
    }

    /// The document with the missing members of the default; `nil` when nothing is added.
    func completed(_ document: JSONDocument) -> JSONDocument? {
        guard completesFromDefault, let members = document.members, let defaults = self.default.members else {
            return nil
        }
        // Not a merge patch of the default: it would remove members that are null.
        let missing = defaults.filter { document[member: $0.name] == nil }
        guard !missing.isEmpty else { return nil }
        return JSONDocument(members: members + missing)
    }
}
