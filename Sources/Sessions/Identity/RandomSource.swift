/// Where ids and secrets come from. Passed in, so that tests can use a seeded one.
package protocol RandomSource: Sendable {
    /// Fills the whole of `buffer`, which has at most 256 bytes.
    func fill(_ buffer: UnsafeMutableRawBufferPointer)
}
