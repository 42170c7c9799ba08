import CMicroHTTPD
import Synchronization
import Threads

/// An HTTP/1.1 server: routes, handlers, limits.
///
/// ```swift
/// var routes = RouterBuilder()
/// routes.on(.get, "/hello") { _ in HTTPResponse(text: "hello") }
/// let server = try HTTPServer(router: routes.freeze())
/// print("http://127.0.0.1:\(server.port)/hello")
/// await server.stop(timeout: .seconds(10))
/// ```
///
/// A handler that never waits runs to its end on the thread that read its request, and its response is queued at once.
/// While a handler waits, its connection is suspended and occupies no thread.
///
/// `@unchecked Sendable`: any thread may call the functions of the C pointer `server`, and only the one call of `stop`
/// that `stopping` lets through frees it.
public final class HTTPServer: @unchecked Sendable {
    /// The port of the listener, also when 0 was requested. 0 for a path.
    public let port: UInt16
    /// Where it listens: `192.0.2.1:80`, `[2001:db8::1]:80`, or `unix:` and a path.
    public let address: String
    private let server: OpaquePointer
    private let core: Unmanaged<ServerCore>
    private let stopping = Mutex(Stopping.no)
    private let end = Completion()

    private enum Stopping {
        case no, underWay, done
    }

    /// Binds, listens and serves.
    /// - Throws: `HTTPServerError` when the address cannot be bound, or when the framing checks do not fit this version
    ///   of libmicrohttpd.
    public init(
        router: Router, configuration: HTTPServerConfiguration = .init(),
        errors: any HTTPErrorRenderer = PlainErrorRenderer(), observer: (any HTTPServerObserver)? = nil
    ) throws(HTTPServerError) {
        if let problem = cmhd_self_test() {
            throw HTTPServerError(
                description: "libmicrohttpd \(Self.libraryVersion) cannot be used safely: \(String(cString: problem))")
        }
        let core = ServerCore(router: router, configuration: configuration, errors: errors, observer: observer)
        self.core = .passRetained(core)
        var callbacks = Self.callbacks(self.core)
        if core.connections == nil {
            (callbacks.admits, callbacks.connected, callbacks.disconnected) = (nil, nil, nil)
        }
        if configuration.trustedProxies?.field != .proxyProtocol { callbacks.announces = nil }
        var message = [CChar](repeating: 0, count: 256)
        let started = configuration.host.withCString { host in
            var options = configuration.options
            options.host = host
            // The server keeps a reference of its own.
            options.tls = configuration.tls?.pointer
            return cmhd_server_start(&options, &callbacks, &message, message.count)
        }
        guard let started else {
            self.core.release()
            let text = message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            throw HTTPServerError(description: String(decoding: text, as: UTF8.self))
        }
        server = started
        port = cmhd_server_port(started)
        cmhd_server_address(started, &message, message.count)
        address = String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Open connections.
    public var connections: Int { whileServing(0) { Int(cmhd_server_connections($0)) } }

    /// For how long one worker has served no connection because a handler does not return: milliseconds, in a sound
    /// program.
    public var blockedFor: Duration { whileServing(.zero) { .milliseconds(cmhd_server_busy($0)) } }

    /// Connections that were not served, since the start: those that made room for others, since they were idle at the
    /// limit of connections or slow at the limit of memory, those beyond the limit of an address, and those beyond its
    /// quota.
    public var lostConnections: (evicted: UInt64, refused: UInt64, throttled: UInt64) {
        whileServing((0, 0, 0)) { server in
            let connections = core.takeUnretainedValue().connections
            return (
                cmhd_server_evictions(server), connections?.refusals.load(ordering: .relaxed) ?? 0,
                connections?.throttled.load(ordering: .relaxed) ?? 0
            )
        }
    }

    private func whileServing<Value: Sendable>(_ otherwise: Value, _ read: (OpaquePointer) -> Value) -> Value {
        stopping.withLock { state in
            if case .done = state { return otherwise }
            return read(server)
        }
    }

    /// Connections that are accepted from now on get this certificate, also where clients must show one. Others keep
    /// theirs. For a server that was started with ``HTTPServerConfiguration/tls``.
    public func replaceCertificate(_ certificate: TLSCertificate) {
        stopping.withLock { state in
            guard state != .done else { return }
            cmhd_server_set_tls(server, certificate.pointer)
        }
    }

    /// Serves other routes, without closing a connection: each worker from its next request on. Requests in progress go
    /// on with the handlers that they have. Returns when all workers do.
    ///
    /// - Parameter crossOrigin: see ``HTTPServerConfiguration/crossOrigin``.
    public func replaceRoutes(_ router: Router, crossOrigin: CrossOrigin? = nil) async {
        // The core is there as long as this, unless the server has stopped.
        guard let core = whileServing(nil, { _ in core.takeUnretainedValue() }) else { return }
        await core.replaceRoutes(router, crossOrigin)
    }

    /// Drains, then stops: requests in progress finish, responses carry `Connection: close`, idle connections are
    /// closed. Returns when the last connection has closed; later calls wait for the first.
    ///
    /// - Parameters:
    ///   - delay: how long to continue accepting, so that load balancers can notice.
    ///   - timeout: after this time, including the delay, waiting requests get 503 and the other connections are cut.
    public func stop(delay: Duration = .zero, timeout: Duration) async {
        let isFirst = stopping.withLock { state in
            guard state == .no else { return false }
            state = .underWay
            return true
        }
        // Waiting for the workers blocks. A thread of the concurrency pool must not block, because handlers that still
        // run need it.
        if isFirst { DetachedThread.run("server stopper") { self.stopBlocking(delay: delay, timeout: timeout) } }
        await end.wait()
    }

    private func stopBlocking(delay: Duration, timeout: Duration) {
        cmhd_server_stop(server, delay.milliseconds32, timeout.milliseconds32)
        stopping.withLock { state in
            cmhd_server_free(server)
            state = .done
        }
        core.release()
        end.reach()
    }

    /// The version of the loaded libmicrohttpd.
    public static var libraryVersion: String { String(cString: cmhd_library_version()) }

    /// No error and no trap crosses into C: the functions that these closures call do not throw.
    ///
    /// Each worker calls `request` for each request. It borrows the core, which the server keeps until its workers have
    /// ended: a reference count that all workers change would travel between processors.
    private static func callbacks(_ core: Unmanaged<ServerCore>) -> cmhd_callbacks {
        cmhd_callbacks(
            context: core.toOpaque(),
            request: { context, request in
                Unmanaged<ServerCore>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.take(request) }
            },
            suspended: { _, waiting in Unmanaged<Awaited>.fromOpaque(waiting).takeUnretainedValue().suspended() },
            resumed: { context, pointer, connection in
                // Balances the retain of `ServerCore.take`.
                let exchange = Unmanaged<Exchange>.fromOpaque(pointer).takeRetainedValue()
                guard let response = exchange.resumed() else { return }
                HTTPServer.core(context).send(response, to: exchange.request, on: connection)
            },
            // Balances the retain of `ServerCore.take`, or of `ServerCore.send` for a stream.
            released: { _, waiting in Unmanaged<Awaited>.fromOpaque(waiting).takeRetainedValue().released() },
            end: { _, waiting, reason in Unmanaged<Awaited>.fromOpaque(waiting).takeUnretainedValue().end(reason) },
            produce: { _, stream, room, size in
                Unmanaged<AnswerStream>.fromOpaque(stream).takeUnretainedValue()
                    .produce(into: UnsafeMutableRawBufferPointer(start: room, count: size))
            },
            admits: { HTTPServer.core($0).connections?.admits(PeerAddress($1), now: $2) ?? true },
            connected: { HTTPServer.core($0).connections?.began(PeerAddress($1)) },
            disconnected: { HTTPServer.core($0).connections?.ended(PeerAddress($1)) },
            announces: { HTTPServer.core($0).trustedProxies?.contains(PeerAddress($1)) ?? false },
            worker_began: { HTTPServer.core($0).executors[Int($1)].began($2) },
            worker_called: { HTTPServer.core($0).executors[Int($1)].run() },
            worker_ended: { HTTPServer.core($0).executors[Int($1)].ended() })
    }

    private static func core(_ context: UnsafeMutableRawPointer) -> ServerCore {
        Unmanaged.fromOpaque(context).takeUnretainedValue()
    }
}

/// Why a server did not start, in a sentence for its operator.
public struct HTTPServerError: Error, Sendable, CustomStringConvertible {
    /// A sentence with what happened, and where.
    public let description: String
}

extension HTTPServerConfiguration {
    var addressConnections: AddressConnections? {
        guard limits.connectionsOfAddress < limits.connections || limits.newConnectionsOfAddress != nil else {
            return nil
        }
        // With the PROXY protocol the address is the client's, also where that is in the same network.
        let proxies = trustedProxies?.field == .proxyProtocol ? [] : trustedProxies?.networks ?? []
        return AddressConnections(
            limit: limits.connectionsOfAddress, quota: limits.newConnectionsOfAddress,
            exempt: limits.uncountedAddresses + proxies)
    }

    fileprivate var options: cmhd_options {
        cmhd_options(
            host: nil, port: port, listener: inheritedListener ?? 0, workers: UInt32(clamping: max(1, workers)),
            connections: UInt32(clamping: limits.connections), admits_at_once: limits.admitsAtOnce,
            connection_memory: limits.connectionMemory,
            target_bytes: UInt32(clamping: limits.targetBytes), head_bytes: UInt32(clamping: limits.headBytes),
            fields: UInt32(clamping: limits.fields), arguments: UInt32(clamping: limits.queryArguments),
            cookies: UInt32(clamping: limits.cookies), body_bytes: limits.bodyBytes,
            buffer_bytes: limits.bufferBytes,
            header_timeout: timeouts.header.milliseconds32, body_timeout: timeouts.body.milliseconds32,
            handler_timeout: timeouts.handler.milliseconds32, patient_timeout: timeouts.patient.milliseconds32,
            write_timeout: timeouts.write.milliseconds32,
            idle_timeout: timeouts.idle.milliseconds32, tls: nil, ignores_hooks: ignoresHooks,
            adds_fields_singly: addsFieldsSingly)
    }
}
