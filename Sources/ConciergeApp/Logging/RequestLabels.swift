import JSONDocument

/// What the lines of all requests in one row of the metrics have in common, made once.
struct RequestLabels: Sendable {
    /// From behind the request's id to in front of its status:
    /// `","method":"GET","route":"/v1/session","listener":"public","status":`.
    let bytes: [UInt8]

    init(of row: RequestRow) {
        var members = JSONWriter()
        members.name("method")
        members.string(row.method)
        members.name("route")
        members.string(row.route)
        members.name("listener")
        members.string(row.listener)
        bytes = Array("\",".utf8) + LogForm.visible(members.bytes) + Array(",\"status\":".utf8)
    }
}
