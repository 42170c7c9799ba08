import CEmbeddedFiles
import HTTPServer

/// `/demo`: a page that walks through flows in a browser, and the files that it needs. No other path is served, so a
/// request cannot name a file.
struct DemoEndpoints: Sendable {
    func add(to routes: inout RouterBuilder) {
        for (path, file) in Self.files() {
            routes.on(.get, path, handler: { .response(try file.answer(to: $0)) })
        }
    }

    /// Everything comes from this server, nothing is inline, and no other site may show the page in a frame.
    private static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
        + "form-action 'none'; frame-ancestors 'none'"

    private static func files() -> [(path: String, file: Representation)] {
        var files: [(path: String, file: Representation)] = []
        while let file = cembedded_demo_file(files.count)?.pointee {
            let bytes = Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
            files.append(
                (String(cString: file.path), Representation(String(cString: file.media_type), bytes, policy: policy)))
        }
        return files
    }
}
