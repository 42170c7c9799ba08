import JSONDocument

/// How the state of a service is sent when that differs from what is kept. Only the program writes such a service.
///
/// Its default is kept and sent unchanged.
/// Its default is shown as it is, and kept as it is.
package struct ServicePresentation: Sendable {
    /// - Parameters:
    ///   - kept: the bytes of the document.
    ///   - shown: converts steady time to the time that is shown.
    /// - Returns: the bytes to send; `nil` when the kept bytes cannot be read.
    let show: @Sendable (_ kept: [UInt8], _ shown: (Int64) -> Timestamp) -> [UInt8]?
}
