import Glibc

/// Where ids and secrets come from. Passed in, so that tests can use a seeded one.
package protocol RandomSource: Sendable {
    /// Fills the whole of `buffer`, which has at most 256 bytes.
    func fill(_ buffer: UnsafeMutableRawBufferPointer)
}

/// The operating system's generator.
package struct SystemRandom: RandomSource {
    package init() {}

    package func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        // getentropy(3) is getrandom(2) asked again when a signal came: it gives everything or nothing.
        guard let start = buffer.baseAddress, getentropy(start, buffer.count) != 0 else { return }
        // Without randomness there are no secrets; going on would hand out guessable tokens.
        preconditionFailure("the operating system gives no random bytes (getrandom): errno \(errno)")
    }
}
