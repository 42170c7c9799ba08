import HTTPServer
import Synchronization

/// The labels that requests are counted by: each combination has a row of counters.
struct RequestRow: Sendable, Equatable {
    let listener: String
    let method: String
    /// The pattern, or `-` without a route; never the path, because paths are unlimited.
    let route: String
}

/// The rows of a listener's requests.
///
/// A route has a row for its method; a route for `GET` also has one for `HEAD`. Requests without a route have a row for
/// each known method and one for all others.
struct RequestRowTable: Sendable {
    private(set) var rows: [RequestRow] = []
    /// The row of each route, by the route's index.
    private var routeRows: [Int] = []
    private var unmatched = 0

    /// - Parameter first: the number of rows of earlier listeners.
    init(listener: String, routes: [Route], first: Int) {
        func add(_ method: HTTPMethod, _ route: String) {
            rows.append(RequestRow(listener: listener, method: method.label, route: route))
        }
        for route in routes {
            routeRows.append(first + rows.count)
            add(route.method, route.pattern.text)
            if route.method == .get { add(.head, route.pattern.text) }
        }
        unmatched = first + rows.count
        for method in HTTPMethod.labelled { add(method, "-") }
    }

    func row(of method: HTTPMethod, on route: Route?) -> Int {
        guard let route, route.index < routeRows.count else { return unmatched + method.labelIndex }
        if route.method == method { return routeRows[route.index] }
        let isHeadOfGet = method == .head && route.method == .get
        return isHeadOfGet ? routeRows[route.index] + 1 : unmatched + method.labelIndex
    }
}

extension HTTPMethod {
    fileprivate static let labelled: [HTTPMethod] = [
        .get, .head, .post, .put, .patch, .delete, .options, .trace, .connect, .other(""),
    ]

    /// Its index in `labelled`.
    fileprivate var labelIndex: Int {
        Self.labelled.firstIndex(of: self) ?? Self.labelled.count - 1
    }

    /// The name of an unknown method must not get into logs and labels.
    var label: String {
        if case .other = self { return "_OTHER" }
        return description
    }
}

/// Counters, one set for each worker of a listener, so that two workers rarely write to one cache line. Listeners have
/// different counters, so their workers never share one.
///
/// `@unchecked Sendable`: the memory holds atomics and is neither moved nor freed while this exists.
final class CounterShards: @unchecked Sendable {
    private let cells: UnsafeMutablePointer<Atomic<UInt64>>
    private let shards: Int
    private let shardSize: Int

    /// 64 bytes: a cache line.
    private static let cellsPerLine = 8

    init(count: Int, shards: Int) {
        self.shards = max(1, shards)
        shardSize = (count + Self.cellsPerLine - 1) / Self.cellsPerLine * Self.cellsPerLine
        let total = self.shards * shardSize
        cells = UnsafeMutableRawPointer.allocate(byteCount: total * 8, alignment: 64)
            .bindMemory(to: Atomic<UInt64>.self, capacity: total)
        for cell in 0..<total { (cells + cell).initialize(to: Atomic(0)) }
    }

    deinit { UnsafeMutableRawPointer(cells).deallocate() }

    /// - Parameter worker: from 0, less than the number of shards.
    func shard(of worker: Int) -> Int {
        precondition(worker >= 0 && worker < shards, "there is no worker \(worker)")
        return worker * shardSize
    }

    /// Adds to a counter. Only the worker's thread adds to it, so a load and a store suffice: they take a fifth of the
    /// time of an atomic addition.
    /// - Parameter shard: from `shard(of:)`.
    func add(_ amount: UInt64, to counter: Int, of shard: Int) {
        precondition(counter >= 0 && counter < shardSize, "there is no such counter")
        let cell = cells + shard + counter
        cell.pointee.store(cell.pointee.load(ordering: .relaxed) &+ amount, ordering: .relaxed)
    }

    func sum(of counter: Int) -> UInt64 {
        var sum: UInt64 = 0
        for shard in 0..<shards {
            sum &+= (cells + shard * shardSize + counter).pointee.load(ordering: .relaxed)
        }
        return sum
    }
}

/// The bounds of the histograms: 50 µs to 10 s in steps of 1, 2.5 and 5.
enum LatencyBuckets {
    /// Inclusive upper bounds in nanoseconds. The bucket above the last one has no bound.
    static let bounds: [UInt64] = [
        50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000,
        100_000_000, 250_000_000, 500_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000,
    ]

    static var count: Int { bounds.count + 1 }

    static func index(of nanoseconds: UInt64) -> Int {
        // Nearly all responses are in the first few buckets.
        bounds.firstIndex { nanoseconds <= $0 } ?? bounds.count
    }
}

/// The counter of a status in a row: one for each status that this server sends, and one for the others of each class.
struct StatusSlots: Sendable {
    private static let known: [UInt16] = [
        200, 201, 204, 304, 400, 401, 403, 404, 405, 406, 408, 409, 410, 412, 413, 414, 415, 422, 428, 429, 431, 500,
        501, 503, 504, 507,
    ]

    /// The name of each slot: the code, or `4xx`.
    let names: [String]
    /// Indexed by the code minus 100.
    private let slots: [UInt8]

    init() {
        names = Self.known.map(String.init) + (1...5).map { "\($0)xx" }
        var slots = (0..<500).map { UInt8(Self.known.count + $0 / 100) }
        for (slot, code) in Self.known.enumerated() { slots[Int(code) - 100] = UInt8(slot) }
        self.slots = slots
    }

    /// - Parameter code: no response has one outside of 100 to 599; it would count with the last class.
    func slot(of code: UInt16) -> Int {
        code >= 100 && code < 600 ? Int(slots[Int(code) - 100]) : names.count - 1
    }
}
