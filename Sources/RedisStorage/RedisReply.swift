import CHiredis
import Sessions

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
