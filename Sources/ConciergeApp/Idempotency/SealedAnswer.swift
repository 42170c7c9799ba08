import HTTPServer
import Sessions

/// An answer that only those can read who know caller and idempotency key.
///
/// AES-256-GCM over all of it: status, fields, body. The key is a SHA-256 of a label, the caller and the idempotency
/// key. That is enough of a derivation: the input holds whatever secret there is already, a single key of full length
/// is taken out of it, and the entry's id, made from the same input under another label, does not help to find it.
/// The entry's id is authenticated along with the answer, so that an answer moved to another entry does not open.
struct SealedAnswer: Sendable {
    /// Nonce, encrypted answer, tag.
    private(set) var sealed: [UInt8]

    /// For the byte bound.
    var size: Int { sealed.count + IdempotencyStore.entryOverhead }

    /// For tests that damage it.
    init(sealed: [UInt8]) { self.sealed = sealed }

    /// Nil when the answer is longer than `limit`, or cannot be sealed: then it is not remembered.
    init?(
        _ response: HTTPResponse, atMost limit: Int, key: IdempotencyDigest, for id: IdempotencyDigest,
        random: any RandomSource
    ) {
        guard AnswerBytes.count(of: response) <= limit,
            let sealed = AuthenticatedCipher.seal(
                AnswerBytes.write(response), key: key, authenticating: id, random: random)
        else { return nil }
        self.sealed = sealed
    }

    /// The answer; nil when the key is not its key, the entry not its entry, or a bit of it is not as it was.
    func opened(with key: IdempotencyDigest, for id: IdempotencyDigest) -> HTTPResponse? {
        AuthenticatedCipher.open(sealed, key: key, authenticating: id).flatMap(AnswerBytes.read)
    }
}
