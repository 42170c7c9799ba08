import JSONDocument

/// What callers without a session's token may know of flows.
package enum FlowsPublic: Sendable, Equatable, ExpressibleByBooleanLiteral {
    case nothing
    /// Names, titles, screens and events.
    case outlines
    /// The whole definitions.
    case definitions

    package init(booleanLiteral value: Bool) { self = value ? .outlines : .nothing }
}

extension Setting where Value == FlowsPublic {
    /// `true`, `false` or `"definitions"`.
    static var flowsPublic: Self {
        let flag = Setting<Bool>.boolean
        return Self(
            name: "boolean or choice", allowed: "true, false or definitions",
            schema: ["enum": [true, false, "definitions"]],
            read: { written in
                flag.read(written).map { $0 ? .outlines : .nothing }
                    ?? (written.string == "definitions" ? .definitions : nil)
            },
            show: {
                switch $0 {
                case .nothing: "false"
                case .outlines: "true"
                case .definitions: "\"definitions\""
                }
            },
            guess: { flag.guess($0) ?? ($0.string?.hasPrefix("def") == true ? "definitions" : nil) })
    }
}
