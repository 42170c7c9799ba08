import API
import CDeflate
import HTTPServer
import Navigation
import Operations
import Sessions

/// `GET /openapi.json`: the description of this listener's API, compressed for clients that accept it.
struct OpenAPIEndpoint: Sendable {
    private let plain, compressed: LazyRepresentation

    /// - Parameter flows: those that everybody may know of.
    init(listener: APIListener, services: [RegisteredService], flows: FlowCatalog) {
        let bytes = { @Sendable in
            OpenAPIDocument(
                listener: listener, version: BuildInformation.version, groups: APIGroup.all(on: listener),
                services: services, flows: flows
            ).bytes
        }
        plain = LazyRepresentation { Representation(MediaType.json, bytes()) }
        compressed = LazyRepresentation {
            Representation(MediaType.json, Gzip.compressed(bytes()), coding: "gzip")
        }
    }

    func add(to routes: inout RouterBuilder) {
        routes.on(.get, "/openapi.json") { [plain, compressed] request in
            let form = AcceptedCodings.takesGzip(request) ? compressed : plain
            return try form.value.answer(to: request, varying: [.acceptEncoding])
        }
    }

    static let operations: [APIOperation] = [
        APIOperation(
            method: .get, path: "/openapi.json", id: "getDescription", summary: "This description", access: .anyone,
            parameters: [.ifNoneMatch],
            responses: [
                .json("An OpenAPI 3.1 document.", "AnyObject", headers: [.etag, .vary]),
                .unchanged,
            ], problems: [.invalidCondition])
    ]
}

/// The coding `gzip` of a response (RFC 1952).
enum Gzip {
    /// The usual compromise of libdeflate between size and time. Its bytes are made once and sent many times.
    private static let level: Int32 = 6

    static func compressed(_ bytes: [UInt8]) -> [UInt8] {
        guard let compressor = libdeflate_alloc_compressor(level) else { preconditionFailure("no memory to compress") }
        defer { libdeflate_free_compressor(compressor) }
        return [UInt8](unsafeUninitializedCapacity: libdeflate_gzip_compress_bound(compressor, bytes.count)) {
            $1 = libdeflate_gzip_compress(compressor, bytes, bytes.count, $0.baseAddress, $0.count)
        }
    }
}
