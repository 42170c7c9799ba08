import Glibc
import Synchronization
import Threads

/// A port of this machine at which a test plays Redis. It ends with this object.
package final class TestListener: Sendable {
    package struct Failure: Error {}

    package let port: UInt16
    /// What has come on all connections, piece by piece.
    package let received: AsyncStream<String>
    private let descriptor: Int32
    private let connections = Mutex<[Int32]>([])

    /// - Parameter reply: what is sent for a piece that has come; nil for nothing.
    package init(_ reply: @escaping @Sendable (String) -> String?) throws {
        port = try RedisTestServer.freePort()
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        descriptor = listener
        let (received, continuation) = AsyncStream.makeStream(of: String.self)
        self.received = received
        guard RedisTestServer.bind(listener, to: port), listen(listener, 16) == 0 else { throw Failure() }
        DetachedThread.run("test listener") { [weak self] in
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                self?.connections.withLock { $0.append(connection) }
                DetachedThread.run("test listener") { Self.serve(connection, reply, continuation) }
            }
        }
    }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
        cut()
    }

    /// Ends all connections.
    package func cut() {
        connections.withLock { connections in
            for connection in connections { shutdown(connection, Int32(SHUT_RDWR)) }
            connections = []
        }
    }

    /// The replies of a Redis of that version to the greeting of a client without a password.
    package static func greeting(_ version: String = "7.0.0") -> String {
        "*2\r\n$7\r\nversion\r\n$\(version.utf8.count)\r\n\(version)\r\n+PONG\r\n"
    }

    private static func serve(
        _ connection: Int32, _ reply: @Sendable (String) -> String?, _ received: AsyncStream<String>.Continuation
    ) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(connection, &buffer, buffer.count)
            guard count > 0 else { return }
            let piece = String(decoding: buffer[..<count], as: UTF8.self)
            received.yield(piece)
            if let text = reply(piece) {
                let bytes = Array(text.utf8)
                send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            }
        }
    }
}
