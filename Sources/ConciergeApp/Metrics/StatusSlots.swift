/// Which counter of a row a status has: one for each status that this server gives, and one for the rest of a class.
struct StatusSlots: Sendable {
    private static let known: [UInt16] = [
        200, 201, 204, 304, 400, 401, 403, 404, 405, 406, 408, 409, 410, 412, 413, 414, 415, 422, 428, 429, 431, 500,
        501, 503, 504, 507,
    ]

    /// What each slot is called: the code, or `4xx`.
    let names: [String]
    /// By the code, less 100.
    private let slots: [UInt8]

    init() {
        names = Self.known.map(String.init) + (1...5).map { "\($0)xx" }
        var slots = (0..<500).map { UInt8(Self.known.count + $0 / 100) }
        for (slot, code) in Self.known.enumerated() { slots[Int(code) - 100] = UInt8(slot) }
        self.slots = slots
    }

    /// - Parameter code: anything outside of 100 to 599, which no answer has, counts with the last class.
    func slot(of code: UInt16) -> Int {
        code >= 100 && code < 600 ? Int(slots[Int(code) - 100]) : names.count - 1
    }
}
