import Operations
import Testing

@Suite("What the manager of the process has told it")
struct InheritedSocketsTests {
    private static func descriptor(
        _ name: String, isOnly: Bool = false, _ names: String?, count: String = "2", process: String = "7"
    ) -> Int32? {
        let variables = ["LISTEN_PID": process, "LISTEN_FDS": count, "LISTEN_FDNAMES": names]
        return try? InheritedSockets(process: 7) { variables[$0] ?? nil }.descriptor(named: name, isOnly: isOnly)
    }

    @Test("a socket is the one with its name, or the only one where only one is wanted")
    func sockets() {
        #expect(Self.descriptor("public", "public:admin") == 3)
        #expect(Self.descriptor("admin", "public:admin") == 4)
        #expect(Self.descriptor("public", isOnly: true, "x:public") == 4)
        #expect(Self.descriptor("public", isOnly: true, "concierge.socket", count: "1") == 3)
        #expect(Self.descriptor("public", isOnly: true, nil, count: "1") == 3)
        #expect(Self.descriptor("public", "concierge.socket", count: "1") == nil, "the other listener may be meant")
        #expect(Self.descriptor("public", "public:public") == nil)
        #expect(Self.descriptor("public", isOnly: true, nil) == nil)
        #expect(Self.descriptor("public", "public") == nil, "names for another number of sockets are none")
        #expect(Self.descriptor("public", "public:admin", process: "8") == nil)
        for count in ["0", "-1", "x", "", "65"] { #expect(Self.descriptor("public", "public", count: count) == nil) }
    }

    @Test("a watchdog counts that is for this process and can be told")
    func watchdog() {
        func interval(_ variables: [String: String]) -> Duration? {
            ServiceManager(process: 7) { variables[$0] }.watchdogInterval
        }
        let address = ["NOTIFY_SOCKET": "@abstract", "WATCHDOG_USEC": "30000000"]
        #expect(interval(address) == .seconds(30))
        #expect(interval(address.merging(["WATCHDOG_PID": "7"]) { $1 }) == .seconds(30))
        #expect(interval(address.merging(["WATCHDOG_PID": "8"]) { $1 }) == nil)
        #expect(interval(address.merging(["WATCHDOG_USEC": "0"]) { $1 }) == nil)
        #expect(interval(address.merging(["NOTIFY_SOCKET": "vsock:2:1"]) { $1 }) == nil)
        #expect(interval(["WATCHDOG_USEC": "30000000"]) == nil)
    }
}
