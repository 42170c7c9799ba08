import JSONDocument

/// How the state of a service goes out, when that is not what is kept of it. Such a service is written by the program
/// alone.
///
/// Its default is shown as it is, and kept as it is.
package struct ServicePresentation: Sendable {
    /// - Parameters:
    ///   - kept: the bytes of the document.
    ///   - shown: steady times as they are shown.
    /// - Returns: the bytes that go out; nil when what is kept cannot be read.
    let show: @Sendable (_ kept: [UInt8], _ shown: (Int64) -> Timestamp) -> [UInt8]?
}
