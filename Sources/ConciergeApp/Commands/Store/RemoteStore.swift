import JSONDocument
import Sessions

/// The store of a running server, which is asked on its admin listener.
struct RemoteStore {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let server: PlainHTTP
    private let place: String
    private let key: Secret?

    init(_ configuration: Configuration) {
        let host = HealthCheck.loopback(for: configuration.admin.host)
        var server = PlainHTTP(host: host, port: configuration.admin.port)
        // A step may wait behind others that write.
        server.timeoutSeconds = 30
        self.server = server
        place = "\(host), port \(configuration.admin.port)"
        key = configuration.admin.key
    }

    /// Asks for one step after the other: what clients write goes in between.
    func giveBackAll() throws(Failure) -> SpaceGivenBack {
        var given = 0
        while true {
            let space = try giveBack()
            guard space.isPossible else {
                throw Failure(
                    description: "a server has the file, and this one can only be made smaller without: "
                        + "stop the server, and do this again")
            }
            given += space.given
            guard space.left > 0, space.given > 0 else {
                return SpaceGivenBack(given: given, left: space.left, isPossible: true)
            }
        }
    }

    private func giveBack() throws(Failure) -> SpaceGivenBack {
        let fields = key.map { [(name: "X-Admin-Key", value: $0.revealed)] } ?? []
        guard let answer = server.send("DELETE", "/v1/store/free-pages", fields: fields) else {
            throw Failure(
                description: "a server has the file, and nothing answers at \(place): "
                    + "name its admin listener with --admin-host and --admin-port")
        }
        switch answer.status {
        case 200: break
        case 401: throw Failure(description: "the server at \(place) wants its key: give it with --admin-key-file")
        default: throw Failure(description: "the server at \(place) answers with status \(answer.status)")
        }
        guard let document = try? JSONDocument(parsing: answer.body), let given = document[member: "given_back"]?.int,
            let left = document[member: "free"]?.int, let isPossible = document[member: "possible"]?.bool
        else {
            throw Failure(
                description: "what answers at \(place) is not the admin listener of the server that has the file")
        }
        return SpaceGivenBack(given: given, left: left, isPossible: isPossible)
    }
}
