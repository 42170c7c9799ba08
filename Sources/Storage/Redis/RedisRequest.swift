/// Commands that are sent together, in Redis' protocol. Each has one reply.
///
/// hiredis' formatter would take an array of C pointers and return a copy to be copied again and freed.
struct RedisRequest: Sendable {
    enum Word: Sendable, ExpressibleByStringInterpolation {
        case text(String)
        case bytes([UInt8])

        init(stringLiteral text: String) { self = .text(text) }
    }

    private(set) var bytes: [UInt8] = []
    /// The number of commands.
    private(set) var count = 0
    /// Whether it is sent again after the connection was lost, when it may already have been executed.
    var isRepeatable = true

    init() {}

    init(_ words: Word...) { add(words) }

    mutating func add(_ words: Word...) { add(words) }

    mutating func add(_ words: [Word]) {
        begin(words.count)
        for word in words { append(word) }
    }

    mutating func add(_ request: RedisRequest) {
        bytes += request.bytes
        count += request.count
    }

    /// - Parameter key: the only key that the script touches.
    mutating func call(_ script: RedisScript, _ key: String, _ arguments: Word...) {
        call(script, key, count: arguments.count)
        for argument in arguments { append(argument) }
    }

    /// Begins a call, whose arguments are appended next.
    mutating func call(_ script: RedisScript, _ key: String, count: Int) {
        begin(4 + count)
        for word in ["EVALSHA", .text(script.digest), "1", .text(key)] as [Word] { append(word) }
    }

    mutating func append(_ word: Word) {
        switch word {
        case .text(var text):
            text.withUTF8 {
                line("$", $0.count)
                bytes.append(contentsOf: $0)
            }
        case .bytes(let part):
            line("$", part.count)
            bytes += part
        }
        bytes += Self.end
    }

    /// Appends arguments of a call that were written elsewhere.
    mutating func append(raw words: [UInt8]) { bytes += words }

    private mutating func begin(_ words: Int) {
        count += 1
        line("*", words)
    }

    private mutating func line(_ kind: Unicode.Scalar, _ number: Int) {
        bytes.append(UInt8(ascii: kind))
        bytes.append(contentsOf: String(number).utf8)
        bytes += Self.end
    }

    private static let end: [UInt8] = [13, 10]
}
