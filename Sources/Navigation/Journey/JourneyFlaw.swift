/// Why a journey that came from elsewhere is none that can go on here.
package struct JourneyFlaw: Sendable, Equatable {
    /// RFC 6901, into the document that it is kept as.
    package let pointer: String
    package let detail: String
}
