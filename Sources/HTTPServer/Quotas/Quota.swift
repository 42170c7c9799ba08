/// So many of something in a time: a bucket that holds ``count`` tokens and is filled anew in ``window``.
///
/// A client may spend all of them at once; then it gets one each `window / count`.
public struct Quota: Sendable, Equatable {
    /// At least 1.
    public let count: Int
    /// At least a millisecond.
    public let window: Duration

    /// A quota of `count` in each `window`.
    public init(count: Int, window: Duration) {
        self.count = count
        self.window = window
    }
}
