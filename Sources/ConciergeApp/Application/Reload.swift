import API
import Configuration
import JSONDocument
import Navigation

/// What a reload has changed.
package struct Reload: Sendable {
    package struct Flows: Sendable {
        package var added: [FlowVersion] = []
        package var changed: [FlowVersion] = []
        package var removed: [FlowVersion] = []
    }

    package struct Services: Sendable {
        package var added: [String] = []
        package var changed: [String] = []
        package var removed: [String] = []
    }

    package var flows = Flows()
    package var services = Services()
    /// Keys that have changed and are in force.
    package var configuration: [String] = []
    /// Keys that have changed and are in force after a restart.
    package var needsRestart: [String] = []
    /// What `concierge check` would say of the files.
    package var warnings: [ConfigurationProblem] = []

    package struct FlowVersion: Sendable, Hashable, Comparable {
        package let flow: String
        package let version: Int

        package static func < (left: Self, right: Self) -> Bool {
            (left.flow, left.version) < (right.flow, right.version)
        }
    }

    init() {}

    /// Everything that would change. Nothing has yet.
    init(from former: Application.Loaded, to new: LoadedConfiguration) {
        warnings = new.problems.filter { $0.severity == .warning }
        let keys = ConfigurationKey.changes(from: former.configuration, to: new.configuration)
        configuration = keys.filter(\.isReloadable).map(\.path)
        needsRestart = keys.filter { !$0.isReloadable }.map(\.path)
        (flows.added, flows.changed, flows.removed) = Self.difference(
            former.flows.flows, new.flows.flows, by: { FlowVersion(flow: $0.id, version: $0.version) },
            isSame: { $0.tag == $1.tag && $0.document.serialized() == $1.document.serialized() })
        (services.added, services.changed, services.removed) = Self.difference(
            former.services, new.services, by: \.name, isSame: { $0.declares(sameAs: $1) })
    }

    private static func difference<Item, Key: Hashable & Comparable>(
        _ former: [Item], _ new: [Item], by key: (Item) -> Key, isSame: (Item, Item) -> Bool
    ) -> (added: [Key], changed: [Key], removed: [Key]) {
        let known = Dictionary(former.map { (key($0), $0) }) { first, _ in first }
        let there = Dictionary(new.map { (key($0), $0) }) { first, _ in first }
        return (
            there.keys.filter { known[$0] == nil }.sorted(),
            there.filter { name, item in known[name].map { !isSame($0, item) } ?? false }.keys.sorted(),
            known.keys.filter { there[$0] == nil }.sorted()
        )
    }

    /// Whether sessions are concerned.
    var changesDefinitions: Bool {
        !(flows.added + flows.changed + flows.removed).isEmpty
            || !(services.added + services.changed + services.removed).isEmpty
    }

    /// Whether journeys may be lost.
    var concernsJourneys: Bool { changesDefinitions || configuration.contains("orphaned_journeys") }

    /// Whether anything is in force that was not.
    package var hasChanged: Bool { changesDefinitions || !configuration.isEmpty }

    /// In a sentence for the log.
    package var summary: String {
        func list(_ name: String, _ parts: [(String, [String])]) -> String? {
            let named = parts.filter { !$0.1.isEmpty }.map { part, items in
                "\(part.isEmpty ? "" : "\(part) ")\(items.joined(separator: ", "))"
            }
            return named.isEmpty ? nil : "\(name): \(named.joined(separator: ", "))"
        }
        func names(_ flows: [FlowVersion]) -> [String] { flows.map { "\($0.flow) \($0.version)" } }
        let parts = [
            list(
                "flows",
                [
                    ("added", names(flows.added)), ("changed", names(flows.changed)),
                    ("removed", names(flows.removed)),
                ]),
            list(
                "services",
                [("added", services.added), ("changed", services.changed), ("removed", services.removed)]),
            list("configuration", [("", configuration)]), list("needs a restart", [("", needsRestart)]),
        ].compactMap(\.self)
        return parts.isEmpty ? "nothing has changed" : parts.joined(separator: "; ")
    }
}

/// Why a reload has changed nothing: everything that is wrong, with the warnings.
package struct ReloadRefused: Error, CustomStringConvertible {
    package let findings: [ConfigurationProblem]

    package var description: String { findings.map(\.description).joined(separator: "\n") }
}

extension ServiceFile {
    /// Whether a session would notice no difference.
    fileprivate func declares(sameAs other: ServiceFile) -> Bool {
        name == other.name && summary == other.summary
            && schemaDocument.serialized() == other.schemaDocument.serialized()
            && defaultState.serialized() == other.defaultState.serialized() && scope == other.scope
            && lifetime == other.lifetime && concurrency == other.concurrency && boundTo == other.boundTo
            && access == other.access && commandsDocument.serialized() == other.commandsDocument.serialized()
    }
}
