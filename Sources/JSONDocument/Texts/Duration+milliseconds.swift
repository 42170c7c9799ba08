extension Duration {
    /// Whole milliseconds.
    package var milliseconds: Int64 { components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000 }
}

extension Int64 {
    /// A time some milliseconds later; `.max` where that is too late to count.
    package func later(by milliseconds: Int64) -> Int64 {
        let (time, isTooLate) = addingReportingOverflow(milliseconds)
        return isTooLate ? .max : time
    }
}
