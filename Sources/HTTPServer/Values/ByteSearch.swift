import Glibc

extension UnsafeRawBufferPointer {
    /// Where that byte comes first, from `start` on: many bytes at a time, which `firstIndex(of:)` does not do.
    func offset(of byte: UInt8, from start: Int = 0) -> Int? {
        guard let base = baseAddress, start < count, let found = memchr(base + start, Int32(byte), count - start)
        else { return nil }
        return UnsafeRawPointer(found) - base
    }
}
