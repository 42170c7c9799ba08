/// How much the log of recent writes takes before it is folded.
struct RecentLimits {
    /// Of each of its tables. More rows mean that sessions which are written now and then are folded less often; each takes
    /// about a hundred bytes of memory, and a microsecond of a start after a kill.
    var rows = 16_384
    /// Of documents and what stands beside them.
    var bytes = 8 << 20
    /// After which time without anything to write all of it is folded.
    var idleTime: Duration = .seconds(1)
}
