import HTTPServer

/// A body that comes piece by piece, and what was asked for with it, which is known when all of it has come.
struct FingerprintedBody: ~Copyable {
    private let reader: HTTPBodyReader?
    private let isFingerprinted: Bool
    private var builder: IdempotencyDigest.Builder
    private var count: UInt64 = 0
    /// Whether it has come to its end.
    private(set) var isWhole = false

    /// - Parameter isFingerprinted: whether anybody wants to know; it is work.
    init(of request: HTTPRequest, isFingerprinted: Bool) {
        reader = request.reader
        self.isFingerprinted = isFingerprinted
        builder = IdempotencyFingerprint.head("concierge idempotency: what was asked for, in pieces", request)
    }

    /// The next bytes; nil at the end.
    mutating func next() async throws(HTTPBodyBroken) -> [UInt8]? {
        guard let piece = try await reader?.next() else {
            isWhole = true
            return nil
        }
        if isFingerprinted {
            count += UInt64(piece.count)
            builder.continue(with: piece)
        }
        return piece
    }

    /// Where the pieces were cut makes no difference.
    consuming func fingerprint() -> IdempotencyFingerprint {
        builder.add(withUnsafeBytes(of: count.littleEndian, Array.init))
        return IdempotencyFingerprint(builder.finish())
    }
}
