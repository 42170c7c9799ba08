import Glibc

extension UnsafeRawBufferPointer {
    /// Where that byte comes first, from `start` on: many bytes at a time, which `firstIndex(of:)` does not do.
    func offset(of byte: UInt8, from start: Int = 0) -> Int? {
        guard let base = baseAddress, start < count, let found = memchr(base + start, Int32(byte), count - start)
        else { return nil }
        return UnsafeRawPointer(found) - base
    }

    /// Whether these are the bytes of `other`.
    func isSame(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        guard let base = baseAddress, let otherBase = other.baseAddress else { return isEmpty }
        return memcmp(base, otherBase, count) == 0
    }
}
