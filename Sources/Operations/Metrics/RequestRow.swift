import HTTPServer

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
    private let first: Int
    /// The row of each route, by the route's index.
    private var routeRows: [Int] = []
    private var unmatched = 0

    /// - Parameter first: the number of rows of earlier listeners.
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

    /// Its index in `labelled`.
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

    /// The name of an unknown method must not get into logs and labels.
    var label: String {
        if case .other = self { return "_OTHER" }
        return description
    }
}
