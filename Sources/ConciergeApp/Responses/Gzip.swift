import CDeflate

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
