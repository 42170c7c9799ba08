/// Guesses the name that a misspelt one was meant to be, for messages such as "did you mean port?".
package enum NearestName {
    /// The known name nearest to the written one, or nil when none is near.
    ///
    /// Case and the separators `_`, `-` and `.` do not count, so that `drainTimeout` and `admin-port` are found. A name
    /// without its group (`body_bytes`) is found, too (`limits.body_bytes`).
    package static func of(_ written: String, among known: [String]) -> String? {
        let wanted = folded(written)
        // The comparison is quadratic in the length of names, which come from outside.
        guard !wanted.isEmpty, wanted.count <= 64 else { return nil }
        // With more than a third of its letters wrong it is another word.
        let limit = min(max(2, wanted.count / 3), wanted.count - 1)
        let nearest = known.map { (name: $0, distance: distance(wanted, folded($0))) }.min { $0.distance < $1.distance }
        if let nearest, nearest.distance <= limit { return nearest.name }
        // A prefix of at least four letters: `warn` for `warning`.
        if wanted.count >= 4, let longer = known.first(where: { folded($0).starts(with: wanted) }) { return longer }
        let last = folded(lastPart(written))
        return known.first { folded(lastPart($0)) == last }
    }

    /// `; did you mean port?`, to end a sentence with; empty without a guess.
    package static func question(for written: String, among known: [String]) -> String {
        of(written, among: known).map { "; did you mean \($0)?" } ?? ""
    }

    private static func lastPart(_ name: String) -> String {
        String(name.split(separator: ".").last ?? "")
    }

    private static func folded(_ name: String) -> [Character] {
        Array(name.lowercased().filter { $0 != "_" && $0 != "-" && $0 != "." })
    }

    /// Insertions, deletions, changes and swaps of neighbours (optimal string alignment).
    static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var beforeLast = [Int](repeating: 0, count: right.count + 1)
        var last = Array(0...right.count)
        for (row, letter) in left.enumerated() {
            var current = [row + 1] + [Int](repeating: 0, count: right.count)
            for (column, other) in right.enumerated() {
                current[column + 1] = min(
                    last[column + 1] + 1, current[column] + 1, last[column] + (letter == other ? 0 : 1))
                if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other {
                    current[column + 1] = min(current[column + 1], beforeLast[column - 1] + 1)
                }
            }
            beforeLast = last
            last = current
        }
        return last[right.count]
    }
}
