import CMicroHTTPD
import Glibc
import Threads

/// What the bridge's callbacks need: the frozen routes and the error renderer. Each server has one.
final class ServerCore: Sendable {
    let router: Router
    let errors: any HTTPErrorRenderer
    private let observer: (any HTTPServerObserver)?
    /// The end of every response's head: `commonFields`, then the name of the request id's field.
    private let lastFields: [UInt8]
    /// `nil` when no page of another origin may call the server.
    private let crossOrigin: CrossOriginFields?
    let trustedProxies: TrustedProxies?
    /// `nil` when an address may have any number.
    let connections: AddressConnections?
    private let admission: (@Sendable (HTTPRequest) throws -> HTTPFields?)?
    private let ids = RequestIDs()
    /// One for each worker.
    let executors: [WorkerExecutor]

    init(
        router: Router, errors: any HTTPErrorRenderer, observer: (any HTTPServerObserver)?, commonFields: HTTPFields,
        crossOrigin: CrossOrigin?, trustedProxies: TrustedProxies?, connections: AddressConnections?,
        admission: (@Sendable (HTTPRequest) throws -> HTTPFields?)?, workers: Int
    ) {
        self.connections = connections
        self.admission = admission
        self.trustedProxies = trustedProxies
        executors = (0..<workers).map { _ in WorkerExecutor() }
        self.router = router
        self.errors = errors
        self.observer = observer
        precondition(commonFields.isWellFormed, "a field of `commonFields` is malformed")
        self.crossOrigin = crossOrigin.map(CrossOriginFields.init)
        precondition(self.crossOrigin?.all.allSatisfy(\.isWellFormed) ?? true, "a field of `crossOrigin` is malformed")
        lastFields = commonFields.wholeText + Array("\(HTTPFieldName.requestID.text): ".utf8)
    }

    /// Takes a request over from the bridge, and copies everything out of C's memory.
    /// - Returns: the exchange that responds later, retained; `nil` when the response is queued.
    func take(_ raw: UnsafePointer<cmhd_request>) -> UnsafeMutableRawPointer? {
        let method =
            raw.pointee.head_length > 0
            ? HTTPMethod(UnsafeBufferPointer(start: raw.pointee.head, count: Int(raw.pointee.method_length)))
            : .other("-")
        let head = HTTPHead(raw)
        let connection = raw.pointee.connection
        if let refusal = HTTPError(raw.pointee.refusal) {
            if let request = admit(request(raw, method, head, .none), on: connection) {
                refuse(request, refusal, on: connection)
            }
            return nil
        }
        let finding = router.find(method, head)
        if raw.pointee.present & Self.rareFields != 0, case .path(.found(let route, let parameters)) = finding,
            let refusal = refusal(of: method, head)
        {
            if let request = admit(request(raw, method, head, router.match(route, parameters)), on: connection) {
                refuse(request, refusal, on: connection)
            }
            return nil
        }
        // The usual case. It makes no `Decision`, which would be copied.
        if case .path(.found(let route, let parameters)) = finding {
            guard let request = admit(request(raw, method, head, router.match(route, parameters)), on: connection)
            else { return nil }
            return raw.pointee.body_length < HTTPRequest.longBody
                ? handle(request, on: connection) : handleElsewhere(request, on: connection)
        }
        let decision = router.decide(finding, method)
        guard let request = admit(request(raw, method, head, decision.match), on: connection) else { return nil }
        switch decision {
        case .handle: return handle(request, on: connection)
        case .tell(let match, let allow): send(tell(request, allow, of: match.route), to: request, on: connection)
        case .respond(let response): send(response, to: request, on: connection)
        case .refuse(let error): refuse(request, error, on: connection)
        }
        return nil
    }

    /// - Returns: nil when the request is not admitted; then its response is sent.
    private func admit(_ request: consuming HTTPRequest, on connection: OpaquePointer?) -> HTTPRequest? {
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
    private func refusal(of method: HTTPMethod, _ head: HTTPHead) -> HTTPError? {
        if !method.isSafe, head.place(of: .contentRange).count > 0 { return .partialWrite }
        let codings = HTTPRequestFields(head: head).values(of: .contentEncoding)
            .flatMap { $0.split { ", \t".contains($0) } }
        return codings.allSatisfy { $0.lowercased() == "identity" } ? nil : .unsupportedContentEncoding
    }

    /// Makes the request from its parts, which are consumed, so no reference is counted.
    private func request(
        _ raw: UnsafePointer<cmhd_request>, _ method: consuming HTTPMethod, _ head: consuming HTTPHead,
        _ match: consuming RouteMatch
    ) -> HTTPRequest {
        let peer = PeerAddress(raw.pointee.peer)
        var client = peer
        if let trustedProxies {
            client = trustedProxies.client(behind: peer, HTTPRequestFields(head: copy head))
        }
        return HTTPRequest(
            id: ids.id(of: head, number: raw.pointee.number), method: method, head: head,
            body: raw.pointee.body_length == 0 ? [] : raw.pointee.bodyBytes,
            awaitsContinue: raw.pointee.awaits_continue,
            peer: peer, client: client, match: match, receivedAt: raw.pointee.received_at,
            worker: Int(raw.pointee.worker))
    }

    private func refuse(_ request: HTTPRequest, _ error: HTTPError, on connection: OpaquePointer?) {
        send(errors.response(to: error, of: request), to: request, on: connection)
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
            var response = Router.options(allow: possible)
            crossOrigin?.answerPreflight(request, allow: possible, in: &response)
            return response
        } catch {
            return errors.response(to: error, of: request)
        }
    }

    /// - Returns: see `take`.
    private func handle(_ request: HTTPRequest, on connection: OpaquePointer?) -> UnsafeMutableRawPointer? {
        guard let connection, let route = request.match.route else { return nil }
        // The outcome is consumed: copying it would count every reference in a response.
        switch outcome(of: request, on: route) {
        case .response(let response):
            send(consume response, to: request, on: connection)
            return nil
        case let outcome: return handleLater(request, consume outcome, on: connection)
        }
    }

    /// Handles a request that may take long on a thread of Swift's pool. Its connection is parked meanwhile, and the
    /// worker serves others.
    @inline(never)
    private func handleElsewhere(_ request: HTTPRequest, on connection: OpaquePointer?) -> UnsafeMutableRawPointer? {
        guard let connection, let route = request.match.route else { return nil }
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

    /// Reads the clock directly: `Duration` computes with 128 bits, and this runs for each request.
    private static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// The response for an error that a handler threw. Status 100 means that the handler needs the body first.
    func response(to error: any Error, of request: HTTPRequest) -> HTTPResponse {
        if request.awaitsContinue, (error as? HTTPError)?.status == .continue {
            return HTTPResponse(.continue)
        }
        return errors.response(to: error, of: request)
    }

    /// Queues a response. Runs on the worker's thread.
    func send(_ response: consuming HTTPResponse, to request: HTTPRequest, on connection: OpaquePointer?) {
        if request.awaitsContinue, response.status == .continue { return cmhd_continue(connection) }
        if !response.fields.isWellFormed {
            observer?.failed(request, MalformedField())
            response = errors.response(to: MalformedField(), of: request)
        }
        if response.body.count > CMHD_SMALL_BODY, !cmhd_reserve(connection, response.body.count) {
            response = errors.response(to: HTTPError.noRoom(forResponseTo: request.method), of: request)
        }
        if let fields = request.addedFields { response.fields.add(contentsOf: fields) }
        if let crossOrigin { response.fields.add(crossOrigin.fields(for: request) ?? crossOrigin.common) }
        let now = Self.now()
        observer?.answered(request, with: response, after: now - request.receivedAt)
        var answer = cmhd_answer()
        answer.made_at = now
        answer.status = UInt32(response.status.code)
        if let fixed = response.fields.fixed {
            answer.first_fields = fixed.bytes.baseAddress
            answer.first_fields_length = fixed.bytes.count
        }
        if let tag = response.fields.entityTag {
            answer.has_entity_tag = true
            answer.entity_tag = tag
        }
        request.id.withBytes { id in
            answer.last_value = id.baseAddress
            answer.last_value_length = id.count
            response.fields.text.withUnsafeBytes { fields in
                answer.fields = fields.baseAddress
                answer.fields_length = fields.count
                lastFields.withUnsafeBytes { last in
                    answer.last_fields = last.baseAddress
                    answer.last_fields_length = last.count
                    response.body.withUnsafeBytes { body in
                        answer.body = body.baseAddress
                        answer.body_length = body.count
                        if body.count > CMHD_SMALL_BODY {
                            answer.body_owner = Unmanaged.passRetained(LargeBody(response.body)).toOpaque()
                            answer.release_body = { owner in
                                owner.map { Unmanaged<LargeBody>.fromOpaque($0).release() }
                            }
                        }
                        // Without a response the bridge closes the connection, because no memory is left for one.
                        if let source = response.source, let connection {
                            respond(&answer, with: source, to: request, on: connection)
                        } else {
                            _ = cmhd_respond(connection, &answer)
                        }
                    }
                }
            }
        }
    }
}

extension ServerCore {
    private func respond(
        _ answer: inout cmhd_answer, with source: HTTPBodySource, to request: HTTPRequest, on connection: OpaquePointer
    ) {
        let report: @Sendable (any Error) -> Void
        if case .call = source.production {
            cmhd_be_patient(connection)
            // It reports no error, and its request need not stay in memory.
            report = { _ in }
        } else {
            report = { [observer] error in observer?.failed(request, error) }
        }
        // Balanced by `stream_released`, or here when C does not take it.
        let stream = Unmanaged.passRetained(AnswerStream(source, on: connection, report: report))
        answer.stream = stream.toOpaque()
        if !cmhd_respond(connection, &answer) { stream.release() }
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

extension HTTPError {
    init?(_ refusal: cmhd_refusal) {
        func error(_ status: HTTPStatus, _ code: String, _ detail: String) -> HTTPError {
            HTTPError(status, code: code, detail: detail)
        }
        switch refusal {
        case CMHD_REFUSAL_NONE: return nil
        case CMHD_REFUSAL_REQUEST_LINE:
            self = error(.badRequest, "malformed_request", "The request does not begin with a valid request line.")
        case CMHD_REFUSAL_TARGET_TOO_LONG:
            self = error(.uriTooLong, "target_too_long", "The request target is too long.")
        case CMHD_REFUSAL_TARGET:
            self = error(.badRequest, "invalid_target", "The request target is not valid.")
        case CMHD_REFUSAL_FIELDS_TOO_LARGE:
            self = error(.requestHeaderFieldsTooLarge, "head_too_large", "The header fields are too large.")
        case CMHD_REFUSAL_TOO_MANY_FIELDS:
            self = error(.requestHeaderFieldsTooLarge, "too_many_fields", "There are too many header fields.")
        case CMHD_REFUSAL_TOO_MANY_ARGUMENTS:
            self = error(.badRequest, "too_many_arguments", "The query has too many arguments.")
        case CMHD_REFUSAL_TOO_MANY_COOKIES:
            self = error(.requestHeaderFieldsTooLarge, "too_many_cookies", "There are too many cookies.")
        case CMHD_REFUSAL_LAYOUT:
            self = error(
                .badRequest, "malformed_request",
                "A header line is folded, has no colon, or contains a NUL, a bare line feed or a carriage return.")
        case CMHD_REFUSAL_FIELD_NAME:
            self = error(
                .badRequest, "malformed_request",
                "A header line has no colon, or its name contains a character that is not allowed.")
        case CMHD_REFUSAL_FIELD_VALUE:
            self = error(.badRequest, "malformed_request", "The value of a header field contains a control character.")
        case CMHD_REFUSAL_HOST:
            self = error(.badRequest, "invalid_host", "A request needs exactly one valid Host field.")
        case CMHD_REFUSAL_FRAMING:
            self = error(
                .badRequest, "ambiguous_length", "The length of the body is missing, malformed or given twice.")
        case CMHD_REFUSAL_CHUNKS:
            self = error(.badRequest, "malformed_request", "The chunks of the body are malformed.")
        case CMHD_REFUSAL_VERSION:
            self = error(
                .httpVersionNotSupported, "http_version_not_supported", "Only HTTP/1.1 and HTTP/1.0 are supported.")
        case CMHD_REFUSAL_LAST_CODING:
            self = error(.badRequest, "ambiguous_length", "The last transfer coding must be \"chunked\", applied once.")
        case CMHD_REFUSAL_TRANSFER_CODING:
            self = error(
                .notImplemented, "unknown_transfer_coding", "Only the transfer coding \"chunked\" is supported.")
        case CMHD_REFUSAL_BODY_TOO_LARGE:
            self = error(.contentTooLarge, "body_too_large", "The request's body is too large.")
        case CMHD_REFUSAL_OUT_OF_MEMORY: self = .noRoomForBody
        default: self = error(.badRequest, "malformed_request", "The request is malformed.")
        }
    }
}
