@testable import JSONDocument

enum FuzzedJSON {
    static func readAndWrite(_ bytes: [UInt8]) {
        _ = try? JSONDocument(parsing: bytes, comments: true)
        do {
            let document = try JSONDocument(parsing: bytes)
            let text = document.serialized()
            precondition(document.depth <= JSONDocument.maximumDepth, "too deep")
            guard let again = try? JSONDocument(parsing: text) else {
                preconditionFailure("what is written is no JSON")
            }
            precondition(again.serialized() == text, "writing twice gives two texts")
            // Only what this program wrote is read by the reader of tokens.
            var reader = try? JSONReader(text)
            precondition((try? reader?.document())?.serialized() == text, "the readers disagree")
            _ = JSONSourceLocation(offset: bytes.count / 2, in: bytes)
        } catch {
            precondition(error.offset <= bytes.count, "the place of an error is outside the text")
            _ = error.clause(in: bytes)
        }
    }

    private static func document(_ text: [UInt8]) -> JSONDocument? { try? JSONDocument(parsing: text) }

    private static let anything = try? JSONSchema(.emptyObject)

    /// A document and a merge patch.
    static func merge(_ bytes: [UInt8]) {
        let parts = parts(bytes, 2)
        guard let target = document(parts[0]), let patch = document(parts[1]) else { return }
        let merged = target.merging(patch)
        let text = merged.serialized()
        precondition(document(text)?.serialized() == text, "what is merged is no JSON")
        precondition(merged.merging(patch).serialized() == text, "merging twice gives two documents")
        precondition(merged.depth <= max(target.depth, patch.depth), "merging makes a document deeper")
        precondition(anything?.merging(patch, into: parts[0]) == text, "the two ways of merging disagree")
    }

    /// A document and a JSON Patch.
    static func patch(_ bytes: [UInt8]) {
        let parts = parts(bytes, 2)
        guard let target = document(parts[0]), let patch = document(parts[1]) else { return }
        let before = target.serialized()
        let limit = 100_000
        if let patched = try? target.applying(patch, maximumSize: limit) {
            let text = patched.serialized()
            precondition(document(text)?.serialized() == text, "what is patched is no JSON")
            precondition(text.count <= before.count + limit * 6, "a patch adds too much")
        }
        precondition(target.serialized() == before, "a patch changes its document")
    }

    /// A schema and a document.
    static func judge(_ bytes: [UInt8]) {
        let parts = parts(bytes, 2)
        guard let text = document(parts[0]), let schema = try? JSONSchema(text) else { return }
        _ = schema.warnings
        guard let judged = document(parts[1]) else { return }
        let violations = schema.violations(in: judged)
        precondition(schema.accepts(judged) == violations.isEmpty, "the two ways of judging disagree")
        precondition(violations.allSatisfy { JSONPointer(parsing: $0.pointer) != nil }, "a place is no pointer")
    }
}
