import HTTPServer
import JSONDocument

extension Log {
    /// Writes the line of a request that was answered, whatever the level: see ``writesRequest(_:)``.
    /// - Parameters:
    ///   - id: of the request.
    ///   - labels: see `RequestLabels`.
    ///   - time: of the answer, in nanoseconds of the monotonic clock.
    func request(_ line: RequestLine, id: RequestID, labels: UnsafeRawBufferPointer, at time: UInt64) {
        let isUrgent = line.level.isUrgent
        let room = RequestLine.room(id: id, labels: labels)
        if room <= Self.stackBytes {
            withUnsafeTemporaryAllocation(byteCount: Self.stackBytes, alignment: 8) { memory in
                append(line.write(id: id, labels: labels, into: memory), at: time, urgent: isUrgent)
            }
        } else {
            let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: room, alignment: 8)
            defer { memory.deallocate() }
            append(line.write(id: id, labels: labels, into: memory), at: time, urgent: isUrgent)
        }
    }

    /// The most that `withUnsafeTemporaryAllocation` takes from the stack without asking how much is left. A fixed
    /// size, so that nothing has to be retained for the case that it would not.
    private static let stackBytes = 1024

    private func append(_ json: UnsafeRawBufferPointer, at time: UInt64, urgent: Bool) {
        switch form {
        // Nothing in it needs escaping but its labels, which are quoted by `JSONWriter`.
        case .json: sink.append(UnsafeRawBufferPointer(rebasing: json[1...]), at: time, urgent: urgent)
        case .text: form.body(of: json.dropLast()).withUnsafeBytes { sink.append($0, at: time, urgent: urgent) }
        }
    }

    /// What went wrong inside while a request was served: its client is told the id and nothing else.
    package func failure(request: HTTPRequest, error: any Error) {
        write(.error, "failure") { line in
            line.name("request_id")
            line.string(request.id.text)
            line.name("route")
            line.string(request.match.route?.pattern.text ?? "-")
            line.name("error")
            line.string(Self.story(of: error))
        }
    }

    /// Longer stories are cut: an error may carry all that it was about.
    private static let longestStory = 8192

    static func story(of error: any Error) -> String {
        let story = String(reflecting: error)
        guard story.utf8.count > longestStory else { return story }
        return String(decoding: story.utf8.prefix(longestStory), as: UTF8.self) + "…"
    }
}
