import JSONDocument

/// What schemas said of documents in a step, so that none is asked twice: the screens of a flow often require the same,
/// and a client is shown, by the same guards, what may happen next.
///
/// It never has to be corrected, for neither schemas nor documents change: a service that is written has another
/// document from then on.
public struct GuardMemory: Sendable {
    struct Answer {
        let schema: JSONSchema
        /// Known by its place in memory, where no other can be while this is kept.
        let document: JSONDocument
        let isAccepted: Bool
    }

    /// More than a step asks, and few enough to be looked through by one who asks very many things just once, as the
    /// search for a way through a great flow does.
    private static let maximumAnswers = 16

    private(set) var answers: [Answer] = []

    /// Starts empty.
    public init() {}

    /// What is known about some documents alone, so that it keeps no others.
    package func about(_ isWanted: (JSONDocument) -> Bool) -> GuardMemory {
        if answers.indices.allSatisfy({ isWanted(answers[$0].document) }) { return self }
        var memory = self
        memory.answers.removeAll { !isWanted($0.document) }
        return memory
    }

    /// Nil when nobody has asked yet.
    func answer(about document: JSONDocument, by rule: ShapeRule) -> Bool? {
        for place in answers.indices
        where answers[place].schema === rule.schema && answers[place].document.isIdentical(to: document) {
            return answers[place].isAccepted
        }
        return nil
    }

    mutating func accepts(_ document: JSONDocument, by rule: ShapeRule) -> Bool {
        if let known = answer(about: document, by: rule) { return known }
        let isAccepted = rule.accepts(document)
        if answers.count < Self.maximumAnswers {
            answers.append(Answer(schema: rule.schema, document: document, isAccepted: isAccepted))
        }
        return isAccepted
    }
}
