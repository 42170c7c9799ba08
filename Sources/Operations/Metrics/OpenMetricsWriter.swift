/// The text formats of metrics.
package enum MetricsFormat: String, CaseIterable, Sendable {
    /// Prometheus' own, which every tool reads
    /// (<https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format>).
    case text = "text/plain; version=0.0.4; charset=utf-8"
    /// OpenMetrics 1.0 (<https://github.com/prometheus/OpenMetrics/blob/v1.0.0/specification/OpenMetrics.md>).
    case openMetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8"

    /// For `Content-Type`.
    package var contentType: String { rawValue }
    /// Without parameters.
    package var mediaType: String { String(rawValue.prefix { $0 != ";" }) }
}

/// Writes metrics in one of the formats. Names and units are those of OpenMetrics; the older format has no units, calls
/// a family of counters by the name of its samples, and knows no `info`.
package struct OpenMetricsWriter {
    package typealias Labels = [(String, String)]

    package enum FamilyType: String {
        case counter, gauge, histogram, info
    }

    private let format: MetricsFormat
    private var text: [UInt8] = []

    init(_ format: MetricsFormat) {
        self.format = format
        text.reserveCapacity(16 << 10)
    }

    /// Begins a family; its samples follow.
    /// - Parameters:
    ///   - name: without `_total` and other suffixes of samples.
    ///   - unit: also the suffix of the name.
    package mutating func family(_ name: String, _ type: FamilyType, unit: String? = nil, help: String) {
        switch (format, type) {
        case (.openMetrics, _): append(name, type.rawValue, unit: unit, help)
        case (.text, .counter): append(name + "_total", type.rawValue, help)
        case (.text, .info): append(name + "_info", FamilyType.gauge.rawValue, help)
        case (.text, .gauge), (.text, .histogram): append(name, type.rawValue, help)
        }
    }

    private mutating func append(_ name: String, _ type: String, unit: String? = nil, _ help: String) {
        append("# TYPE \(name) \(type)\n")
        if let unit { append("# UNIT \(name) \(unit)\n") }
        append("# HELP \(name) ")
        appendEscaped(help, isQuoted: format == .openMetrics)
        append("\n")
    }

    package mutating func sample(_ name: String, _ labels: Labels, _ value: Double) {
        append(name)
        if !labels.isEmpty {
            append("{")
            for (index, label) in labels.enumerated() {
                append(index == 0 ? "\(label.0)=\"" : ",\(label.0)=\"")
                appendEscaped(label.1)
                append("\"")
            }
            append("}")
        }
        append(" \(Self.number(value))\n")
    }

    package mutating func gauge(_ name: String, unit: String? = nil, help: String, _ value: Int) {
        gauge(name, unit: unit, help: help, Double(value))
    }

    package mutating func gauge(_ name: String, unit: String?, help: String, _ value: Double) {
        family(name, .gauge, unit: unit, help: help)
        sample(name, [], value)
    }

    /// - Parameter label: the name of the label whose values the samples have.
    package mutating func gauge(
        _ name: String, help: String, by label: String, _ samples: [(value: String, count: Int)]
    ) {
        family(name, .gauge, help: help)
        for (value, count) in samples { sample(name, [(label, value)], Double(count)) }
    }

    package mutating func counter(_ name: String, help: String, _ value: Int) {
        family(name, .counter, help: help)
        sample(name + "_total", [], Double(value))
    }

    package mutating func counter(
        _ name: String, help: String, by label: String, _ samples: [(value: String, count: Int)]
    ) {
        family(name, .counter, help: help)
        for (value, count) in samples { sample(name + "_total", [(label, value)], Double(count)) }
    }

    /// - Parameter counts: one for each bound and one above the last, not accumulated.
    mutating func histogram(_ name: String, _ labels: Labels, bounds: [Double], counts: [UInt64], sum: Double) {
        var total: UInt64 = 0
        for (index, count) in counts.enumerated() {
            total += count
            let bound = index < bounds.count ? bounds[index].description : "+Inf"
            sample(name + "_bucket", labels + [("le", bound)], Double(total))
        }
        sample(name + "_count", labels, Double(total))
        sample(name + "_sum", labels, sum)
    }

    mutating func finish() -> [UInt8] {
        if format == .openMetrics { append("# EOF\n") }
        return text
    }

    /// Integers are written without a fraction.
    private static func number(_ value: Double) -> String {
        Int(exactly: value).map(String.init) ?? value.description
    }

    private mutating func append(_ string: String) {
        text.append(contentsOf: string.utf8)
    }

    /// - Parameter isQuoted: whether quotes are escaped, too.
    private mutating func appendEscaped(_ string: String, isQuoted: Bool = true) {
        for byte in string.utf8 {
            switch byte {
            case UInt8(ascii: "\\"): append("\\\\")
            case UInt8(ascii: "\"") where isQuoted: append("\\\"")
            case UInt8(ascii: "\n"): append("\\n")
            default: text.append(byte)
            }
        }
    }
}
