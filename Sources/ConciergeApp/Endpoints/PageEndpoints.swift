import CEmbeddedFiles
import HTTPServer

/// A page of the program, and the files that it needs. No other path is served, so a request cannot name a file.
struct PageEndpoints: Sendable {
    private let files: [(path: String, file: Representation)]

    /// `/demo`: walks through flows in a browser.
    static var demo: PageEndpoints { PageEndpoints(cembedded_demo_file, forms: "'none'") }
    /// `/console`: what operators see of the admin listener. It has no data: those it gets from the API.
    static var console: PageEndpoints { PageEndpoints(cembedded_console_file, forms: "'self'") }

    private init(_ file: (Int) -> UnsafePointer<CEmbeddedFile>?, forms: String) {
        // Everything comes from this server, nothing is inline, and no other site may show the page in a frame.
        let policy =
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
            + "form-action \(forms); base-uri 'none'; frame-ancestors 'none'"
        var files: [(path: String, file: Representation)] = []
        while let file = file(files.count)?.pointee {
            let bytes = Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
            files.append(
                (String(cString: file.path), Representation(String(cString: file.media_type), bytes, policy: policy)))
        }
        self.files = files
    }

    func add(to routes: inout RouterBuilder) {
        for (path, file) in files { routes.on(.get, path, handler: { .response(try file.answer(to: $0)) }) }
    }
}
