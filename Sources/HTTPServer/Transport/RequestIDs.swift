/// Gives each request its name: the client's, when it sent one that can stand in a log, or else a new one.
///
/// New ones have 15 characters: five drawn when the server starts, then the request's number.
struct RequestIDs: Sendable {
    private let prefix = UInt32.random(in: 0..<(1 << 25))

    /// - Parameter number: the request's, which no other has.
    func id(of head: HTTPHead, number: UInt64) -> RequestID {
        let place = head.place(of: .requestID)
        if place.count > 0, let sent = RequestID(sent: head.value(Int(place.first))) { return sent }
        return RequestID(prefix: prefix, number: number)
    }
}
