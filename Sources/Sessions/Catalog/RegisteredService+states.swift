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
        let bytes = document.serialized()
        // Most states fit, and of most texts that is seen at a fraction of the price.
        if schema.merging(plain: bytes, into: nil) != nil { return try bounded(bytes, by: limit) }
        if schema.accepts(document) { return try bounded(bytes, by: limit) }
        // Only what does not fit can lack a member that is required: what fits is not looked at again.
        let completed = completed(document)
        guard let completed, schema.accepts(completed) else {
            let violations = schema.violations(in: completed ?? document)
            throw .invalid(violations.map { .init(pointer: $0.pointer, detail: $0.detail) })
        }
        return try bounded(completed.serialized(), by: limit)
    }

    /// The same for a state as a client sends it.
    func bytes(of content: CheckedJSON, limit: Int) throws(SessionError) -> [UInt8] {
        if let text = content.plainText, let bytes = schema.merging(plain: text, into: nil) {
            return try bounded(bytes, by: limit)
        }
        return try bytes(of: try document(of: content), limit: limit)
    }

    /// The same for a merge patch of the bytes that were kept, or of the default when none were.
    func bytes(merging patch: CheckedJSON, into bytes: [UInt8]?, limit: Int) throws(SessionError) -> [UInt8] {
        if let text = patch.plainText, let merged = schema.merging(plain: text, into: bytes ?? defaultBytes) {
            return try bounded(merged, by: limit)
        }
        return try self.bytes(of: try document(parsing: bytes).merging(try document(of: patch)), limit: limit)
    }

    private func bounded(_ bytes: [UInt8], by limit: Int) throws(SessionError) -> [UInt8] {
        guard bytes.count <= limit else { throw .tooLarge(service: name, limit: limit) }
        return bytes
    }

    private func document(of content: CheckedJSON) throws(SessionError) -> JSONDocument {
        do {
            return try content.document()
        } catch {
            throw .serviceFailed(service: name, reason: "What was sent cannot be read: \(error)")
        }
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
