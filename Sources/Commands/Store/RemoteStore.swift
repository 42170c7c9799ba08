import Configuration
import JSONDocument
import SQLiteStorage
import Sessions

/// The store of a running server, used through its admin listener.
struct RemoteStore {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let listener: AdminListener

    init(_ configuration: Configuration) {
        // A step may wait behind other writes.
        listener = AdminListener(configuration, timeoutSeconds: 30)
    }

    /// Sends one request after another, so that clients can write in between.
    ///
    /// - Parameter path: the file that the server must use.
    func giveBackAll(of path: String) throws(Failure) -> SpaceGivenBack {
        try checkFile(path)
        var given = 0
        while true {
            let space = try giveBack()
            guard space.isPossible else {
                throw Failure(
                    description: "a server uses the file, which can only shrink while no server does: "
                        + "stop the server and try again")
            }
            given += space.given
            guard space.left > 0, space.given > 0 else {
                return SpaceGivenBack(given: given, left: space.left, isPossible: true)
            }
        }
    }

    /// A machine may have several servers, and the configuration may name the port of another one.
    private func checkFile(_ path: String) throws(Failure) {
        guard let store = try answer("GET", "/v1/stats")?[member: "store"] else { throw stranger }
        guard let identity = FileIdentity(path), store[member: "file"]?.string == identity.text else {
            throw Failure(
                description: "a server uses the file, but the one at \(listener.place) has another store: "
                    + Self.advice)
        }
    }

    private func giveBack() throws(Failure) -> SpaceGivenBack {
        guard let document = try answer("DELETE", "/v1/store/free-pages"),
            let given = document[member: "given_back"]?.int, let left = document[member: "free"]?.int,
            let isPossible = document[member: "possible"]?.bool
        else { throw stranger }
        return SpaceGivenBack(given: given, left: left, isPossible: isPossible)
    }

    /// `nil` when the body is not JSON.
    private func answer(_ method: String, _ path: String) throws(Failure) -> JSONDocument? {
        guard let answer = listener.send(method, path) else {
            throw Failure(
                description: "a server uses the file, and no server responds at \(listener.place): \(Self.advice)")
        }
        guard answer.status == 200 else { throw Failure(description: listener.refusal(answer)) }
        return try? JSONDocument(parsing: answer.body)
    }

    private var stranger: Failure {
        Failure(
            description: "the server at \(listener.place) is not the admin listener of the server that uses the file: "
                + Self.advice)
    }

    private static let advice = "name its admin listener with --admin-host and --admin-port"
}
