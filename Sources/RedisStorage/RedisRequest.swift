import CHiredis
import Sessions

/// Commands that are sent together, in Redis' protocol. Each has one reply.
///
/// hiredis' formatter would take an array of C pointers and return a copy to be copied again and freed.
struct RedisRequest: Sendable {
    enum Word: Sendable, ExpressibleByStringInterpolation {
        case text(String)
        case bytes([UInt8])

        init(stringLiteral text: String) { self = .text(text) }
    }

    struct Command: Sendable {
        /// Where it begins.
        var start: Int
        /// Where its only key is; empty without one.
        var key: Range<Int>
        /// It is executed after all commands of earlier stages, also on other nodes of a cluster.
        var stage: Int
    }

    private(set) var bytes: [UInt8] = []
    private(set) var commands: [Command] = []
    private var stage = 0
    /// Whether it is sent again after the connection was lost, when it may already have been executed.
    var isRepeatable = true
    /// Whether it fails unless enough replicas have what it changes, see ``RedisConnection/Limits/replicas``.
    var needsReplicas = false

    /// The number of commands.
    var count: Int { commands.count }

    init() {}

    init(_ words: Word...) { add(words) }

    mutating func add(_ words: Word...) { add(words) }

    /// - Parameter insists: whether it is done also when Redis has no memory left.
    mutating func add(_ words: [Word], insists: Bool) {
        guard insists else { return add(words) }
        call(.insist, words[1], Arguments(words[..<1] + words[2...]))
    }

    mutating func add(_ words: [Word]) {
        begin(words.count)
        for (place, word) in words.enumerated() { append(word, isKey: place == 1) }
    }

    mutating func add(_ request: RedisRequest) {
        for var command in request.commands {
            command.start += bytes.count
            command.key = command.key.lowerBound + bytes.count..<command.key.upperBound + bytes.count
            command.stage += stage
            commands.append(command)
        }
        stage += request.stage
        bytes += request.bytes
    }

    /// What is added from now on is executed after what was added before. One server executes commands in their order
    /// anyway.
    mutating func beginStage() { stage += 1 }

    /// Some of the commands.
    ///
    /// - Parameter asking: whether they are for a node that is only about to get their slots.
    func part(_ places: [Int], asking: Bool) -> RedisRequest {
        var part = RedisRequest()
        (part.isRepeatable, part.needsReplicas) = (isRepeatable, needsReplicas)
        for place in places {
            if asking { part.add("ASKING") }
            part.commands.append(Command(start: part.bytes.count, key: 0..<0, stage: 0))
            part.bytes += bytes[commands[place].start..<(place + 1 < count ? commands[place + 1].start : bytes.count)]
        }
        return part
    }

    static func unsubscribe(_ channel: [UInt8]) -> RedisRequest {
        var request = RedisRequest("SUNSUBSCRIBE", .bytes(channel))
        // The next connection subscribes to what is followed then.
        request.isRepeatable = false
        return request
    }

    /// - Parameter key: the only key that the script touches.
    mutating func call(_ script: RedisScript, _ key: String, _ arguments: Word...) {
        call(script, .text(key), Arguments(arguments))
    }

    mutating func call(_ script: RedisScript, _ key: Word, _ arguments: Arguments) {
        bytes.reserveCapacity(bytes.count + arguments.bytes.count + 128)
        begin(4 + arguments.count)
        bytes += script.opening
        append(key, isKey: true)
        bytes += arguments.bytes
    }

    private mutating func append(_ word: Word, isKey: Bool = false) {
        let length = bytes.add(word)
        if isKey { commands[count - 1].key = bytes.count - 2 - length..<bytes.count - 2 }
    }

    /// Arguments of a call.
    struct Arguments: Sendable {
        fileprivate var bytes: [UInt8] = []
        private(set) var count = 0

        init(_ words: some Sequence<Word> = []) { for word in words { add(word) } }

        mutating func add(_ word: Word) {
            bytes.add(word)
            count += 1
        }

        mutating func add(_ others: Arguments) {
            bytes += others.bytes
            count += others.count
        }
    }

    private mutating func begin(_ words: Int) {
        commands.append(Command(start: bytes.count, key: bytes.count..<bytes.count, stage: stage))
        bytes.add("*", words)
    }
}

/// Redis' protocol.
extension [UInt8] {
    /// - Returns: how many bytes the word has.
    @discardableResult
    fileprivate mutating func add(_ word: RedisRequest.Word) -> Int {
        let length: Int
        switch word {
        case .text(var text):
            length = text.withUTF8 {
                add("$", $0.count)
                append(contentsOf: $0)
                return $0.count
            }
        case .bytes(let part):
            length = part.count
            add("$", length)
            self += part
        }
        endLine()
        return length
    }

    fileprivate mutating func add(_ kind: Unicode.Scalar, _ number: Int) {
        append(UInt8(ascii: kind))
        var power = 1
        while power <= number / 10 { power *= 10 }
        while power > 0 {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / power % 10))
            power /= 10
        }
        endLine()
    }

    private mutating func endLine() {
        append(13)
        append(10)
    }
}

/// A reply of Redis.
enum RedisReply: Sendable {
    case none
    case number(Int64)
    /// A bulk string or a status.
    case bytes([UInt8])
    case error(String)
    case list([RedisReply])

    init(_ reply: UnsafePointer<redisReply>) {
        let reply = reply.pointee
        func bytes() -> [UInt8] {
            reply.str.map { Array(UnsafeRawBufferPointer(start: $0, count: Int(reply.len))) } ?? []
        }
        switch reply.type {
        case REDIS_REPLY_STRING, REDIS_REPLY_STATUS: self = .bytes(bytes())
        case REDIS_REPLY_INTEGER: self = .number(reply.integer)
        case REDIS_REPLY_ERROR: self = .error(String(decoding: bytes(), as: UTF8.self))
        case REDIS_REPLY_ARRAY:
            self = .list((0..<Int(reply.elements)).map { place in reply.element[place].map { .init($0) } ?? .none })
        default: self = .none
        }
    }

    var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
    var text: String? { bytes.map { String(decoding: $0, as: UTF8.self) } }
    var list: [RedisReply] { if case .list(let list) = self { list } else { [] } }
    var error: String? { if case .error(let text) = self { text } else { nil } }

    /// A number, also one that Redis keeps as a text.
    var number: Int64? { if case .number(let number) = self { number } else { text.flatMap { Int64($0) } } }

    /// The reply of `HMGET` in the form of `HGETALL`.
    func paired(_ fields: [String]) -> RedisReply {
        .list(zip(fields, list).flatMap { $1.bytes == nil ? [] : [.bytes(Array($0.utf8)), $1] })
    }

    /// Of a list of names and values.
    var pairs: [(name: String, value: RedisReply)] {
        let list = list
        return stride(from: 0, to: list.count - 1, by: 2).map { (list[$0].text ?? "", list[$0 + 1]) }
    }

    /// A place of a list; `none` beyond its end, since a script's list ends there.
    subscript(place: Int) -> RedisReply {
        let list = list
        return place < list.count ? list[place] : .none
    }
}

extension StoreError {
    /// - Parameter error: an error of Redis, which begins with a word for its kind.
    init(redis error: String) {
        if error.hasPrefix("OOM") {
            self = .full("Redis has no memory left: \(error)")
        } else if error.hasPrefix("MISCONF"), error.contains("No space left on device") {
            self = .full("Redis has no room on its disk: \(error)")
        } else {
            self = .unavailable("Redis: \(error)")
        }
    }
}
