import HTTPServer

/// What requests are counted by: each combination has a row of counters.
struct RequestRow: Sendable, Equatable {
    let listener: String
    let method: String
    /// The pattern, or `-` where no route was found; never the path, because the number of paths has no limit.
    let route: String
}

/// The rows of one listener's requests.
///
/// A route has a row for its method, and one for `HEAD` if that is `GET`. Requests without a route have one for each known
/// method, and one for all others.
struct RequestRowTable: Sendable {
    private(set) var rows: [RequestRow] = []
    private let first: Int
    /// The row of each route, by the route's index.
    private var routeRows: [Int] = []
    private var unmatched = 0

    /// - Parameter first: how many rows other listeners have before this one's.
    init(listener: String, routes: [Route], first: Int) {
        self.first = first
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

    /// Its place in `labelled`.
    fileprivate var labelIndex: Int {
        switch self {
        case .get: 0
        case .head: 1
        case .post: 2
        case .put: 3
        case .patch: 4
        case .delete: 5
        case .options: 6
        case .trace: 7
        case .connect: 8
        case .other: 9
        }
    }

    /// The name of an unknown method stays out of logs and labels.
    var label: String {
        if case .other = self { return "_OTHER" }
        return description
    }
}
