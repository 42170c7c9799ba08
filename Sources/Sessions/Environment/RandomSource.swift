import Glibc
import Synchronization

/// The source of ids and secrets. Tests pass a seeded one.
package protocol RandomSource: Sendable {
    /// Fills the whole of `buffer`, which has at most 256 bytes.
    func fill(_ buffer: UnsafeMutableRawBufferPointer)
}

/// The operating system's generator. It draws as many bytes at once as the system allows, because a system call takes
/// longer than everything else about an id or a token.
package final class SystemRandom: RandomSource {
    /// Guards the bytes that were drawn and not used yet.
    private let drawn = Mutex(Drawn())

    package init() {}

    package func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        drawn.withLock { $0.handOut(into: buffer) }
    }
}

/// Random bytes in stock. Used bytes are wiped, so that no secret stays here.
private struct Drawn {
    private var stock = [UInt8](repeating: 0, count: Self.size)
    /// Where the unused bytes begin.
    private var next = Self.size

    /// Enough for five sessions, and the most that getentropy(3) returns.
    private static let size = 256

    mutating func handOut(into buffer: UnsafeMutableRawBufferPointer) {
        precondition(buffer.count <= Self.size, "too many random bytes at once")
        let isShort = Self.size - next < buffer.count
        let start = isShort ? 0 : next
        stock.withUnsafeMutableBytes { stock in
            if isShort { Self.draw(into: stock) }
            let taken = UnsafeMutableRawBufferPointer(rebasing: stock[start..<start + buffer.count])
            buffer.copyMemory(from: UnsafeRawBufferPointer(taken))
            // The compiler does not remove explicit_bzero(3).
            if let bytes = taken.baseAddress { explicit_bzero(bytes, taken.count) }
        }
        next = start + buffer.count
    }

    private static func draw(into stock: UnsafeMutableRawBufferPointer) {
        // getentropy(3) repeats getrandom(2) after a signal: it returns everything or fails.
        guard let start = stock.baseAddress, getentropy(start, stock.count) != 0 else { return }
        // Without random bytes tokens could be guessed.
        preconditionFailure("the operating system gives no random bytes (getrandom): errno \(errno)")
    }
}
