import Configuration
import Glibc

extension ProgramProcess {
    /// Names another build of the program than the one that is shipped: `scripts/sanitize` and `scripts/prove-durability`
    /// have their own.
    package static let variable = "CONCIERGE_PROGRAM"

    /// The program that is shipped, which `make build` and `make test` build: optimised code is what users run, and the
    /// compiler has made mistakes in it (Swift 6.3.1 dropped a result that is written before an `await`, since
    /// dead stores are eliminated before coroutines are split).
    package static func executable() throws -> String { try found.get() }

    private static let found = Swift.Result { () throws(Failure) in
        if let path = getenv(variable).map({ String(cString: $0) }) {
            guard access(path, X_OK) == 0 else { throw Failure(description: "\(variable) is \(path): no program") }
            return path
        }
        let path = "\(ShippedFiles.directory)/.build/release/concierge"
        guard access(path, X_OK) == 0, let built = changed("\(ShippedFiles.directory)/.build/release.built") else {
            throw Failure(description: "no program at \(path): make build")
        }
        // It would say something about other sources than those that are here.
        let sources = ["Sources", "console", "demo", "clients/js"].flatMap {
            ProgramProcess.sources(in: "\(ShippedFiles.directory)/\($0)")
        }
        if let newer = sources.first(where: { changed($0).map { $0 > built } == true }) {
            throw Failure(description: "\(path) was built before \(newer) was changed: make build")
        }
        return path
    }

    private static let kinds: Set<Substring> = ["swift", "c", "cpp", "h", "hpp", "html", "css", "js", "svg"]

    /// Those that the program is made of. No program depends on the client.
    private static func sources(in folder: String) -> [String] {
        let names = (try? FileReader().names(in: folder)) ?? []
        return names.filter { $0 != "ConciergeClient" }.flatMap { name -> [String] in
            let path = "\(folder)/\(name)"
            guard let kind = name.lastIndex(of: ".") else { return sources(in: path) }
            return kinds.contains(name[name.index(after: kind)...]) ? [path] : []
        }
    }

    /// When a file was changed: nanoseconds since 1970.
    private static func changed(_ path: String) -> Int? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return status.st_mtim.tv_sec * 1_000_000_000 + status.st_mtim.tv_nsec
    }
}
