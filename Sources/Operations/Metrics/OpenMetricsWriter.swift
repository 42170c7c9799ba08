/// Writes the OpenMetrics text format, version 1.0.
package struct OpenMetricsWriter {
    package typealias Labels = [(String, String)]

    package enum FamilyType: String {
        case counter, gauge, histogram, info
    }

    private var text: [UInt8] = []

    init() {
        text.reserveCapacity(16 << 10)
    }

    /// Begins a family; its samples follow.
    /// - Parameters:
    ///   - name: without `_total` and other suffixes of samples.
    ///   - unit: also the suffix of the name.
    package mutating func family(_ name: String, _ type: FamilyType, unit: String? = nil, help: String) {
        append("# TYPE \(name) \(type.rawValue)\n")
        if let unit { append("# UNIT \(name) \(unit)\n") }
        append("# HELP \(name) ")
        appendEscaped(help)
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
        append("# EOF\n")
        return text
    }

    /// Integers are written without a fraction.
    private static func number(_ value: Double) -> String {
        Int(exactly: value).map(String.init) ?? value.description
    }

    private mutating func append(_ string: String) {
        text.append(contentsOf: string.utf8)
    }

    private mutating func appendEscaped(_ string: String) {
        for byte in string.utf8 {
            switch byte {
            case UInt8(ascii: "\\"): append("\\\\")
            case UInt8(ascii: "\""): append("\\\"")
            case UInt8(ascii: "\n"): append("\\n")
            default: text.append(byte)
            }
        }
    }
}
