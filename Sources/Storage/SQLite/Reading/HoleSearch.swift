/// Finds the way past pages that cannot be read.
enum HoleSearch {
    /// The lowest key found after which rows can be read, behind `key` and the damage that follows it; nil when there is
    /// none. Looks further and further away, and then for the beginning of what can be read there: some 130 looks at most.
    static func readableKey(after key: Int64, canRead: (_ after: Int64) -> Bool) -> Int64? {
        var (damaged, distance) = (key, Int64(1))
        while true {
            let (sum, isOver) = key.addingReportingOverflow(distance)
            var readable = isOver ? Int64.max : sum
            if canRead(readable) {
                while UInt64(bitPattern: readable &- damaged) > 1 {
                    let middle = damaged &+ Int64(UInt64(bitPattern: readable &- damaged) / 2)
                    if canRead(middle) { readable = middle } else { damaged = middle }
                }
                return readable
            }
            guard readable < .max else { return nil }
            damaged = readable
            distance = distance > .max / 2 ? .max : distance * 2
        }
    }
}
