import JSONDocument
import Navigation

/// A journey as it is kept. It is handed on as one object, for who copies a journey counts a dozen references.
final class KeptJourney: Sendable {
    let journey: Journey

    init(_ journey: consuming Journey) {
        self.journey = journey
    }

    func write(to json: inout JSONWriter) { journey.write(to: &json) }
}
