import Foundation

/// A value behind a lock. `Mutex` of the standard library needs iOS 18 and macOS 15.
///
/// `@unchecked Sendable` because the compiler cannot see that `value` is touched only while `lock` is held.
final class Locked<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
