import JSONDocument

/// A rule over several fields of an event's data.
public struct FormRule: Sendable {
    /// What must hold.
    public let `guard`: Guard
    /// The JSON Pointer within the data that the rule is about; nil for wherever the guard looks.
    public let at: String?
    /// The author's text for the person who breaks the rule.
    public let say: String?

    /// - Parameter reasons: why the guard does not hold; pointers begin with a service, `event` or `input`.
    /// - Returns: the same with pointers within the data, and in the author's words.
    func violations(_ reasons: [JSONViolation]) -> [JSONViolation] {
        let event = "/event"
        if let say {
            let place =
                at
                ?? reasons.lazy.map(\.pointer).first { $0.hasPrefix(event + "/") }.map {
                    String($0.dropFirst(event.count))
                }
            return [JSONViolation(pointer: place ?? "", detail: say)]
        }
        let inner = reasons.map { reason in
            JSONViolation(
                pointer: at ?? (reason.pointer.hasPrefix(event) ? String(reason.pointer.dropFirst(event.count)) : ""),
                detail: reason.detail)
        }
        return inner.isEmpty ? [JSONViolation(pointer: at ?? "", detail: "breaks a rule")] : inner
    }
}

/// The rules of an event.
public struct EventForm: Sendable {
    /// The name of the event.
    public let event: String
    /// All of them must hold.
    public let rules: [FormRule]
}
