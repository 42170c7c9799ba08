import Operations
import Sessions

/// Sends the lines of an export to a client, and logs the result.
actor ExportLines {
    private let export: SessionExport
    private let log: Log
    private let request: String
    /// Written before the client asked for a piece.
    private var first: [[UInt8]] = []

    init(of export: SessionExport, log: Log, request: String) {
        self.export = export
        self.log = log
        self.request = request
    }

    /// - Throws: ``SessionError`` when the store cannot be read.
    func begin() async throws {
        for _ in 0..<2 {
            if let piece = try await export.next() { first.append(piece) }
        }
    }

    func next() async throws -> [UInt8]? {
        if !first.isEmpty { return first.removeFirst() }
        if let piece = try await export.next() { return piece }
        let count = await export.count
        log.write(.info, "export") { [request] line in
            line.add("request_id", request)
            line.add("sessions", count)
        }
        return nil
    }
}
