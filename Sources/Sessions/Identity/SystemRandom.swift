import Glibc
import Synchronization

/// The operating system's generator, asked for as many bytes at once as it gives: a system call takes longer than
/// everything else about an id or a token.
package final class SystemRandom: RandomSource {
    /// Guards what was drawn and not yet handed out, for the time of a copy or of a refill.
    private let drawn = Mutex(Drawn())

    package init() {}

    package func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        drawn.withLock { $0.handOut(into: buffer) }
    }
}

/// Random bytes in stock. What was handed out is wiped here, so that no secret stays behind in this place.
private struct Drawn {
    private var stock = [UInt8](repeating: 0, count: Self.size)
    /// Where the bytes begin that nobody has.
    private var next = Self.size

    /// Enough for five sessions, and the most that getentropy(3) gives.
    private static let size = 256

    mutating func handOut(into buffer: UnsafeMutableRawBufferPointer) {
        precondition(buffer.count <= Self.size, "so many random bytes are not in stock")
        let isShort = Self.size - next < buffer.count
        let start = isShort ? 0 : next
        stock.withUnsafeMutableBytes { stock in
            if isShort { Self.draw(into: stock) }
            let taken = UnsafeMutableRawBufferPointer(rebasing: stock[start..<start + buffer.count])
            buffer.copyMemory(from: UnsafeRawBufferPointer(taken))
            // explicit_bzero(3): the compiler does not leave it out.
            if let bytes = taken.baseAddress { explicit_bzero(bytes, taken.count) }
        }
        next = start + buffer.count
    }

    private static func draw(into stock: UnsafeMutableRawBufferPointer) {
        // getentropy(3) is getrandom(2) asked again when a signal came: it gives everything or nothing.
        guard let start = stock.baseAddress, getentropy(start, stock.count) != 0 else { return }
        // Without randomness there are no secrets; going on would hand out guessable tokens.
        preconditionFailure("the operating system gives no random bytes (getrandom): errno \(errno)")
    }
}
