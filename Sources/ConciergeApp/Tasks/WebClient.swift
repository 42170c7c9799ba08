import CCurl
import Synchronization
import Threads

/// Sends requests to other servers. One thread does it with libcurl's multi interface, however many are under way.
///
/// It goes to the address that it is given and nowhere else: no redirect is followed, and no proxy is used.
final class WebClient: Sendable {
    struct Request: Sendable {
        let url: String
        /// Each as `name: value`.
        let fields: [String]
        let body: [UInt8]
        let timeout: Duration
    }

    struct Response: Sendable {
        let status: Int
        let body: [UInt8]
    }

    /// Why there is no response. For the log.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// A larger response is a failure.
    static let mostBytes = 256 << 10

    private let loop: Loop

    /// Nil when there is no memory for it, or no thread.
    init?() {
        guard let loop = Loop(), DetachedThread.start("task sender", loop.run) else { return nil }
        self.loop = loop
    }

    deinit { loop.close() }

    /// Requests that are under way fail, and so do later ones.
    func close() { loop.close() }

    nonisolated(nonsending) func post(_ request: Request) async throws(Failure) -> Response {
        try await withUnsafeContinuation { waiting in
            loop.begin(Transfer(request) { waiting.resume(returning: $0) })
        }.get()
    }
}

/// A request that is under way.
///
/// `@unchecked Sendable`: it is made by the caller, handed over under a lock, and then touched by the loop's thread
/// alone.
private final class Transfer: @unchecked Sendable {
    let request: WebClient.Request
    private let done: @Sendable (Result<WebClient.Response, WebClient.Failure>) -> Void
    /// libcurl keeps the list of fields for as long as the transfer takes.
    var fields: UnsafeMutablePointer<curl_slist>?
    var body: [UInt8] = []
    /// Of the header.
    var headBytes = 0

    init(
        _ request: WebClient.Request, done: @escaping @Sendable (Result<WebClient.Response, WebClient.Failure>) -> Void
    ) {
        self.request = request
        self.done = done
    }

    func finish(_ result: Result<WebClient.Response, WebClient.Failure>) { done(result) }
    func fail(_ reason: String) { done(.failure(WebClient.Failure(description: reason))) }
}

/// The thread's loop.
///
/// `@unchecked Sendable`: `multi` never changes; what it points to is for the loop's thread alone, but for
/// `curl_multi_wakeup`, which is called under the lock and not after the loop has ended.
private final class Loop: @unchecked Sendable {
    private struct Queue {
        var new: [Transfer] = []
        var isClosed = false
        /// Whether ``multi`` is gone.
        var isOver = false
    }

    private let multi: OpaquePointer
    private let queue = Mutex(Queue())
    /// The transfers under way, by their handles. For the loop's thread.
    private var active: [UnsafeMutableRawPointer: Transfer] = [:]

    private static let isInitialized = ccurl_global_init() == CURLE_OK

    init?() {
        guard Self.isInitialized, let multi = curl_multi_init() else { return nil }
        self.multi = OpaquePointer(multi)
    }

    private var handle: UnsafeMutableRawPointer { UnsafeMutableRawPointer(multi) }

    func begin(_ transfer: Transfer) {
        let isClosed = queue.withLock { queue in
            guard !queue.isClosed else { return true }
            queue.new.append(transfer)
            curl_multi_wakeup(handle)
            return false
        }
        if isClosed { transfer.fail("The server is stopping.") }
    }

    func close() {
        queue.withLock { queue in
            queue.isClosed = true
            if !queue.isOver { curl_multi_wakeup(handle) }
        }
    }

    func run() {
        while true {
            let (new, isClosed) = queue.withLock { queue in
                defer { queue.new = [] }
                return (queue.new, queue.isClosed)
            }
            for transfer in new { start(transfer) }
            if isClosed { break }
            var running: Int32 = 0
            curl_multi_perform(handle, &running)
            var left: Int32 = 0
            while let message = curl_multi_info_read(handle, &left) {
                guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
                finish(easy, message.pointee.data.result)
            }
            curl_multi_poll(handle, nil, 0, Self.longestPause, nil)
        }
        for (easy, transfer) in active {
            remove(easy, transfer)
            transfer.fail("The server is stopping.")
        }
        queue.withLock { $0.isOver = true }
        curl_multi_cleanup(handle)
    }

    /// libcurl shortens it where something is due; a new request ends it.
    private static let longestPause: Int32 = 60_000

    private func start(_ transfer: Transfer) {
        guard let easy = curl_easy_init() else { return transfer.fail("There is no memory for a request.") }
        active[easy] = transfer
        guard prepare(easy, transfer), curl_multi_add_handle(handle, easy) == CURLM_OK else {
            remove(easy, transfer)
            return transfer.fail("The request could not be made.")
        }
    }

    private func prepare(_ easy: UnsafeMutableRawPointer, _ transfer: Transfer) -> Bool {
        for field in transfer.request.fields {
            guard let longer = curl_slist_append(transfer.fields, field) else { return false }
            transfer.fields = longer
        }
        let timeout = Int(transfer.request.timeout.milliseconds)
        // Not retained: `active` keeps the transfer for as long as the handle is there.
        let context = Unmanaged.passUnretained(transfer).toOpaque()
        let results = [
            ccurl_set_text(easy, CURLOPT_URL, transfer.request.url),
            ccurl_set_text(easy, CURLOPT_PROTOCOLS_STR, "http,https"),
            ccurl_set_text(easy, CURLOPT_PROXY, ""),
            ccurl_set_number(easy, CURLOPT_FOLLOWLOCATION, 0),
            ccurl_set_number(easy, CURLOPT_NOSIGNAL, 1),
            ccurl_set_number(easy, CURLOPT_TIMEOUT_MS, timeout),
            ccurl_set_number(easy, CURLOPT_CONNECTTIMEOUT_MS, timeout),
            ccurl_set_number(easy, CURLOPT_POST, 1),
            ccurl_set_number(easy, CURLOPT_POSTFIELDSIZE, transfer.request.body.count),
            transfer.request.body.withUnsafeBytes { body in
                // libcurl copies as many bytes as it was told.
                ccurl_set_pointer(easy, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: body.baseAddress))
            },
            ccurl_set_pointer(easy, CURLOPT_HTTPHEADER, transfer.fields),
            ccurl_set_receiver(easy, CURLOPT_HEADERFUNCTION, receiveHead),
            ccurl_set_pointer(easy, CURLOPT_HEADERDATA, context),
            ccurl_set_receiver(easy, CURLOPT_WRITEFUNCTION, receiveBody),
            ccurl_set_pointer(easy, CURLOPT_WRITEDATA, context),
        ]
        return results.allSatisfy { $0 == CURLE_OK }
    }

    private func finish(_ easy: UnsafeMutableRawPointer, _ result: CURLcode) {
        guard let transfer = active[easy] else { return }
        let status = Int(ccurl_status(easy))
        remove(easy, transfer)
        switch result {
        case CURLE_OK: transfer.finish(.success(WebClient.Response(status: status, body: transfer.body)))
        case CURLE_WRITE_ERROR: transfer.fail("The response is larger than \(WebClient.mostBytes) bytes.")
        default: transfer.fail(String(cString: curl_easy_strerror(result)))
        }
    }

    private func remove(_ easy: UnsafeMutableRawPointer, _ transfer: Transfer) {
        curl_multi_remove_handle(handle, easy)
        curl_easy_cleanup(easy)
        curl_slist_free_all(transfer.fields)
        transfer.fields = nil
        active[easy] = nil
    }
}

/// Called by libcurl with each line of the header. Fewer bytes than there are end the transfer.
private func receiveHead(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context else { return 0 }
    let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    transfer.headBytes += size * count
    return transfer.headBytes <= WebClient.mostBytes ? size * count : 0
}

/// Called by libcurl with each piece of the body.
private func receiveBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context, let bytes else { return 0 }
    let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    guard transfer.body.count + size * count <= WebClient.mostBytes else { return 0 }
    transfer.body += UnsafeRawBufferPointer(start: bytes, count: size * count)
    return size * count
}
