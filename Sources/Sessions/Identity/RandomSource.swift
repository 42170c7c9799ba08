/// The source of ids and secrets. Tests pass a seeded one.
package protocol RandomSource: Sendable {
    /// Fills the whole of `buffer`, which has at most 256 bytes.
    func fill(_ buffer: UnsafeMutableRawBufferPointer)
}
