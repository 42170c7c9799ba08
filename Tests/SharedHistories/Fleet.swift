import Glibc
import RedisTestServer
import SeededRandomness
import Sessions
import Synchronization

/// The servers of a history, the one Redis that they share, and what happens to both.
final class Fleet: Sendable {
    let redis: RedisTestServer
    let keys: KeyModel
    private let servers: Mutex<[SharedServer]>
    private let faults = Mutex<[String: Int]>([:])
    private let make: Make
    private let keySessionID = Mutex<SessionID?>(nil)

    /// The session into which requests with a key write.
    var keySession: SessionID {
        get { keySessionID.withLock(\.self) ?? SessionID(high: 0, low: 0) }
        set { keySessionID.withLock { $0 = newValue } }
    }

    typealias Make = @Sendable (RedisTestServer) async throws -> SharedServer

    static var size: Int { 3 }

    /// - Parameter make: starts a server.
    init(_ keys: KeyModel, make: @escaping Make) async throws {
        redis = try RedisTestServer(isInMemory: true)
        self.keys = keys
        self.make = make
        var made: [SharedServer] = []
        for _ in 0..<Self.size { made.append(try await make(redis)) }
        servers = Mutex(made)
    }

    subscript(place: Int) -> SharedServer { servers.withLock { $0[place] } }

    var all: [SharedServer] { servers.withLock(\.self) }

    /// How often what has happened.
    var summary: String {
        faults.withLock { faults in faults.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" } }
            .joined(separator: ", ")
    }

    var faultCount: Int { faults.withLock { $0.values.reduce(0, +) } }

    // MARK: Faults

    /// Has something happen, and takes back what has happened before.
    func harm(_ random: inout SeededGenerator) async throws {
        let place = Int.random(in: 0..<Self.size, using: &random)
        let proxy = self[place].proxy
        for server in all { await server.proxy.set(.open) }
        let direction = FaultProxy.Direction.allCases.randomElement(using: &random) ?? .toServer
        let time = [1, 2, 3, 5, 10, 30, 100, 300].randomElement(using: &random) ?? 1
        switch Int.random(in: 0..<24, using: &random) {
        case 0..<3: await cause(.cut, proxy, "cut")
        case 3..<8:
            await cause(.cutAfter(Int.random(in: 1...4_000, using: &random), direction), proxy, "cut in the middle")
        case 8..<11: await cause(.cutLate(time), proxy, "cut, and delivered late")
        case 11..<14: await cause(.swallow(direction), proxy, "half open")
        case 14..<18: await cause(.delay(time, direction), proxy, "delayed")
        case 18: await open(.refusing, proxy, "refused")
        case 19: await open(.silent, proxy, "accepted and silent")
        case 20:
            count("Redis killed")
            redis.kill()
            try redis.start()
        case 21:
            count("Redis stopped for a while")
            redis.send(SIGSTOP)
            // Some of them longer than the deadline.
            try await Task.sleep(for: .milliseconds(time * 2))
            redis.send(SIGCONT)
        case 22:
            count("all cut")
            for server in all { await server.proxy.cause(.cut) }
        default:
            count("server killed")
            let new = try await make(redis)
            let former = servers.withLock { servers in
                defer { servers[place] = new }
                return servers[place]
            }
            await former.kill()
        }
    }

    /// Takes back what can be taken back.
    func heal() async {
        for server in all {
            await server.proxy.set(.open)
            await server.proxy.cause(.cut)
        }
    }

    private func cause(_ fault: FaultProxy.Fault, _ proxy: FaultProxy, _ name: String) async {
        count(name)
        await proxy.cause(fault)
    }

    private func open(_ door: FaultProxy.Door, _ proxy: FaultProxy, _ name: String) async {
        count(name)
        await proxy.set(door)
        await proxy.cause(.cut)
    }

    private func count(_ name: String) { faults.withLock { $0[name, default: 0] += 1 } }
}
