extension Journey {
    /// The same, its steps counted on from those of a journey that had its id before.
    package func continuing(after step: UInt64) -> Journey {
        var journey = self
        journey.step += step
        return journey
    }
}
