import HTTPServer

/// An answer as one run of bytes: status, number of fields, names and values behind their lengths, body. Numbers
/// have 32 bits. Written and read by one process, so that it needs no version.
enum AnswerBytes {
    /// How long ``write(_:)`` will make it.
    static func count(of response: HTTPResponse) -> Int {
        remembered(response.fields).reduce(8 + response.body.count) {
            $0 + 8 + $1.name.text.utf8.count + $1.value.utf8.count
        }
    }

    static func write(_ response: HTTPResponse) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count(of: response))
        func add(_ number: Int) {
            withUnsafeBytes(of: UInt32(number)) { bytes.append(contentsOf: $0) }
        }
        func add(_ text: String) {
            add(text.utf8.count)
            bytes.append(contentsOf: text.utf8)
        }
        let fields = remembered(response.fields)
        add(Int(response.status.code))
        add(fields.count)
        for field in fields {
            add(field.name.text)
            add(field.value)
        }
        bytes.append(contentsOf: response.body)
        return bytes
    }

    /// Nil when it is not what ``write(_:)`` gave.
    static func read(_ bytes: [UInt8]) -> HTTPResponse? {
        var rest = bytes[...]
        func number() -> Int? {
            guard rest.count >= 4 else { return nil }
            defer { rest.removeFirst(4) }
            return Int(rest.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) })
        }
        func text() -> String? {
            guard let count = number(), count <= rest.count else { return nil }
            defer { rest.removeFirst(count) }
            return String(validating: rest.prefix(count), as: UTF8.self)
        }
        guard let status = number().flatMap({ UInt16(exactly: $0) }), let count = number() else { return nil }
        var fields = HTTPFields()
        for _ in 0..<count {
            guard let name = text(), let value = text() else { return nil }
            fields.add(HTTPFieldName(name), value)
        }
        return HTTPResponse(HTTPStatus(status), fields: fields, body: Array(rest))
    }

    /// `Request-Id` names the request that was answered: every answer has its own.
    private static func remembered(_ fields: HTTPFields) -> ContiguousArray<HTTPFields.Line> {
        ContiguousArray(fields.lines.filter { $0.name != .requestID })
    }
}
