import HTTPServer

/// `Accept-Encoding`: the codings that the client accepts (RFC 9110, section 12.5.3).
enum AcceptedCodings {
    /// Whether the client names `gzip`, or any coding, without a quality of 0. Without the field any coding would do as
    /// well, but many clients that do not send it cannot decode one.
    static func takesGzip(_ request: HTTPRequest) -> Bool {
        var qualities: [String: Int] = [:]
        for item in request.fields.values(of: .acceptEncoding).flatMap({ $0.split(separator: ",") }) {
            let parts = item.split(separator: ";").map { String($0).filter { $0 != " " && $0 != "\t" }.lowercased() }
            guard let coding = parts.first else { continue }
            let quality = parts.dropFirst().first { $0.hasPrefix("q=") }?.dropFirst(2)
            qualities[coding] = quality.map { AcceptedTypes.quality($0) ?? 0 } ?? 1_000
        }
        return qualities["gzip"] ?? qualities["x-gzip"] ?? qualities["*"] ?? 0 > 0
    }
}
