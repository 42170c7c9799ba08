import HTTPTestClient
import Support

/// The requests of clients and admins.
extension Connection {
    /// - Throws: as ``send(_:_:_:token:)``.
    func response(to action: SentRequest.Action) throws -> TestResponse {
        switch action {
        case .read(let service): try send("GET", Session.service(service))
        case .put(.user, let number):
            try sendAsAdmin("PUT", "services/user", #"{"id":"u-\#(number)","authenticated":true,"claims":{}}"#)
        case .put(let service, let number): try send("PUT", Session.service(service), #"{"n":\#(number)}"#)
        case .both(let number):
            try send(
                "POST", "\(Session.path)/transactions",
                #"{"operations":[{"op":"put","service":"left","value":{"n":\#(number)}},"#
                    + #"{"op":"put","service":"right","value":{"n":\#(number)}}]}"#)
        case .move(let number):
            try send("POST", "\(Session.path)/journeys/main/events", #"{"event":"move","data":{"n":\#(number)}}"#)
        case .end: try send("DELETE", Session.path)
        case .rotate: try send("POST", "\(Session.path)/tokens")
        case .reuse: try send("GET", Session.path, token: formerToken)
        case .endOfUser(let number): try send("DELETE", "/v1/users/u-\(number)/sessions", on: admin?.raw)
        }
    }

    private func sendAsAdmin(_ method: String, _ path: String, _ json: String) throws -> TestResponse {
        try send(method, "/v1/sessions/\(admin?.session ?? "")/\(path)", json, on: admin?.raw)
    }
}
