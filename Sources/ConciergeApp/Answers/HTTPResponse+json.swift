import HTTPServer
import JSONDocument

extension HTTPResponse {
    /// JSON that no cache may keep: everything that has to do with a session.
    static func json(_ status: HTTPStatus = .ok, bytes: [UInt8]) -> HTTPResponse {
        var response = HTTPResponse(status, body: bytes)
        response.fields.add(.contentType, "application/json")
        response.fields.add(.cacheControl, "no-store")
        return response
    }

    static func json(_ status: HTTPStatus = .ok, _ write: (inout JSONWriter) -> Void) -> HTTPResponse {
        var json = JSONWriter(reservingCapacity: 512)
        json.beginObject()
        write(&json)
        json.endObject()
        return .json(status, bytes: json.bytes)
    }

    /// A page of a list.
    static func page<Item>(_ page: ListPage<Item>, item: (inout JSONWriter, Item) -> Void) -> HTTPResponse {
        .json { $0.page(page, item: item) }
    }

    /// Done, and nothing to say.
    static var done: HTTPResponse {
        var response = HTTPResponse(.noContent)
        response.fields.add(.cacheControl, "no-store")
        return response
    }
}
