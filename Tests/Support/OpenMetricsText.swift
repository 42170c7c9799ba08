/// Reads the OpenMetrics text format strictly, and refuses what the specification forbids.
package struct OpenMetricsText: Sendable {
    package struct Problem: Error, CustomStringConvertible {
        package let description: String
    }

    package struct Sample: Sendable {
        package let name: String
        package let labels: [String: String]
        package let value: Double
    }

    package struct Family: Sendable {
        package let name: String
        package let type: String
        package fileprivate(set) var unit: String?
        package fileprivate(set) var help: String?
        package fileprivate(set) var samples: [Sample] = []
    }

    package private(set) var families: [Family] = []
    package var samples: [Sample] { families.flatMap(\.samples) }

    package subscript(name: String, labels: [String: String] = [:]) -> Double? {
        samples.first { $0.name == name && $0.labels == labels }?.value
    }

    package init(_ text: String) throws {
        guard text.hasSuffix("\n# EOF\n") else { throw Problem(description: "the end is not # EOF") }
        for line in text.dropLast("# EOF\n".count).dropLast().split(separator: "\n", omittingEmptySubsequences: false) {
            do { try read(line) } catch let problem as Problem {
                throw Problem(description: "\(problem.description) in: \(line)")
            }
        }
        var seen: Set<String> = []
        for family in families {
            guard seen.insert(family.name).inserted else { throw Problem(description: "\(family.name) stands twice") }
            if let unit = family.unit, !family.name.hasSuffix("_" + unit) {
                throw Problem(description: "\(family.name) does not end in its unit")
            }
            if family.type == "histogram" { try Self.checkHistograms(family) }
        }
        var identities: Set<String> = []
        for sample in samples {
            let identity = sample.name + sample.labels.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }.description
            guard identities.insert(identity).inserted else { throw Problem(description: "\(identity) stands twice") }
        }
    }

    private mutating func read(_ line: Substring) throws {
        if let match = line.wholeMatch(of: /# (TYPE|UNIT|HELP) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)/) {
            let (_, kind, name, rest) = match.output
            if kind == "TYPE" {
                guard ["counter", "gauge", "histogram", "info"].contains(rest) else {
                    throw Problem(description: "unknown type")
                }
                families.append(Family(name: String(name), type: String(rest)))
                return
            }
            guard var family = families.popLast(), family.name == name, family.samples.isEmpty else {
                throw Problem(description: "metadata apart from its family")
            }
            if kind == "UNIT" { family.unit = String(rest) } else { family.help = String(rest) }
            families.append(family)
            return
        }
        guard let match = line.wholeMatch(of: /([a-zA-Z_:][a-zA-Z0-9_:]*)(\{.*\})? ([-+0-9.eInfNa]+)/),
            let value = Double(match.3), var family = families.popLast()
        else { throw Problem(description: "no sample") }
        let suffixes: [String: [String]] = [
            "counter": ["_total"], "gauge": [""], "info": ["_info"], "histogram": ["_bucket", "_count", "_sum"],
        ]
        let name = String(match.1)
        guard suffixes[family.type, default: []].contains(where: { family.name + $0 == name }) else {
            throw Problem(description: "a sample that is not of the family \(family.name)")
        }
        if family.type != "gauge", value < 0 || value.isNaN { throw Problem(description: "a count below zero") }
        family.samples.append(Sample(name: name, labels: try Self.labels(match.2 ?? "{}"), value: value))
        families.append(family)
    }

    private static func labels(_ text: Substring) throws -> [String: String] {
        var labels: [String: String] = [:]
        var rest = text.dropFirst().dropLast()
        while !rest.isEmpty {
            guard let match = rest.prefixMatch(of: /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)/) else {
                throw Problem(description: "malformed labels")
            }
            let value = String(match.2).replacing(/\\(.)/) { $0.1 == "n" ? "\n" : String($0.1) }
            guard labels.updateValue(value, forKey: String(match.1)) == nil else {
                throw Problem(description: "a label twice")
            }
            rest = rest[match.range.upperBound...]
        }
        return labels
    }

    private static func checkHistograms(_ family: Family) throws {
        var series: [[String: String]: [Sample]] = [:]
        for sample in family.samples {
            var labels = sample.labels
            labels["le"] = nil
            series[labels, default: []].append(sample)
        }
        for (labels, samples) in series {
            let buckets = samples.filter { $0.name.hasSuffix("_bucket") }
            let bounds = buckets.compactMap { $0.labels["le"].flatMap { $0 == "+Inf" ? .infinity : Double($0) } }
            guard bounds.count == buckets.count, bounds == bounds.sorted(), Set(bounds).count == bounds.count,
                bounds.last == .infinity
            else { throw Problem(description: "bounds \(bounds) of \(labels)") }
            guard buckets.map(\.value) == buckets.map(\.value).sorted() else {
                throw Problem(description: "buckets of \(labels) are not cumulative")
            }
            guard samples.first(where: { $0.name.hasSuffix("_count") })?.value == buckets.last?.value,
                samples.contains(where: { $0.name.hasSuffix("_sum") })
            else { throw Problem(description: "the count of \(labels) is not that of its last bucket") }
        }
    }
}
