import Glibc
import JSONDocument
import Sessions

/// The beginning of a line: its time, in UTC. What the lines of one second share is made once.
struct LogTime {
    private let form: LogForm
    private var second = Int.min
    /// What is in front of a line, with the milliseconds still to come.
    private let template = UnsafeMutableRawPointer.allocate(byteCount: Self.room, alignment: 16)
    private(set) var length = 0
    private var milliseconds = 0

    /// How much memory `put` may touch: a fixed size is copied quicker than the exact one.
    static let room = 48

    init(form: LogForm) {
        self.form = form
    }

    func deallocate() { template.deallocate() }

    /// - Returns: how many bytes count, of those written.
    mutating func put(_ time: timespec, at target: UnsafeMutableRawPointer) -> Int {
        if time.tv_sec != second { prepare(time.tv_sec) }
        target.copyMemory(from: template, byteCount: Self.room)
        let fraction = UInt32(truncatingIfNeeded: time.tv_nsec / 1_000_000)
        let digits = (target + milliseconds).assumingMemoryBound(to: UInt8.self)
        digits[0] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: fraction / 100)
        digits[1] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: fraction / 10 % 10)
        digits[2] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: fraction % 10)
        return length
    }

    private mutating func prepare(_ second: Int) {
        self.second = second
        // 2026-01-31T09:05:07.000Z
        let text = Timestamp(millisecondsSince1970: Int64(second) * 1_000).description
        let (prefix, suffix) =
            switch form {
            case .json: ("{\"time\":\"\(text.prefix(20))", "Z\",")
            case .text: (String(text.prefix(20).suffix(9)), " ")
            }
        let whole = Array("\(prefix)000\(suffix)".utf8)
        precondition(whole.count <= Self.room, "the time \(text) is too long")
        template.copyMemory(from: whole, byteCount: whole.count)
        length = whole.count
        milliseconds = prefix.utf8.count
    }
}
