import HTTPServer

extension HTTPFieldName {
    package static let contentSecurityPolicy = HTTPFieldName("Content-Security-Policy")
}

/// What a browser may do with a response that somebody opens as a page: W3C, Content Security Policy Level 3.
package enum ContentPolicy {
    /// Nothing is loaded, nothing runs, and no site may show it in a frame.
    package static let data = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"
    /// The same with the styles that are in the drawing.
    package static let drawing =
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; sandbox; frame-ancestors 'none'"
}

package enum MediaType {
    package static let json = "application/json"
    package static let mergePatch = "application/merge-patch+json"
    package static let jsonPatch = "application/json-patch+json"
    /// Lines of JSON have no registered type. Exports are sent as the first.
    package static let lines = ["application/x-ndjson", "application/ndjson", "application/jsonl"]
}
