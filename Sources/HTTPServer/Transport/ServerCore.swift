import CMicroHTTPD

/// What the bridge's callbacks need: the error renderer, the limits, and the workers with their routes. Each server has
/// one.
final class ServerCore: Sendable {
    let errors: any HTTPErrorRenderer
    private let observer: (any HTTPServerObserver)?
    /// The end of every response's head: `commonFields`, then the name of the request id's field.
    private let lastFields: [UInt8]
    private let limits: HTTPServerConfiguration.Limits
    let trustedProxies: TrustedProxies?
    /// `nil` when addresses have none.
    private let prefix: PathPrefix?
    private let basePath: String?
    /// `nil` when an address may have any number.
    let connections: AddressConnections?
    private let admission: (@Sendable (HTTPRequest) throws -> HTTPFields?)?
    private let ids = RequestIDs()
    /// One for each worker.
    let executors: [WorkerExecutor]

    init(
        router: Router, configuration: HTTPServerConfiguration, errors: any HTTPErrorRenderer,
        observer: (any HTTPServerObserver)?
    ) {
        precondition(configuration.basePath.map(HTTPServerConfiguration.isBasePath) ?? true, "`basePath` is malformed")
        basePath = configuration.basePath
        self.errors = errors
        self.observer = observer
        connections = configuration.addressConnections
        admission = configuration.admission
        trustedProxies = configuration.trustedProxies
        prefix = PathPrefix(configuration)
        limits = configuration.limits
        let routes = ServedRoutes(router, configuration.crossOrigin, under: basePath)
        executors = (0..<max(1, configuration.workers)).map { _ in WorkerExecutor(routes) }
        let commonFields = configuration.commonFields
        precondition(commonFields.isWellFormed, "a field of `commonFields` is malformed")
        lastFields = commonFields.wholeText + Array("\(HTTPFieldName.requestID.text): ".utf8)
    }

    /// Has each worker serve other routes, from its next request on.
    func replaceRoutes(_ router: Router, _ crossOrigin: CrossOrigin?) async {
        let routes = ServedRoutes(router, crossOrigin, under: basePath)
        for executor in executors {
            await withUnsafeContinuation { continuation in executor.run(.routes(routes) { continuation.resume() }) }
        }
    }

    /// Takes a request over from the bridge, and copies everything out of C's memory.
    /// - Returns: the exchange that responds later, retained; `nil` when the response is queued.
    func take(_ raw: UnsafePointer<cmhd_request>) -> UnsafeMutableRawPointer? {
        let name = UnsafeBufferPointer(start: raw.pointee.head, count: Int(raw.pointee.method_length))
        let method = name.isEmpty ? .other("-") : HTTPMethod(String(decoding: name, as: UTF8.self))
        let fields = HTTPRequestFields(raw)
        let connection = raw.pointee.connection
        let router = executors[Int(raw.pointee.worker)].routes.router
        let decision: Router.Decision
        if raw.pointee.refusal != CMHD_REFUSAL_NONE, let refusal = HTTPError(raw.pointee.refusal, of: method, limits) {
            decision = .refuse(refusal)
        } else {
            let outcome = router.find(method, fields)
            // The usual case. It makes no `Decision`, which would be copied.
            if case .found(let route, let parameters) = outcome {
                let refusal = raw.pointee.present & Self.rareFields == 0 ? nil : refusal(of: method, fields)
                let match = router.match(route, parameters)
                guard let request = admit(request(raw, method, fields, match), on: connection) else { return nil }
                if let refusal { return refuse(request, refusal, on: connection) }
                return raw.pointee.body_length < HTTPRequest.longBody
                    ? handle(request, on: connection) : handleElsewhere(request, on: connection)
            }
            decision = router.decide(outcome, method, fields)
        }
        guard let request = admit(request(raw, method, fields, decision.match), on: connection) else { return nil }
        switch decision {
        case .handle: return handle(request, on: connection)
        case .tell(let match, let allow): send(tell(request, allow, of: match.route), to: request, on: connection)
        case .refuse(let error): return refuse(request, error, on: connection)
        }
        return nil
    }

    /// - Returns: nil when the request is not admitted; then its response is sent.
    private func admit(_ request: consuming HTTPRequest, on connection: OpaquePointer) -> HTTPRequest? {
        do {
            if let fields = try admission?(request) { request.addedFields = fields }
            return request
        } catch {
            send(errors.response(to: error, of: request), to: request, on: connection)
            return nil
        }
    }

    private static let rareFields =
        UInt32(1) << CMHD_FIELD_CONTENT_ENCODING.rawValue | UInt32(1) << CMHD_FIELD_CONTENT_RANGE.rawValue

    /// RFC 9110, 8.4 and 14.5: a body that would be taken for something else.
    private func refusal(of method: HTTPMethod, _ fields: HTTPRequestFields) -> HTTPError? {
        if !method.isSafe, fields.contains(.contentRange) { return .partialWrite }
        let codings = fields.values(of: .contentEncoding).flatMap { $0.split { ", \t".contains($0) } }
        return codings.allSatisfy { $0.lowercased() == "identity" } ? nil : .unsupportedContentEncoding
    }

    /// Makes the request from its parts, which are consumed, so no reference is counted.
    private func request(
        _ raw: UnsafePointer<cmhd_request>, _ method: consuming HTTPMethod, _ fields: consuming HTTPRequestFields,
        _ match: consuming RouteMatch
    ) -> HTTPRequest {
        let peer = PeerAddress(raw.pointee.peer)
        let client = trustedProxies?.client(behind: peer, copy fields) ?? peer
        let basePath = prefix?.text(for: copy fields, from: peer) ?? ""
        return HTTPRequest(
            id: ids.id(of: fields, number: raw.pointee.number), method: method, fields: fields,
            body: raw.pointee.body_length == 0 ? [] : raw.pointee.bodyBytes,
            awaitsContinue: raw.pointee.awaits_continue,
            peer: peer, client: client, basePath: basePath, match: match, receivedAt: raw.pointee.received_at,
            worker: Int(raw.pointee.worker), takesRemarks: observer?.takesRemarks ?? false)
    }

    /// - Returns: see `take`.
    private func refuse(
        _ request: HTTPRequest, _ error: HTTPError, on connection: OpaquePointer
    ) -> UnsafeMutableRawPointer? {
        send(errors.response(to: error, of: request), to: request, on: connection)
        return nil
    }

    /// Lists the methods of a path, for `OPTIONS` and for a method that is not possible.
    private func tell(_ request: HTTPRequest, _ allow: String, of route: Route?) -> HTTPResponse {
        do {
            var possible = allow
            do {
                possible = try route?.allow?(request) ?? allow
            } catch {
                // TRACE is not possible on any path, whether or not the path exists.
                guard request.method == .trace else { throw error }
            }
            guard request.method == .options else { throw HTTPError.methodNotAllowed(request.method, allow: possible) }
            var response = HTTPResponse(.noContent, fields: [.allow: possible])
            executors[request.worker].routes.crossOrigin?.answerPreflight(request, allow: possible, in: &response)
            return response
        } catch {
            return errors.response(to: error, of: request)
        }
    }

    /// - Returns: see `take`.
    private func handle(_ request: HTTPRequest, on connection: OpaquePointer) -> UnsafeMutableRawPointer? {
        guard let route = request.match.route else { return nil }
        // The outcome is consumed: copying it would count every reference in a response.
        switch outcome(of: request, on: route) {
        case .response(let response) where !response.isLongToCompress(for: request):
            send(consume response, to: request, on: connection)
            return nil
        case let outcome: return handleLater(request, consume outcome, on: connection)
        }
    }

    /// Handles a request that may take long on a thread of Swift's pool. Its connection is parked meanwhile, and the
    /// worker serves others.
    @inline(never)
    private func handleElsewhere(_ request: HTTPRequest, on connection: OpaquePointer) -> UnsafeMutableRawPointer? {
        guard let route = request.match.route else { return nil }
        let exchange = Exchange(request: request, core: self, connection: connection)
        exchange.startBeside { try route.handler(request) }
        return Unmanaged.passRetained(exchange).toOpaque()
    }

    private func outcome(of request: HTTPRequest, on route: Route) -> HTTPOutcome {
        do {
            return try route.handler(request)
        } catch {
            return .response(response(to: error, of: request))
        }
    }

    @inline(never)
    private func handleLater(
        _ request: HTTPRequest, _ outcome: consuming HTTPOutcome, on connection: OpaquePointer
    ) -> UnsafeMutableRawPointer? {
        let exchange = Exchange(request: request, core: self, connection: connection)
        if request.isPatient { cmhd_be_patient(connection) }
        guard let response = exchange.start(outcome) else { return Unmanaged.passRetained(exchange).toOpaque() }
        send(response, to: request, on: connection)
        return nil
    }

    /// The response for an error that a handler threw. Status 100 means that the handler needs the body first.
    func response(to error: any Error, of request: HTTPRequest) -> HTTPResponse {
        if request.awaitsContinue, (error as? HTTPError)?.status == .continue {
            return HTTPResponse(.continue)
        }
        return errors.response(to: error, of: request)
    }

    /// Queues a response. Runs on the worker's thread.
    func send(_ response: consuming HTTPResponse, to request: HTTPRequest, on connection: OpaquePointer) {
        if request.awaitsContinue, response.status == .continue { return cmhd_continue(connection) }
        if !response.fields.isWellFormed {
            observer?.failed(request, MalformedField())
            response = errors.response(to: MalformedField(), of: request)
        }
        if response.body.count >= HTTPResponse.leastBytesToCompress { response = response.encoded(for: request) }
        if response.body.count > CMHD_SMALL_BODY, !cmhd_reserve(connection, response.body.count) {
            response = errors.response(to: HTTPError.noRoom(forResponseTo: request.method), of: request)
        }
        if let fields = request.addedFields { response.fields.add(contentsOf: fields) }
        if let crossOrigin = executors[request.worker].routes.crossOrigin {
            response.fields.add(crossOrigin.fields(for: request) ?? crossOrigin.common)
        }
        let now = cmhd_clock()
        observer?.answered(request, with: response, after: now - request.receivedAt)
        let stream = response.source.map { Unmanaged.passRetained(self.stream($0, of: request, on: connection)) }
        withAnswer(response, to: request) { answer in
            answer.made_at = now
            answer.stream = stream?.toOpaque()
            // Without a response the bridge closes the connection, because no memory is left for one.
            if !cmhd_respond(connection, &answer) { stream?.release() }
        }
    }

    /// Calls `use` with the response as C reads it: pointers that are valid during the call.
    @inline(__always)
    private func withAnswer(
        _ response: HTTPResponse, to request: HTTPRequest, _ use: (inout cmhd_answer) -> Void
    ) {
        var answer = cmhd_answer()
        answer.status = UInt32(response.status.code)
        if let fixed = response.fields.fixed {
            answer.first_fields = fixed.bytes.baseAddress
            answer.first_fields_length = fixed.bytes.count
        }
        if let tag = response.fields.entityTag {
            answer.has_entity_tag = true
            answer.entity_tag = tag
        }
        if response.body.count > CMHD_SMALL_BODY {
            answer.body_owner = Unmanaged.passRetained(LargeBody(response.body)).toOpaque()
            answer.release_body = { owner in owner.map { Unmanaged<LargeBody>.fromOpaque($0).release() } }
        }
        request.id.withBytes { id in
            (answer.last_value, answer.last_value_length) = (id.baseAddress, id.count)
            lastFields.withUnsafeBytes { fields in
                (answer.last_fields, answer.last_fields_length) = (fields.baseAddress, fields.count)
                response.fields.text.withUnsafeBytes { fields in
                    (answer.fields, answer.fields_length) = (fields.baseAddress, fields.count)
                    response.body.withUnsafeBytes { body in
                        (answer.body, answer.body_length) = (body.baseAddress, body.count)
                        use(&answer)
                    }
                }
            }
        }
    }

    private func stream(
        _ source: HTTPBodySource, of request: HTTPRequest, on connection: OpaquePointer
    ) -> AnswerStream {
        guard case .call = source.production else {
            return AnswerStream(source, on: connection) { [observer] error in observer?.failed(request, error) }
        }
        cmhd_be_patient(connection)
        // It reports no error, and its request need not stay in memory.
        return AnswerStream(source, on: connection) { _ in }
    }
}

/// The body of a response that is not copied: its bytes are where the handler has them, such as in a session's record,
/// for as long as this exists.
///
/// The pointer to an array's bytes stays valid while the array has an owner and nobody changes it; nobody can change
/// this one.
private final class LargeBody {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }
}

extension cmhd_request {
    fileprivate var bodyBytes: [UInt8] { Array(UnsafeBufferPointer(start: body, count: body_length)) }
}

/// A handler set a field that HTTP cannot carry, or that only the transport may set; see `HTTPFields.isWellFormed`.
struct MalformedField: Error, CustomStringConvertible {
    var description: String { "a field of the response is empty, has a control character, or is the transport's" }
}
